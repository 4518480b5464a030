import { describe, expect, it } from 'vitest';

import type { ConfirmationInfo } from '../../../../src/client/index.js';
import { endCard, mergeCards } from '../../../../src/dashboard/pages/confirmations/cards.js';
import { countdown } from '../../../../src/dashboard/pages/confirmations/confirmation-card.js';
import {
  outcomeText,
  refusalText,
  whyNotApprove,
  whyNotReject,
} from '../../../../src/dashboard/pages/confirmations/decision-form.js';

const info = (id: string, changes: Partial<ConfirmationInfo> = {}) =>
  ({
    confirmation_id: id,
    requires: 'operator',
    requested_by: 'agent',
    may_decide: true,
    ...changes,
  }) as ConfirmationInfo;
const open = (...infos: ConfirmationInfo[]) => new Map(infos.map((each) => [each.confirmation_id, each]));

describe('the countdown', () => {
  const expiresAt = '2026-01-01T00:10:00.000Z';
  it.each([
    ['2026-01-01T00:00:00.000Z', { text: '10 min 00 s left', isShort: false, isOver: false }],
    ['2026-01-01T00:09:00.500Z', { text: '1 min 00 s left', isShort: false, isOver: false }],
    ['2026-01-01T00:09:30.000Z', { text: '30 s left', isShort: true, isOver: false }],
    ['2026-01-01T00:09:59.900Z', { text: '1 s left', isShort: true, isOver: false }],
    ['2026-01-01T00:10:00.000Z', { text: 'time is up', isShort: true, isOver: true }],
    ['2026-01-01T01:00:00.000Z', { text: 'time is up', isShort: true, isOver: true }],
  ])('at %s', (now, expected) => {
    expect(countdown(expiresAt, Date.parse(now))).toEqual(expected);
  });
});

describe('the cards', () => {
  it('keep their places, and new ones come last', () => {
    const [a, b, c] = [info('a'), info('b'), info('c')];
    const first = mergeCards([], open(a, b));
    const next = mergeCards(first, open(c, b));
    expect(next.map((card) => [card.info.confirmation_id, card.end?.outcome])).toEqual([
      ['a', 'gone'],
      ['b', undefined],
      ['c', undefined],
    ]);
    const resolved = { confirmation_id: 'a', command_id: 'x', session_id: null, remembered: null } as const;
    const ended = endCard(next, { ...resolved, outcome: 'rejected', decided_by: 'olga', justification: 'no' });
    expect(ended[0]?.end).toEqual({ outcome: 'rejected', by: 'olga', justification: 'no' });
    // What is known of its end stays.
    expect(mergeCards(ended, open(b))[0]?.end?.outcome).toBe('rejected');
    expect(mergeCards(next, open(a, b, c))[0]?.end).toBeUndefined();
  });
});

describe('a decision', () => {
  const access = { name: 'olga', role: 'operator', is_local: false, may: [], server_time: '' } as const;
  const facts = { access: { ...access, may: [] }, isConnected: true, isSettled: true, isSending: false, reason: '' };

  it.each([
    [{}, {}, undefined],
    [{}, { isSettled: false }, /just come/],
    [{}, { isConnected: false }, /connection is lost/],
    [{}, { isSending: true }, /being sent/],
    [{ requires: 'self', requested_by: 'olga' }, {}, /reason/],
    [{ requires: 'self', requested_by: 'olga' }, { reason: ' !' }, /reason/],
    [{ requires: 'self', requested_by: 'olga' }, { reason: 'wanted' }, undefined],
    [{ may_decide: false, requires: 'llm' }, {}, /model/],
    [{ may_decide: false, requested_by: 'olga' }, {}, /Another operator/],
    [{ may_decide: false }, { access: { ...access, may: [], is_local: true } }, /commands could/],
    [{ may_decide: false }, { access: { ...access, may: [], role: 'agent' } }, /you have the role agent/],
  ] as const)('on %j with %j', (changes, more, expected) => {
    const found = whyNotApprove({ info: info('a', changes), ...facts, ...more } as Parameters<typeof whyNotApprove>[0]);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(expected);
  });

  it('may always be a withdrawal of the own request', () => {
    expect(whyNotReject({ info: info('a', { may_decide: false, requested_by: 'olga' }), ...facts })).toBeUndefined();
    expect(whyNotReject({ info: info('a', { may_decide: false }), ...facts })).toMatch(/role operator/);
  });

  it('is told with its author, and says why it was not accepted', () => {
    expect(outcomeText({ outcome: 'approved', by: 'olga', justification: null }, 'olga').decider).toBe('by you');
    expect(outcomeText({ outcome: 'rejected', by: 'otto', justification: 'no' }, 'olga')).toMatchObject({
      decider: 'by otto',
      reason: 'no',
    });
    expect(refusalText('CONFIRMATION_MISMATCH', 'x leads elsewhere')).toMatch(/no longer what was asked: x leads/);
  });
});

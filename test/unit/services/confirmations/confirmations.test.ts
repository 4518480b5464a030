import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { AdapterError } from '../../../../src/core/errors.js';
import { MAX_OPEN } from '../../../../src/services/confirmations/confirmations.js';
import { changedPlace } from '../../../../src/services/confirmations/failures.js';
import { client, codeOf, EXPIRES_MS, Fixture } from './support.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const asker = client('asker');
const other = client('other');
const operator = client('operator', 'operator');
const local = client('local', 'admin', true);
const everybody = [asker, other, operator, local];

describe('self', () => {
  const ask = (fixture = new Fixture('self', everybody)) => {
    const asked = fixture.confirmations.ask(fixture.action('c1', asker));
    const decide = (by = asker, changes: object = {}) =>
      fixture.confirmations.decide(
        {
          confirmation_id: asked.id,
          decision: 'approve',
          command_sha256: asked.sha256,
          justification: 'why',
          ...changes,
        },
        by.caller,
      );
    return { fixture, asked, decide };
  };

  it('is approved by the client that asked, with the hash and a reason', async () => {
    const { fixture, decide } = ask();
    expect(await decide()).toEqual({ command_id: 'c1' });
    expect(fixture.runs).toEqual(['c1']);
    expect(fixture.events).toEqual(['asked by asker', 'approved by asker']);
  });

  it('counts once', async () => {
    const { fixture, decide } = ask();
    expect(await Promise.all([codeOf(decide()), codeOf(decide())])).toEqual(['ok', 'CONFIRMATION_NOT_FOUND']);
    expect(await codeOf(decide())).toBe('CONFIRMATION_NOT_FOUND');
    expect(fixture.runs).toEqual(['c1']);
  });

  it.each([
    ['no hash', { command_sha256: undefined }],
    ['no reason', { justification: undefined }],
    ['a blank reason', { justification: ' \n' }],
    ['a reason that says nothing', { justification: '\u0000…' }],
  ])('with %s is refused, and stays open', async (_what, changes) => {
    const { fixture, decide } = ask();
    expect(await codeOf(decide(asker, changes))).toBe('INVALID_REQUEST');
    expect(fixture.runs).toEqual([]);
    expect(await codeOf(decide())).toBe('ok');
  });

  it('with another hash is refused; the third time it is void', async () => {
    const { fixture, decide } = ask();
    const wrong = () => codeOf(decide(asker, { command_sha256: '0'.repeat(64) }));
    expect([await wrong(), await wrong(), await wrong(), await wrong()]).toEqual([
      'CONFIRMATION_MISMATCH',
      'CONFIRMATION_MISMATCH',
      'CONFIRMATION_MISMATCH',
      'CONFIRMATION_NOT_FOUND',
    ]);
    expect(await codeOf(decide())).toBe('CONFIRMATION_NOT_FOUND');
    expect(fixture.runs).toEqual([]);
    expect(fixture.events.slice(-1)).toEqual(['void by asker']);
  });

  it.each([other, operator, local])('is as if it were not there to $caller.principal.name', async (by) => {
    const { fixture, decide } = ask();
    expect(await codeOf(decide(by))).toBe('CONFIRMATION_NOT_FOUND');
    expect(await codeOf(decide(by, { decision: 'reject' }))).toBe('CONFIRMATION_NOT_FOUND');
    expect(fixture.confirmations.seenBy(by.caller.principal)).toEqual([]);
    await codeOf(decide());
  });

  it('expires', async () => {
    const { fixture, decide } = ask();
    vi.advanceTimersByTime(EXPIRES_MS - 1);
    expect(fixture.confirmations.seenBy(asker.caller.principal)).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(await codeOf(decide())).toBe('CONFIRMATION_NOT_FOUND');
    expect(fixture.events).toEqual(['asked by asker', 'expired']);
  });

  it('has expired when its time has come, though its timer is late', async () => {
    const { fixture, decide } = ask();
    vi.setSystemTime(Date.now() + EXPIRES_MS);
    expect(await codeOf(decide())).toBe('CONFIRMATION_NOT_FOUND');
    expect(fixture.runs).toEqual([]);
    expect(fixture.events).toEqual(['asked by asker', 'expired']);
  });

  it('is not run when the token that asked has ended, before the decision or while the workspace is saved', async () => {
    const early = ask();
    early.fixture.ended.add(asker.caller.principal.id);
    expect(await codeOf(early.decide())).toBe('COMMAND_DENIED');
    expect(early.fixture.events).toEqual(['asked by asker', 'withdrawn']);
    const late = ask();
    late.fixture.save = () => {
      late.fixture.ended.add(asker.caller.principal.id);
      return Promise.resolve({ checkpointId: undefined, warnings: [] });
    };
    expect(await codeOf(late.decide())).toBe('COMMAND_DENIED');
    expect([...early.fixture.runs, ...late.fixture.runs]).toEqual([]);
  });

  it('can be rejected', async () => {
    const { fixture, decide } = ask();
    expect(await decide(asker, { decision: 'reject' })).toBeUndefined();
    expect(fixture.events).toEqual(['asked by asker', 'rejected by asker']);
    expect(await codeOf(decide())).toBe('CONFIRMATION_NOT_FOUND');
  });

  it('is not run when its place has changed; the third time it is void', async () => {
    const fixture = new Fixture('self', everybody);
    const moved = () => {
      throw changedPlace('moved');
    };
    const asked = fixture.confirmations.ask(fixture.action('c1', asker, { assertReady: moved }));
    const approve = () =>
      codeOf(
        fixture.confirmations.decide(
          { confirmation_id: asked.id, decision: 'approve', command_sha256: asked.sha256, justification: 'x' },
          asker.caller,
        ),
      );
    expect([await approve(), await approve(), await approve(), await approve()]).toEqual([
      'CONFIRMATION_MISMATCH',
      'CONFIRMATION_MISMATCH',
      'CONFIRMATION_MISMATCH',
      'CONFIRMATION_NOT_FOUND',
    ]);
    expect(fixture.runs).toEqual([]);
  });

  it('outlives the connection, and ends with the session', () => {
    const { fixture } = ask();
    fixture.confirmations.detach(asker.caller.sink);
    expect(fixture.events).toEqual(['asked by asker']);
    fixture.confirmations.endSession('session_2');
    fixture.confirmations.endSession('session_1');
    expect(fixture.events).toEqual(['asked by asker', 'withdrawn']);
  });

  it(`may be asked for ${MAX_OPEN} at a time by each token`, async () => {
    const fixture = new Fixture('self', everybody);
    for (let index = 0; index < MAX_OPEN; index += 1) fixture.confirmations.ask(fixture.action(`c${index}`, asker));
    expect(() => fixture.confirmations.ask(fixture.action('more', asker))).toThrow(
      expect.objectContaining({
        code: 'RATE_LIMITED',
        details: { max_open_confirmations: MAX_OPEN, retry_after_ms: EXPIRES_MS },
      }) as AdapterError,
    );
    expect(fixture.confirmations.ask(fixture.action('other', other)).mode).toBe('self');
    await fixture.confirmations[Symbol.asyncDispose]();
    expect(() => fixture.confirmations.ask(fixture.action('late', asker))).toThrow(
      expect.objectContaining({ code: 'SHUTTING_DOWN' }) as AdapterError,
    );
  });
});

describe('operator', () => {
  const ask = (by = asker) => {
    const fixture = new Fixture('operator', everybody);
    for (const { events } of everybody) events.length = 0;
    const asked = fixture.confirmations.ask(fixture.action('c1', by));
    fixture.confirmations.join(asked, by.caller, true);
    const decide = (decider: typeof asker, decision: 'approve' | 'reject' = 'approve') =>
      fixture.confirmations.decide({ confirmation_id: asked.id, decision, justification: 'seen' }, decider.caller);
    return { fixture, asked, decide };
  };

  type Setting = ReturnType<typeof ask>;
  const leave = (act: () => void): Promise<void> => Promise.resolve().then(act);

  it('both get the result', async () => {
    const { fixture, asked, decide } = ask();
    expect(await decide(operator)).toEqual({ command_id: 'c1' });
    expect(await asked.answer.promise).toEqual({ command_id: 'c1' });
    expect(fixture.events).toEqual(['asked by asker', 'approved by operator']);
  });

  it('those whom it concerns are told, and nobody else', async () => {
    const { decide } = ask();
    await decide(operator);
    for (const { events } of [asker, operator, local]) {
      expect(events.map(({ name }) => name)).toEqual(['confirmation_required', 'confirmation_resolved']);
    }
    expect(other.events).toEqual([]);
    expect(
      [asker, operator, local].map(({ events }) => (events[0]?.payload as { may_decide: boolean }).may_decide),
    ).toEqual([false, true, false]);
  });

  it.each([
    ['a connection without a token', asker, local, 'FORBIDDEN'],
    ['another agent', asker, other, 'CONFIRMATION_NOT_FOUND'],
  ])('not by %s', async (_who, by, decider, code) => {
    const { fixture, decide } = ask(by);
    expect([await codeOf(decide(decider)), await codeOf(decide(decider, 'reject'))]).toEqual([code, code]);
    expect(fixture.runs).toEqual([]);
    fixture.confirmations.endSession('session_1');
  });

  it.each([
    ['a client', asker],
    ['an operator', operator],
  ])('%s cannot approve what it has asked for itself, but takes it back by rejecting it', async (_what, by) => {
    const { fixture, decide, asked } = ask(by);
    expect(await codeOf(decide(by))).toBe('FORBIDDEN');
    expect(await decide(by, 'reject')).toBeUndefined();
    await expect(asked.answer.promise).rejects.toMatchObject({ details: { outcome: 'withdrawn' } });
    expect(fixture.runs).toEqual([]);
  });

  it.each([
    ['rejected', ({ decide }: Setting) => decide(operator, 'reject'), 'operator has refused it: seen'],
    ['expired', () => vi.advanceTimersByTimeAsync(EXPIRES_MS), 'the confirmation expired'],
    [
      'withdrawn with its connection',
      ({ fixture }: Setting) => leave(() => fixture.confirmations.detach(asker.caller.sink)),
      'the client has gone',
    ],
    [
      'withdrawn with its session',
      ({ fixture }: Setting) => leave(() => fixture.confirmations.endSession('session_1')),
      'its session has ended',
    ],
  ])('%s: whoever waits is told why', async (_what, act, why) => {
    const setting = ask();
    await act(setting);
    await expect(setting.asked.answer.promise).rejects.toMatchObject({
      code: 'COMMAND_DENIED',
      message: expect.stringContaining(why) as string,
    });
    expect(setting.fixture.runs).toEqual([]);
  });

  it('is not run when the daemon ends while the workspace is saved', async () => {
    const { fixture, decide } = ask();
    let saved: () => void = () => undefined;
    fixture.save = () =>
      new Promise((resolve) => {
        saved = () => resolve({ checkpointId: undefined, warnings: [] });
      });
    const answer = codeOf(decide(operator));
    await fixture.confirmations[Symbol.asyncDispose]();
    saved();
    expect(await answer).toBe('SHUTTING_DOWN');
    expect(fixture.runs).toEqual([]);
  });
});

describe('llm', () => {
  const ask = (review: (signal: AbortSignal) => Promise<{ verdict: 'approve' | 'reject'; reason: string }>) => {
    const fixture = new Fixture('llm', everybody);
    fixture.reviewer = { name: 'model', review: (_question, signal) => review(signal) };
    return { fixture, asked: fixture.confirmations.ask(fixture.action('c1', asker)) };
  };

  it('an approval runs it', async () => {
    const { fixture, asked } = ask(() => Promise.resolve({ verdict: 'approve', reason: 'harmless' }));
    expect(await asked.answer.promise).toEqual({ command_id: 'c1' });
    expect(fixture.events).toEqual(['asked by asker', 'approved by model']);
  });

  it.each([
    ['a rejection', () => Promise.resolve({ verdict: 'reject' as const, reason: 'no' }), 'model has refused it: no'],
    ['a crash', () => Promise.reject(new Error('HTTP 500')), 'gave no verdict: HTTP 500'],
  ])('%s means no', async (_what, review, why) => {
    const { fixture, asked } = ask(review);
    await expect(asked.answer.promise).rejects.toMatchObject({
      code: 'COMMAND_DENIED',
      message: expect.stringContaining(why) as string,
    });
    expect(fixture.runs).toEqual([]);
  });

  it('no answer in time means no, even from a model that does not stop', async () => {
    const { fixture, asked } = ask(() => new Promise(() => undefined));
    const answer = codeOf(asked.answer.promise);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await answer).toBe('COMMAND_DENIED');
    expect(fixture.runs).toEqual([]);
  });

  it('an approval that comes after the session has ended runs nothing', async () => {
    let approve: () => void = () => undefined;
    const { fixture, asked } = ask(
      () =>
        new Promise((resolve) => {
          approve = () => resolve({ verdict: 'approve', reason: 'late' });
        }),
    );
    fixture.confirmations.endSession('session_1');
    approve();
    expect(await codeOf(asked.answer.promise)).toBe('COMMAND_DENIED');
    expect(fixture.runs).toEqual([]);
  });

  it('without a model means no, and nobody else can decide', async () => {
    const fixture = new Fixture('llm', everybody);
    const asked = fixture.confirmations.ask(fixture.action('c1', asker));
    const by = (decider: typeof asker) =>
      codeOf(fixture.confirmations.decide({ confirmation_id: asked.id, decision: 'approve' }, decider.caller));
    expect([await by(asker), await by(operator)]).toEqual(['FORBIDDEN', 'CONFIRMATION_NOT_FOUND']);
    expect(await codeOf(asked.answer.promise)).toBe('COMMAND_DENIED');
  });
});

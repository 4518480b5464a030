import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { CONFIRMATION_MODES } from '../../../../src/core/confirmation.js';
import type { Confirmation } from '../../../../src/services/confirmations/confirmation.js';
import { client, codeOf, EXPIRES_MS, Fixture } from './support.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const who = fc.nat(2);
const which = fc.nat(11);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('ask' as const), who, mode: fc.constantFrom(...CONFIRMATION_MODES) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('decide' as const),
      who,
      which,
      decision: fc.constantFrom('approve' as const, 'reject' as const),
      hash: fc.constantFrom('right', 'wrong', 'none'),
      justification: fc.constantFrom('because', '', undefined),
    }),
  },
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, EXPIRES_MS / 2, EXPIRES_MS) }),
  fc.record({ kind: fc.constant('leave' as const), who }),
  fc.record({ kind: fc.constant('settle' as const) }),
  fc.record({ kind: fc.constant('close' as const) }),
);

it('nothing ever runs without exactly one approval of somebody who may give it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const clients = [client('a'), client('b', 'operator'), client('c', 'admin')];
      const fixture = new Fixture('self', clients);
      fixture.reviewer = { name: 'model', review: () => Promise.resolve({ verdict: 'approve', reason: 'x' }) };
      const asked: Confirmation[] = [];
      const decisions: Promise<string>[] = [];
      for (const next of steps) {
        if (next.kind === 'ask') {
          const { principal } = clients[next.who]!.caller;
          if (fixture.confirmations.seenBy(principal).length > 10) continue;
          fixture.settings = { ...fixture.settings, mode: next.mode };
          const confirmation = fixture.confirmations.ask(fixture.action(`c${asked.length}`, clients[next.who]!));
          fixture.confirmations.join(confirmation, clients[next.who]!.caller, true);
          asked.push(confirmation);
        } else if (next.kind === 'decide') {
          const target = asked[next.which % Math.max(1, asked.length)];
          if (!target) continue;
          const hashes = { right: target.sha256, wrong: '0'.repeat(64), none: undefined };
          const request = {
            confirmation_id: target.id,
            decision: next.decision,
            command_sha256: hashes[next.hash],
            justification: next.justification,
          };
          // Not waited for: the next step may come in between.
          decisions.push(codeOf(fixture.confirmations.decide(request, clients[next.who]!.caller)));
        } else if (next.kind === 'pass') vi.advanceTimersByTime(next.ms);
        else if (next.kind === 'leave') fixture.confirmations.detach(clients[next.who]!.caller.sink);
        else if (next.kind === 'settle') await Promise.resolve();
        else fixture.confirmations.endSession('session_1');
      }
      await fixture.confirmations[Symbol.asyncDispose]();
      await Promise.all(decisions);
      await Promise.all(asked.map(({ answer }) => codeOf(answer.promise)));
      for (const confirmation of asked) {
        const own = fixture.steps.filter(({ confirmationId }) => confirmationId === confirmation.id);
        const approvals = own.filter(({ event }) => event === 'approved');
        const ends = own.filter(({ event }) => !['asked', 'mismatch', 'refused'].includes(event));
        const runs = fixture.runs.filter((id) => id === confirmation.action.commandId);
        expect(ends).toHaveLength(1);
        expect(runs.length).toBeLessThanOrEqual(approvals.length);
        const deciders = approvals.map(({ by }) => by?.id);
        if (confirmation.mode === 'self') expect(deciders.every((id) => id === confirmation.requester.id)).toBe(true);
        if (confirmation.mode === 'llm') expect(deciders.every((id) => id === 'reviewer')).toBe(true);
        if (confirmation.mode === 'operator') {
          expect(deciders.every((id) => id !== confirmation.requester.id && id !== 'token_a')).toBe(true);
        }
      }
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: 300 },
  );
});

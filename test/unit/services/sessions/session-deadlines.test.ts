import { describe, expect, it } from 'vitest';

import { deadlineOf, type SessionTimes } from '../../../../src/services/sessions/session-deadlines.js';

const LIMITS = { maxLifetimeMs: 1000, idleTimeoutMs: 100, reconnectGraceMs: 10 };
/** Opened at 5000, used at once, and with a client. */
const OPENED: SessionTimes = {
  createdTicks: 5000,
  lastUsedTicks: 5000,
  abandonedSince: undefined,
  keepWhile: 'connected',
};

describe('deadlineOf', () => {
  const ROWS: readonly [string, Partial<SessionTimes>, ReturnType<typeof deadlineOf>][] = [
    ['a client is connected: the idle time-out', {}, { at: 5100, reason: 'idle' }],
    ['it was used again: counted from then', { lastUsedTicks: 5050 }, { at: 5150, reason: 'idle' }],
    ['it is nearly too old: its lifetime', { lastUsedTicks: 5950 }, { at: 6000, reason: 'lifetime' }],
    ['its client has gone: the grace', { abandonedSince: 5020 }, { at: 5030, reason: 'disconnected' }],
    ['the grace would be longer: the idle time-out', { abandonedSince: 5095 }, { at: 5100, reason: 'idle' }],
    ['no client is needed: no grace', { abandonedSince: 5020, keepWhile: 'used' }, { at: 5100, reason: 'idle' }],
    [
      'no client is needed, and it is nearly too old: its lifetime',
      { abandonedSince: 5020, keepWhile: 'used', lastUsedTicks: 5950 },
      { at: 6000, reason: 'lifetime' },
    ],
  ];

  it.each(ROWS)('%s', (_, times, deadline) => {
    expect(deadlineOf({ ...OPENED, ...times }, LIMITS)).toEqual(deadline);
  });
});

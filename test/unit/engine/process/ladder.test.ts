import { describe, expect, it, vi } from 'vitest';

import { climb, LADDERS, type Step } from '../../../../src/engine/process/ladder.js';

const GRACE_MS = 2000;

/** What happens on a ladder: signals and waits, where the wait of that number is the last. */
async function climbed(ladder: readonly Step[], graceMs: number, endsAt = Infinity): Promise<string[]> {
  vi.useFakeTimers({ toFake: ['performance'], now: 0 });
  const seen: string[] = [];
  let waits = 0;
  try {
    await climb(ladder, graceMs, {
      send: (signal, whom, withinMs) => seen.push(`${signal} to the ${whom} within ${withinMs}`),
      endsWithin: (ms) => {
        seen.push(`wait ${ms}`);
        vi.advanceTimersByTime(ms);
        waits += 1;
        return Promise.resolve(waits === endsAt);
      },
    });
  } finally {
    vi.useRealTimers();
  }
  return seen;
}

describe('a ladder', () => {
  it('for a command waits for the grace period between SIGTERM and SIGKILL, and ends its shell last', async () => {
    expect(await climbed(LADDERS.command, GRACE_MS)).toEqual([
      'SIGINT to the foreground within 2000',
      'wait 150',
      'SIGTERM to the processes within 1850',
      'SIGINT to the foreground within 1850',
      'wait 1850',
      'SIGKILL to the processes within 0',
      'SIGINT to the foreground within 150',
      'wait 150',
      'SIGKILL to the shell within 0',
    ]);
  });

  it('ends where the command does', async () => {
    expect(await climbed(LADDERS.command, GRACE_MS, 1)).toEqual(['SIGINT to the foreground within 2000', 'wait 150']);
  });

  it('waits no longer before SIGKILL than the grace period', async () => {
    expect(await climbed(LADDERS.command, 100)).toContain('wait 100');
    expect(await climbed(LADDERS.command, 0)).toEqual([
      'SIGINT to the foreground within 0',
      'wait 0',
      'SIGTERM to the processes within 0',
      'SIGINT to the foreground within 0',
      'wait 0',
      'SIGKILL to the processes within 0',
      'SIGINT to the foreground within 150',
      'wait 150',
      'SIGKILL to the shell within 0',
    ]);
  });

  it('for an exceeded limit begins with SIGKILL', async () => {
    expect(await climbed(LADDERS.exceeding, 0)).toEqual([
      'SIGKILL to the tree within 150',
      'wait 150',
      'SIGINT to the foreground within 1200',
      'wait 1200',
      'SIGKILL to the tree within 150',
      'wait 150',
      'SIGKILL to the shell within 0',
    ]);
  });

  it('may begin with a wait', async () => {
    expect(await climbed(LADDERS.unlisted, GRACE_MS)).toEqual(['wait 2000', 'SIGKILL to the shell within 0']);
  });

  it('has one stopped process go on, so that it receives SIGTERM', async () => {
    expect(await climbed(LADDERS.processes, GRACE_MS)).toEqual([
      'SIGTERM to the processes within 2000',
      'SIGCONT to the processes within 2000',
      'wait 2000',
    ]);
  });
});

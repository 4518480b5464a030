import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ShellHarness } from '../../../contract/shells/harness.js';
import { rounds } from '../../../support/rounds.js';

/** Steps by which the interrupt comes later, in milliseconds: from before the request is read until the command has ended. */
const STEP_MS = 0.01;
const STEPS = 60;
/** Each step at least once. */
const ROUNDS = rounds(300, STEPS);
/** Two interrupts that each take a character of the same request cost the shell, on a loaded machine now and then. */
const MAX_RESTARTS = 3;

function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch {
    // ESRCH: the shell has just been replaced.
  }
}

describe.each(['bash', 'zsh', 'sh'] as const)('a storm of interrupts while %s takes commands', (shell) => {
  let bench: ShellHarness;

  beforeAll(async () => {
    bench = await ShellHarness.start(shell);
  });

  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
    expect(await bench.leftovers()).toEqual({ processes: [], descriptors: 0 });
  });

  it('each command runs once or is interrupted, and the shell stays in step with its pipe', async () => {
    await using session = await bench.openSession();
    const restarts: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { pid } = session;
      const command = session.start(`echo ${round}`);
      const until = performance.now() + (round % STEPS) * STEP_MS;
      while (performance.now() < until);
      for (let times = 0; times <= round % 3; times += 1) interrupt(pid);
      const { exitCode, stdout, sessionState } = await command.result();
      if (sessionState === 'restarted') restarts.push(round);
      else if (exitCode === 0) expect(stdout).toBe(`${round}\n`);
      else expect([exitCode, ['', `${round}\n`].includes(stdout)]).toEqual([130, true]);
    }
    expect(restarts.length, `restarts in the rounds ${restarts.join()}`).toBeLessThanOrEqual(MAX_RESTARTS);
  });
});

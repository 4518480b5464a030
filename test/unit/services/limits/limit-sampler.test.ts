import { expect, it } from 'vitest';

import { MB } from '../../../../src/core/limits.js';
import type { Command } from '../../../../src/engine/command/command.js';
import { type LimitTarget, UseMeter } from '../../../../src/engine/command/resource-use.js';
import type { GroupSample, ProcessGroup } from '../../../../src/engine/limits/mechanism.js';
import type { ProcessSnapshot } from '../../../../src/engine/process/process-snapshot.js';
import { LimitSampler } from '../../../../src/services/limits/limit-sampler.js';

const SHELL = 100;
const JOB = 101;
const SNAPSHOT = {} as ProcessSnapshot;

/** A session whose group has written as many MB as said, with these processes. */
class Session {
  running: Command | undefined;
  writtenMb = 0;
  pids = [SHELL];
  readonly #sampler: LimitSampler;

  constructor() {
    const sample = (): GroupSample => {
      const { pids, writtenMb } = this;
      return { cpuMs: 0, memoryBytes: 0, tasks: pids.length, writtenBytes: writtenMb * MB, pids };
    };
    const group = { sample, takeKernelActions: () => ({ kills: 0, refusedForks: 0 }) } as unknown as ProcessGroup;
    const running = () => this.running;
    const target = {
      group,
      own: [SHELL],
      numbers: { note: () => undefined },
      get running() {
        return running();
      },
    };
    this.#sampler = new LimitSampler(target as unknown as LimitTarget, 1000);
  }

  begin(): void {
    const meter = new UseMeter();
    const atStart = { cpuMs: 0, writtenBytes: this.writtenMb * MB };
    meter.begin({ group: {} as ProcessGroup, limits: {}, atStart });
    this.running = { meter } as Command;
  }

  /** MB that count against the limits of the session, by a sample. */
  usedMb(): number {
    return this.#sampler.observe(SNAPSHOT).usage.writtenBytes / MB;
  }

  endOfRest(): void {
    this.#sampler.restart('sample');
  }
}

it.each([
  { what: 'a command that ended without a sample', pids: [SHELL], sampledMb: [] },
  { what: 'a job that has ended, once nothing but the shell runs', pids: [SHELL, JOB], sampledMb: [8] },
])('what $what has written does not count for the next command', ({ pids, sampledMb }) => {
  const session = new Session();
  session.pids = pids;
  expect(session.usedMb()).toBe(0);
  session.writtenMb = 8;
  for (const used of sampledMb) expect(session.usedMb()).toBe(used);
  session.pids = [SHELL];
  session.begin();
  expect(session.usedMb()).toBe(0);
  session.writtenMb = 9;
  expect(session.usedMb()).toBe(1);
});

it('a job counts beside the commands that run meanwhile', () => {
  const session = new Session();
  session.pids = [SHELL, JOB];
  expect(session.usedMb()).toBe(0);
  session.writtenMb = 3;
  session.begin();
  session.writtenMb = 5;
  expect(session.usedMb()).toBe(5);
});

it('what processes have written that were ended for it does not count for the command that ran beside them', () => {
  const session = new Session();
  session.begin();
  session.pids = [SHELL, JOB];
  session.writtenMb = 8;
  expect(session.usedMb()).toBe(8);
  session.endOfRest();
  session.pids = [SHELL];
  expect(session.usedMb()).toBe(0);
  session.writtenMb = 9;
  expect(session.usedMb()).toBe(1);
});

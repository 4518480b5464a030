import { expect, it } from 'vitest';

import { MB } from '../../../../src/core/limits.js';
import type { Command } from '../../../../src/engine/command/command.js';
import { type LimitTarget, UseMeter } from '../../../../src/engine/command/resource-use.js';
import type { GroupSample } from '../../../../src/engine/limits/mechanism.js';
import { NamespacePids } from '../../../../src/engine/process/find-processes.js';
import type { ProcessSnapshot } from '../../../../src/engine/process/process-snapshot.js';
import { LimitMonitor } from '../../../../src/services/limits/limit-monitor.js';

const SHELL = 100;
const JOB = 101;
const LIMIT_MB = 100;

const commandOf = (id: string, ageMs = 0) => {
  const spec = { timeoutMs: 600_000 };
  return { id, endReason: undefined, meter: new UseMeter(), spec, ageMs, atEnd: () => undefined } as unknown as Command;
};

/** Samples a session with a background process, and these commands in turn; returns the commands of the warnings. */
function warned(samples: readonly { readonly running?: Command; readonly usedMb: number }[]): (string | null)[] {
  let current = samples[0];
  const sample = (): GroupSample => {
    const memoryBytes = (current?.usedMb ?? 0) * MB;
    return { cpuMs: 0, memoryBytes, tasks: 2, writtenBytes: 0, pids: [SHELL, JOB] };
  };
  const group = { sample, members: () => [SHELL, JOB], takeKernelActions: () => ({ kills: 0, refusedForks: 0 }) };
  const target = {
    group,
    limits: { memory_mb: LIMIT_MB },
    own: [SHELL],
    numbers: new NamespacePids(() => undefined),
    get running() {
      return current?.running;
    },
  } as unknown as LimitTarget;
  const ids: (string | null)[] = [];
  const listener = { onNear: (_breach: unknown, _level: string, id: string | null) => ids.push(id) };
  const monitor = new LimitMonitor(target, listener, 1000);
  for (current of samples) monitor.check({} as ProcessSnapshot, undefined);
  return ids;
}

it('warns once of each command that is sampled near a limit', () => {
  const [first, second] = [commandOf('c1'), commandOf('c2')];
  const near = [first, first, second, second].map((running) => ({ running, usedMb: 90 }));
  expect(warned(near)).toEqual(['c1', 'c2']);
});

it('warns once of background processes, and not after a command has been warned of', () => {
  expect(warned([{ usedMb: 90 }, { usedMb: 50 }, { usedMb: 90 }])).toEqual([null]);
  expect(warned([{ running: commandOf('c1'), usedMb: 90 }, { usedMb: 90 }])).toEqual(['c1']);
});

it('does not warn below four fifths of a limit', () => {
  expect(warned([{ running: commandOf('c1'), usedMb: 79 }])).toEqual([]);
});

it('warns once of a command whose time-out is a minute away', () => {
  const late = commandOf('late', 550_000);
  const samples = [commandOf('early', 500_000), late, late].map((running) => ({ running, usedMb: 10 }));
  expect(warned(samples)).toEqual(['late']);
});

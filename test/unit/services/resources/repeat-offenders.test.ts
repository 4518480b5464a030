import { describe, expect, it } from 'vitest';

import type { Resource } from '../../../../src/core/limits/limits.js';
import type { ProcessSnapshot } from '../../../../src/engine/limits/process-snapshot.js';
import type { ProcessEntry } from '../../../../src/engine/process/process-table.js';
import { RepeatOffenders } from '../../../../src/services/resources/repeat-offenders.js';

/** A process, as far as it matters: number, parent, start, CPU time, bytes written, pages held. */
type Row = readonly [number, number, number, number, number, number];

function snapshotOf(rows: readonly Row[]): ProcessSnapshot {
  const entries = rows.map(([pid, parent, startTicks, cpuTicks, , residentPages]) => {
    return { pid, parent, startTicks, cpuTicks, residentPages, threads: 1 } as ProcessEntry;
  });
  return {
    isExact: true,
    all: () => entries,
    childrenOf: (pid) => entries.filter(({ parent }) => parent === pid),
    of: (pids) => [...pids].flatMap((pid) => entries.find((entry) => entry.pid === pid) ?? []),
    writtenBy: (pid) => rows.find(([number]) => number === pid)?.[4] ?? 0,
    heldBytes: () => 0,
    originOf: () => undefined,
  };
}

const pidsOf = (rows: readonly Row[]) => rows.map(([pid]) => pid);

const SHELL: Row = [1, 0, 10, 50, 100, 900];
const LEFT: Row = [2, 1, 20, 30, 1000, 40];

function areToBlame(resource: Resource, before: readonly Row[], after: readonly Row[]): boolean {
  const offenders = new RepeatOffenders();
  offenders.note(snapshotOf(before), pidsOf(before));
  return offenders.areToBlame({ snapshot: snapshotOf(after), pids: pidsOf(after), own: [1], resource });
}

describe('who is to blame for a limit that is exceeded again', () => {
  it.each<[string, Resource, readonly Row[], readonly Row[], boolean]>([
    ['nobody was there before', 'disk_mb', [SHELL], [SHELL, [3, 1, 30, 0, 500, 1]], false],
    ['who was there has written since', 'disk_mb', [SHELL, LEFT], [SHELL, [2, 1, 20, 30, 9000, 40]], true],
    ['a child of who was there has', 'disk_mb', [SHELL, LEFT], [SHELL, LEFT, [3, 2, 30, 0, 500, 1]], true],
    ['the new command has', 'disk_mb', [SHELL, LEFT], [SHELL, LEFT, [3, 1, 30, 0, 500, 1]], false],
    ['the shell has, for a command', 'disk_mb', [SHELL, LEFT], [[1, 0, 10, 50, 900, 900], LEFT], false],
    ['who was there has gone, and its number is another’s', 'disk_mb', [SHELL, LEFT], [[2, 1, 99, 0, 9, 1]], false],
    ['who was there has used CPU time', 'cpu_percent', [SHELL, LEFT], [SHELL, [2, 1, 20, 90, 1000, 40]], true],
    ['who was there holds more', 'memory_mb', [SHELL, LEFT], [SHELL, LEFT, [3, 1, 30, 0, 0, 30]], true],
    ['who is new holds more', 'memory_mb', [SHELL, LEFT], [SHELL, LEFT, [3, 1, 30, 0, 0, 50]], false],
    [
      'who was there is one of three',
      'processes',
      [SHELL, LEFT],
      [LEFT, [3, 1, 3, 0, 0, 1], [4, 1, 3, 0, 0, 1]],
      false,
    ],
  ])('%s', (_, resource, before, after, expected) => {
    expect(areToBlame(resource, before, after)).toBe(expected);
  });

  it('nobody any more once they are forgotten', () => {
    const offenders = new RepeatOffenders();
    offenders.note(snapshotOf([LEFT]), [2]);
    offenders.forget();
    const after: Row[] = [[2, 1, 20, 30, 9000, 40]];
    expect(offenders.areToBlame({ snapshot: snapshotOf(after), pids: [2], own: [], resource: 'disk_mb' })).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';

import type { ListedProcess } from '../../../../src/engine/platform/posix/process-list.js';
import { cpuTicksOf, findMeasured } from '../../../../src/engine/platform/posix/process-usage.js';

describe('CPU time as pidusage reads it', () => {
  it.each([
    ['whole seconds on Linux', 'linux', 93_784_000, 9_378_400],
    ['hundredths on macOS', 'darwin', 62_250, 6225],
    // 1:02.50, read as one hour, two minutes and 50 seconds.
    ['seconds that were read as minutes', 'freebsd', 3_770_000, 6200],
    ['hundredths that were read as more than a minute', 'openbsd', 3_799_000, 6300],
  ] as const)('%s', (_, system, readMs, ticks) => {
    expect(cpuTicksOf(readMs, system)).toBe(ticks);
  });

  it('never decreases where hundredths were read as seconds', () => {
    const read = Array.from({ length: 12_000 }, (_, hundredths) => {
      const seconds = Math.floor(hundredths / 100);
      return cpuTicksOf((seconds * 60 + (hundredths % 100)) * 1000, 'freebsd');
    });
    expect(read).toEqual(read.toSorted((a, b) => a - b));
    expect(read.at(-1)).toBe(12_000);
  });
});

describe('processes that are measured', () => {
  const listed = (pid: number, parent: number, isSessionLeader = false) =>
    ({ pid, parent, isSessionLeader }) as ListedProcess;
  const measured = (processes: readonly ListedProcess[], sessions: readonly (readonly [number, number])[] = []) => {
    const found = findMeasured(processes, new Map(sessions), ({ pid }) => pid === 70);
    return [...found].toSorted((a, b) => a - b);
  };

  it('are the leaders of sessions that the daemon has started, those that are known, and their descendants', () => {
    const processes = [
      listed(1, 0),
      listed(process.pid, 1),
      listed(52, 51),
      listed(51, process.pid, true),
      listed(60, 1),
    ];
    expect(measured([...processes, listed(70, 1), listed(71, 70)])).toEqual([51, 52, 70, 71]);
  });

  it('are none of the programs that the daemon runs for itself', () => {
    expect(measured([listed(70, process.pid), listed(71, 70), listed(80, process.pid)])).toEqual([]);
  });

  it('are those in a session that one of them leads, not in one that merely has one of them', () => {
    const processes = [listed(1, 0), listed(70, 1), listed(80, 1), listed(81, 1)];
    expect(
      measured(processes, [
        [70, 70],
        [80, 70],
        [81, 1],
      ]),
    ).toEqual([70, 80]);
    expect(
      measured(processes, [
        [70, 81],
        [80, 81],
        [81, 81],
      ]),
    ).toEqual([70]);
  });
});

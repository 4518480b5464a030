import { describe, expect, it } from 'vitest';

import { parseLines, parseProcessList, variableIn } from '../../../../src/engine/platform/posix/process-list.js';

const START_TICKS = Date.UTC(2026, 10, 1, 10, 45, 8) / 10;

describe('a list of processes, as ps prints it', () => {
  it.each([
    [
      'Linux',
      '    412     1   412    -1 Ss   ?        Sun Nov  1 10:45:08 2026 /lib/systemd/systemd-journald -x\n',
      {
        ...{ pid: 412, parent: 1, group: 412, foregroundGroup: -1, state: 'S', isSessionLeader: true },
        ...{ terminal: undefined, text: '/lib/systemd/systemd-journald -x' },
      },
    ],
    [
      'macOS',
      '  512   400   512   512 S+   ttys001  Sun Nov  1 10:45:08 2026 /Applications/Some App.app/Some App\n',
      {
        ...{ pid: 512, parent: 400, group: 512, foregroundGroup: 512, state: 'S', isSessionLeader: false },
        ...{ terminal: 'ttys001', text: '/Applications/Some App.app/Some App' },
      },
    ],
    [
      'a process without a terminal, and without arguments, on macOS',
      '  7   1   7   0 Z   ??  Sun Nov  1 10:45:08 2026 \n',
      {
        ...{ pid: 7, parent: 1, group: 7, foregroundGroup: 0, state: 'Z', isSessionLeader: false },
        ...{ terminal: undefined, text: '' },
      },
    ],
  ])('%s', (_, text, expected) => {
    expect(parseProcessList(text)).toEqual([{ ...expected, startTicks: START_TICKS }]);
  });

  it('lines that tell of no process are left out', () => {
    expect(parseProcessList('\n  PID  PPID COMMAND\nps: warning\n')).toEqual([]);
  });

  it('a command line has a pid, and may be empty', () => {
    expect([...parseLines('  5 sleep 300\n 17 \nps: warning\n')]).toEqual([
      [5, 'sleep 300'],
      [17, ''],
    ]);
  });

  it.each([
    ['sleep 300 A=1 TAG=a.b.c B=2', 'a.b.c'],
    ['env TAG=x TAG=y', 'y'],
    ['true', undefined],
    ['true NOTAG=x', undefined],
  ])('a variable is found behind the arguments: %s', (text, expected) => {
    expect(variableIn(text, 'TAG')).toBe(expected);
  });
});

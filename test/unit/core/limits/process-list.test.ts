import { describe, expect, it } from 'vitest';

import { parseProcessList } from '../../../../src/core/limits/process-list.js';

describe('a list of processes, as ps prints it', () => {
  it.each([
    [
      'Linux',
      '    412     1   412 Ss   Sun Nov  1 10:45:08 2026 systemd-journal\n',
      { pid: 412, parent: 1, group: 412, state: 'S', name: 'systemd-journal' },
    ],
    [
      'macOS, with a path as the name',
      '  512     1   512 S+   Sun Nov  1 10:45:08 2026 /Applications/Some App.app/Contents/MacOS/Some App\n',
      { pid: 512, parent: 1, group: 512, state: 'S', name: '/Applications/Some App.app/Contents/MacOS/Some App' },
    ],
  ])('%s', (_, text, expected) => {
    const startedAt = new Date(2026, 10, 1, 10, 45, 8).getTime();
    expect(parseProcessList(text)).toEqual([{ ...expected, startedAt }]);
  });

  it('lines that tell of no process are left out', () => {
    expect(parseProcessList('\n  PID  PPID COMMAND\nps: warning\n')).toEqual([]);
  });
});

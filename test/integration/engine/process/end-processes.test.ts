import { spawn } from 'node:child_process';

import { describe, expect, it } from 'vitest';

import { killProcesses } from '../../../../src/engine/process/end-processes.js';
import { isRunning } from '../../../../src/engine/platform/platform.js';
import { linux } from '../../../../src/engine/platform/linux/linux.js';
import { posix } from '../../../../src/engine/platform/posix/posix.js';
import { eventually } from '../../../support/measure.js';

/** So many that their process groups are killed as a whole. */
const COUNT = 120;

describe.each([linux, posix])('killing many processes on the platform $name', ({ processes }) => {
  it('reports each of them, although the first signal ends all', async () => {
    // A process group of its own, whose leader waits for its children.
    const script = `i=0; while [ $i -lt ${COUNT} ]; do sleep 300 & i=$((i + 1)); done; wait`;
    const leader = spawn('sh', ['-c', script], { detached: true, stdio: 'ignore' });
    const find = () => processes.list().filter((entry) => entry.group === leader.pid && isRunning(entry));
    try {
      await eventually(() => {
        expect(find()).toHaveLength(COUNT + 1);
      });
      const expected = find().map(({ pid }) => pid);
      const reported: number[] = [];
      expect(await killProcesses(find, { processes, onKill: (pids) => reported.push(...pids) })).toEqual([]);
      expect(reported.toSorted()).toEqual(expected.toSorted());
    } finally {
      leader.kill('SIGKILL');
    }
  });
});

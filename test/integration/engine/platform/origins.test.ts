import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, it } from 'vitest';

import { TAG_VARIABLE, TICKS_PER_SECOND } from '../../../../src/engine/platform/platform.js';
import { readProcess } from '../../../../src/engine/platform/linux/process-table.js';
import { Origins } from '../../../../src/engine/platform/linux/linux.js';
import { eventually } from '../../../support/measure.js';

const TAG = `1-2-3-origins${process.pid}.a`;

/** A process as it was long ago, so that it counts as settled. */
const aged = (pid: number) => {
  const entry = readProcess(pid)!;
  return { ...entry, startTicks: entry.startTicks - 10 * TICKS_PER_SECOND };
};

it('a process that descends from the daemon is read again, however often it was foreign', async () => {
  const origins = new Origins();
  const script = `while read -r line; do ${TAG_VARIABLE}=${TAG} exec sleep 300; done`;
  const child = spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'] });
  try {
    const pid = child.pid!;
    for (let time = 0; time < 3; time += 1) expect(origins.read(aged(pid))).toBeUndefined();
    child.stdin.write('go\n');
    await eventually(() => {
      expect(origins.read(aged(pid))).toBe(TAG);
    });
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

it('a number that a foreign process had is read again for the next one', async () => {
  const origins = new Origins();
  const child = spawn('sleep', ['300'], { stdio: 'ignore', env: { ...process.env, [TAG_VARIABLE]: TAG } });
  try {
    const entry = readProcess(child.pid!)!;
    await eventually(() => {
      expect(origins.read(entry)).toBe(TAG);
    });
    // As if it had been another process, which does not descend from the daemon.
    const earlier = { pid: 1, startTicks: 0, parent: 0, session: 1 };
    for (let time = 0; time < 3; time += 1) expect(origins.read(earlier)).toBeUndefined();
    expect(origins.read({ ...entry, startTicks: entry.startTicks + 1 })).toBe(TAG);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

it('what leads a session keeps its origin, and other processes are read each time', async () => {
  const origins = new Origins();
  const env = { ...process.env, [TAG_VARIABLE]: TAG };
  const script = `while read -r line; do exec env -u ${TAG_VARIABLE} sleep 300; done`;
  const start = (detached: boolean) =>
    spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], env, detached });
  const [leader, other] = [start(true), start(false)];
  try {
    for (const child of [leader, other]) {
      await eventually(() => {
        expect(origins.read(aged(child.pid!))).toBe(TAG);
      });
      child.stdin.write('go\n');
      await eventually(() => {
        expect(readProcess(child.pid!)?.name).toBe('sleep');
      });
    }
    expect(origins.read(aged(leader.pid!))).toBe(TAG);
    expect(origins.read(aged(other.pid!))).toBeUndefined();
  } finally {
    for (const child of [leader, other]) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, it } from 'vitest';

import { pidExists, sendSignal } from '../../../../src/engine/system/signals.js';

it('signals a process group once it is there, and tells that it has ended', async () => {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  const pid = child.pid ?? 0;
  const exited = once(child, 'exit');
  expect(pidExists(pid)).toBe(true);
  expect(sendSignal(-pid, 'SIGKILL')).toBe(true);
  expect(await exited).toEqual([null, 'SIGKILL']);
  expect(sendSignal(-pid, 'SIGKILL')).toBe(false);
  expect(pidExists(pid)).toBe(false);
});

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { runApart } from '../../../../src/engine/process/run-apart.js';

const sh = (text: string, options = {}) => runApart(['/bin/sh', '-c', text], options);

it('gives output and exit code', async () => {
  const end = await sh('cat; echo two >&2; exit 3', { input: 'one' });
  expect(end).toEqual({ stdout: 'one', stderr: 'two\n', exitCode: 3 });
  expect(await sh('kill -9 $$')).toMatchObject({ exitCode: null });
  expect(await sh('exit 0', { input: 'x'.repeat(1024 * 1024) })).toMatchObject({ exitCode: 0 });
});

it.each([
  ['cannot be started', ['/no/such/program'], 'ENOENT'],
  ['prints without end', ['/bin/sh', '-c', 'exec /usr/bin/yes'], 'has printed without an end'],
])('fails for a program that %s', async (_, command, why) => {
  await expect(runApart(command)).rejects.toThrow(why);
});

it('kills what does not end in time, and does not wait for what has left its group with the pipes open', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-apart-'));
  const file = join(directory, 'pid');
  try {
    const text = `PATH=/usr/bin:/bin; setsid sleep 71 & echo $! >${file}; exec sleep 72`;
    await expect(sh(text, { timeoutMs: 300 })).rejects.toThrow('did not come to an end within 0.3 s');
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
  } finally {
    rmSync(directory, { recursive: true });
  }
});

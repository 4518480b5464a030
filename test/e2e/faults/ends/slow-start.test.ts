import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { TestDaemon } from '../../../support/daemon.js';
import { canSandbox, makeDirectory, startSandboxed } from '../../../support/sandbox.js';
import { WireClient } from '../../../support/wire.js';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'shell-adapter-test-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** A bash whose first interactive start never comes to anything. */
function installSlowBash(): string {
  const path = join(directory, 'bash');
  const isFirst = `case "$*" in *--rcfile*) mkdir ${directory}/started 2>/dev/null ;; *) false ;; esac`;
  writeFileSync(path, `#!/bin/sh\nif ${isFirst}; then exec sleep 300; fi\nexec /bin/bash "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

it('a shell that does not come up is given up for another one, and the session opens', async () => {
  const settings = { adapter: { shell: installSlowBash(), prewarm: { sessions: 0 } } };
  await using daemon = await TestDaemon.start({ settings });
  await using client = await WireClient.connect(daemon.url);
  const id = await client.openSession();
  expect(await client.run('echo here', id)).toMatchObject({ stdout: 'here\n', session_state: 'alive' });
  expect(daemon.output).toMatch(/a shell did not come up; trying another.*state S/);
});

it.runIf(canSandbox)('a sandbox of which a hidden file goes while it is made is made once more', async () => {
  const real = execFileSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).trim();
  const home = makeDirectory();
  const isFirst = `case "$*" in *--rcfile*) mkdir ${directory}/started 2>/dev/null ;; *) false ;; esac`;
  const text = `#!/bin/sh\nif ${isFirst}; then rm ${home}/home/.netrc; fi\nexec ${real} "$@"\n`;
  writeFileSync(join(directory, 'bwrap'), text, { mode: 0o755 });
  const settings = { sandbox: { profile: 'strict', require: true }, adapter: { prewarm: { sessions: 0 } } };
  const env = { PATH: `${directory}:${process.env['PATH']}` };
  await using daemon = await startSandboxed({ settings, env }, home);
  await using client = await WireClient.connect(daemon.url);
  const id = await client.openSession();
  expect(await client.run('echo here', id)).toMatchObject({ stdout: 'here\n', session_state: 'alive' });
  expect(daemon.output).toMatch(/a shell did not come up; trying another.*bwrap: Can't create file at .*netrc/);
});

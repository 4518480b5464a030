import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

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

describe.runIf(canSandbox)('a sandbox of which a hidden file goes while it is made', () => {
  /** Starts a daemon whose bubblewrap finds no .netrc the first time that its arguments contain a text. */
  async function startDaemon(text: string): Promise<TestDaemon> {
    const real = execFileSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).trim();
    const home = makeDirectory();
    const isFirst = `case "$*" in *${text}*) mkdir ${directory}/started 2>/dev/null ;; *) false ;; esac`;
    const script = `#!/bin/sh\nif ${isFirst}; then rm ${home}/home/.netrc; fi\nexec ${real} "$@"\n`;
    writeFileSync(join(directory, 'bwrap'), script, { mode: 0o755 });
    const settings = { sandbox: { profile: 'strict', require: true }, adapter: { prewarm: { sessions: 0 } } };
    return startSandboxed({ settings, env: { PATH: `${directory}:${process.env['PATH']}` } }, home);
  }

  it('is made once more for a session', async () => {
    await using daemon = await startDaemon('--rcfile');
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    expect(await client.run('echo here', id)).toMatchObject({ stdout: 'here\n', session_state: 'alive' });
    expect(daemon.output).toMatch(/a shell did not come up; trying another.*bwrap: Can't create file at .*netrc/);
  });

  it('is told of a program, which has not run', async () => {
    await using daemon = await startDaemon('a-word-of-it');
    await using client = await WireClient.connect(daemon.url);
    const run = () => client.run('echo', undefined, { args: ['a-word-of-it'] });
    const NOT_RUN = /^The command was not run: bwrap: Can't create file at .*netrc.* It can be sent again$/;
    const warning = { code: 'NOT_STARTED', message: expect.stringMatching(NOT_RUN) as string };
    expect(await run()).toMatchObject({ stdout: '', exit_code: 1, warnings: [warning] });
    expect(await run()).toMatchObject({ stdout: 'a-word-of-it\n', exit_code: 0, warnings: [] });
  });
});

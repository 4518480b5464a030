import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

/** A bash that runs this at its first interactive start. */
function installBash(first: string): string {
  const path = join(directory, 'bash');
  const isFirst = `case "$*" in *--rcfile*) mkdir ${directory}/started 2>/dev/null ;; *) false ;; esac`;
  writeFileSync(path, `#!/bin/sh\nif ${isFirst}; then ${first}; fi\nexec /bin/bash "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

it('a shell that does not come up is given up for another one, and the session opens', async () => {
  const settings = { adapter: { shell: installBash('exec sleep 300'), prewarm: { sessions: 0 } } };
  await using daemon = await TestDaemon.start({ settings });
  await using client = await WireClient.connect(daemon.url);
  const id = await client.openSession();
  expect(await client.run('echo here', id)).toMatchObject({ stdout: 'here\n', session_state: 'alive' });
  expect(daemon.output).toMatch(/a shell did not come up; trying another.*state S/);
});

it('a shell that is killed while the daemon starts is replaced, and the daemon runs', async () => {
  const settings = { adapter: { shell: installBash('kill -KILL $$'), prewarm: { sessions: 1 } } };
  await using daemon = await TestDaemon.start({ settings });
  await using client = await WireClient.connect(daemon.url);
  expect(await client.run('echo here', await client.openSession())).toMatchObject({ stdout: 'here\n' });
  expect(daemon.output).toMatch(/a shell did not come up; trying another.*was killed by signal 9 at its start/);
});

describe('a command without a session whose start takes long', () => {
  /** A daemon that makes no pipes, and so starts no command, before the file `go` is there again. */
  async function startDaemon(): Promise<TestDaemon> {
    writeFileSync(join(directory, 'go'), '');
    const wait = `while [ ! -e ${directory}/go ]; do sleep 0.02; done`;
    writeFileSync(join(directory, 'mkfifo'), `#!/bin/sh\n${wait}\nPATH=\${PATH#*:}\nexec mkfifo "$@"\n`, {
      mode: 0o755,
    });
    const env = { PATH: `${directory}:${process.env['PATH']}` };
    const daemon = await TestDaemon.startCold({ env });
    rmSync(join(directory, 'go'));
    return daemon;
  }

  it.each([{ args: undefined }, { args: [] }])('does not run once it has got a signal (%o)', async ({ args }) => {
    await using daemon = await startDaemon();
    await using client = await WireClient.connect(daemon.url);
    const program = join(directory, 'program');
    writeFileSync(program, `#!/bin/sh\ntouch ${directory}/has-run\nsleep 300\n`, { mode: 0o755 });
    const commandId = 'slow-to-start';
    const running = client.run(program, undefined, { args, command_id: commandId });
    expect(await client.request('signal_command', { command_id: commandId, signal: 'SIGUSR1' })).toMatchObject({
      error: { code: 'NO_RUNNING_COMMAND' },
    });
    expect(await client.request('signal_command', { command_id: commandId, signal: 'SIGKILL' })).toEqual({
      signalled: [],
    });
    writeFileSync(join(directory, 'go'), '');
    expect(await running).toMatchObject({ status: 'interrupted', killed_by: 'signal' });
    if (!args) expect(existsSync(join(directory, 'has-run'))).toBe(false);
    expect(await client.run('echo next')).toMatchObject({ stdout: 'next\n', status: 'completed' });
  });

  it('does not keep the daemon from its end', async () => {
    await using daemon = await startDaemon();
    await using client = await WireClient.connect(daemon.url);
    const running = client.run('sleep 300').catch(() => undefined);
    await client.request('list_commands', {});
    const ended = daemon.stop();
    writeFileSync(join(directory, 'go'), '');
    expect(await ended).toBe(0);
    await running;
  });
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

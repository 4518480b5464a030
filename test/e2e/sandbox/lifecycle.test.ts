import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { RequestInput } from '../../../src/core/protocol/requests.js';
import type { TestDaemon } from '../../support/daemon.js';
import { instanceOf, taggedProcesses } from '../../support/processes.js';
import { canSandbox, startSandboxed } from '../../support/sandbox.js';
import { WireClient } from '../../support/wire.js';

/** Leaves children that no tag, parent, session or process group leads to, in the eyes of a daemon without a sandbox. */
const escapees = (seconds: string) =>
  `(setsid env -i sleep ${seconds} &) ; setsid sh -c 'env -i nohup sleep ${seconds} & ' >/dev/null 2>&1; sleep ${seconds} &`;

const NOT_FOUND = { stdout: '', stderr: 'no-such: command not found\n', exit_code: 127 };

/** For an ioctl that no shell has: TIOCSTI. */
const hasPerl = spawnSync('perl', ['-e', '1']).status === 0;

/** Pids of all processes on this machine with this command line. */
function pidsOf(command: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim() === command;
      } catch {
        // It has ended.
        return false;
      }
    })
    .map(Number);
}

/** How many sandboxes of a daemon there are. */
function warmSandboxes(daemon: number): number {
  const namespaceOf = (pid: number) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/mnt`);
    } catch {
      // It has ended.
      return undefined;
    }
  };
  const found = taggedProcesses(instanceOf(daemon)).map(({ pid }) => namespaceOf(pid));
  return new Set(found.filter((name) => name !== undefined && name !== namespaceOf(daemon))).size;
}

describe.runIf(canSandbox).each(['workspace', 'strict'] as const)('%s', (profile) => {
  let daemon: TestDaemon;
  let client: WireClient;
  /** Tells a test's processes from all others. */
  let mark = 0;
  const sleepOf = () => `300.${process.pid}${profile.length}${++mark}`;

  beforeAll(async () => {
    daemon = await startSandboxed({ settings: { sandbox: { profile, require: true }, adapter: { kill_grace: 1 } } });
    client = await WireClient.connect(daemon.url);
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  });

  it.each(['bash', 'zsh', 'sh'])('%s: nothing outlives a session', async (shell) => {
    const session = await client.openSession({ shell });
    const seconds = sleepOf();
    await client.run(escapees(seconds), session);
    await expect.poll(() => pidsOf(`sleep ${seconds}`).length).toBe(3);
    await client.request('close_session', { session_id: session });
    expect(pidsOf(`sleep ${seconds}`)).toEqual([]);
  });

  it.runIf(hasPerl).each(['bash', 'zsh', 'sh'])(
    '%s: what a command pushes into its terminal is no command',
    async (shell) => {
      const session = await client.openSession({ shell });
      const ioctl = `perl -e 'ioctl(STDIN, 0x5412, $_) for split //, "touch pushed\\n"; print "pushed\\n"'`;
      expect(await client.run(ioctl, session)).toMatchObject({ stdout: 'pushed\n', exit_code: 0 });
      expect(await client.run('cat', session, { stdin: '' })).toMatchObject({ stdout: '' });
      expect(await client.run('ls', session)).toMatchObject({
        stdout: expect.not.stringContaining('pushed') as string,
      });
      await client.request('close_session', { session_id: session });
    },
  );

  it('nothing outlives a command that ran into its time-out, and the session goes on', async () => {
    const session = await client.openSession();
    const seconds = sleepOf();
    const answer = await client.run(`${escapees(seconds)} wait`, session, { timeout_ms: 500 });
    expect(answer).toMatchObject({ exit_code: 124, timed_out: true, session_state: 'alive' });
    expect(pidsOf(`sleep ${seconds}`)).toEqual([]);
    expect(await client.run('echo on', session)).toMatchObject({ stdout: 'on\n' });
  });

  it('nothing outlives a one-shot', async () => {
    const seconds = sleepOf();
    expect(await client.run(`${escapees(seconds)} echo done`)).toMatchObject({ stdout: 'done\n', exit_code: 0 });
    await expect.poll(() => pidsOf(`sleep ${seconds}`)).toEqual([]);
  });

  it.each<readonly [string, string, object, Partial<RequestInput<'execute_command'>>]>([
    ['an exit code', 'exit 7', { exit_code: 7 }, {}],
    ['a signal', 'kill -TERM $$', { exit_code: 143, signal: 'SIGTERM' }, {}],
    ['standard input', 'cat', { stdout: 'given\n', exit_code: 0 }, { stdin: 'given\n' }],
    ['a program', 'printf', { stdout: 'a b|', exit_code: 0 }, { args: ['%s|', 'a b'] }],
    ['a program that is not there', 'no-such', NOT_FOUND, { args: [] }],
    // Ordinary users may not search /root.
    ['a program that is nowhere', 'no-such', NOT_FOUND, { args: [], env: { PATH: '/root:/usr/bin:/bin' } }],
    ['a directory', 'pwd', { stdout: '/usr\n' }, { cwd: '/usr', args: [] }],
    ['a time-out', 'trap "" TERM; sleep 300', { exit_code: 124, killed_by: 'timeout' }, { timeout_ms: 300 }],
    ['stderr apart', 'echo out; echo err >/dev/stderr', { stdout: 'out\n', stderr: 'err\n' }, {}],
    ['a terminal', 'test -t 0 && test -t 1 && echo yes', { stdout: 'yes\r\n' }, { tty: true }],
  ])('a one-shot gives %s', async (_, command, expected, options) => {
    expect(await client.request('execute_command', { command, ...options })).toMatchObject(expected);
  });

  it('a one-shot that handles a signal gets it', async () => {
    const command = 'trap "echo caught; exit 3" INT; echo ready; while :; do sleep 0.01; done';
    const command_id = `trap-${randomUUID()}`;
    const answer = client.request('execute_command', { command, stream: true, command_id });
    await client.event('command_output', (event) => event.command_id === command_id);
    expect((await client.request('signal_command', { command_id, signal: 'SIGINT' })).error).toBeUndefined();
    expect(await answer).toMatchObject({ stdout: 'ready\ncaught\n', exit_code: 3 });
  });

  it('a killed shell is replaced under the same id, in the same sandbox, with its directory and variables', async () => {
    const session = await client.openSession();
    await client.run('mkdir -p sub; cd sub; export KEPT=1; f() { echo "f $KEPT"; }', session);
    expect(await client.run('kill -9 $$', session)).toMatchObject({ exit_code: 137, session_state: 'restarted' });
    const answer = await client.run('f; pwd; { : >../../new; } 2>&1 | grep -o "Read-only"', session);
    expect(answer.stdout).toBe(`f 1\n${daemon.workspace}/sub\nRead-only\n`);
  });

  it('a directory in the sandbox’s own /tmp can be used, and is gone with it', async () => {
    const session = await client.openSession();
    await client.run('mkdir /tmp/own; echo x >/tmp/own/file', session);
    expect(await client.run('ls', session, { cwd: '/tmp/own' })).toMatchObject({ stdout: 'file\n' });
    await client.run('cd /tmp/own', session);
    expect(await client.run('kill -9 $$', session)).toMatchObject({ session_state: 'restarted' });
    expect(await client.run('pwd', session)).toMatchObject({ stdout: `${daemon.workspace}\n` });
  });

  it('a directory is where `cd` would lead, and tells nothing of what the sandbox hides', async () => {
    const session = await client.openSession();
    const hidden = join(daemon.directory, 'home/.ssh');
    mkdirSync(join(hidden, 'inner'), { recursive: true });
    const links = { own: '/tmp/own-directory', inner: join(hidden, 'inner'), none: join(hidden, 'none') };
    const make = Object.entries(links).map(([name, target]) => `ln -s ${target} /tmp/${name}`);
    await client.run(['mkdir /tmp/own-directory', ...make].join('; '), session);
    expect(await client.run('pwd', session, { cwd: '/tmp/own' })).toMatchObject({ stdout: '/tmp/own\n' });
    const asked = (name: string) => [
      { session_id: session, cwd: `/tmp/${name}` },
      { session_id: session, cwd: join(hidden, name) },
      { cwd: join(hidden, name) },
    ];
    const answers = (name: string) =>
      Promise.all(
        asked(name).map(async (place) => {
          const { error, exit_code, stderr } = await client.request('execute_command', { command: 'pwd', ...place });
          return { code: error?.code, exit_code, text: `${error?.message} ${stderr}`.replaceAll(name, 'NAME') };
        }),
      );
    const [there, not] = [await answers('inner'), await answers('none')];
    expect(there).toEqual(not);
    expect(not.map(({ code }) => code)).toEqual(['BAD_DIRECTORY', 'BAD_DIRECTORY', undefined]);
    expect(not[2]).toMatchObject({ exit_code: 126 });
  });

  it('processes are reported by the numbers that commands know them by', async () => {
    const session = await client.openSession();
    // Until it is that program, it is a subshell.
    const untilStarted = 'until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done';
    const { stdout, background_processes: jobs } = await client.run(`sleep 300 & ${untilStarted}; echo $!`, session);
    expect(jobs).toEqual([{ pid: Number(stdout), command: 'sleep 300' }]);
    expect(await client.run(`kill ${jobs[0]!.pid}; wait`, session)).toMatchObject({ background_processes: [] });
  });

  it('what is in the workspace by now is protected from shells that were started ahead of need', async () => {
    const settings = { sandbox: { profile, require: true }, adapter: { prewarm: { sessions: 1, one_shots: 1 } } };
    await using other = await startSandboxed({ settings });
    await using agent = await WireClient.connect(other.url);
    const git = (...args: string[]) => execFileSync('git', ['-C', other.workspace, ...args], { stdio: 'ignore' });
    const changes: readonly (readonly [string, () => unknown])[] = [
      ['.git/hooks/post-checkout', () => git('init')],
      ['a/b/.git/hooks/post-checkout', () => git('init', 'a/b')],
      // git writes a new file, and the mount of a file goes with it.
      ['.git/config', () => git('config', 'user.name', 'somebody')],
    ];
    for (const [file, change] of changes) {
      await expect.poll(() => warmSandboxes(other.pid)).toBe(2);
      change();
      const command = `echo written >> ${file}; mv .git moved; mv a moved; echo end`;
      const session = await agent.openSession();
      for (const place of [session, undefined])
        expect(await agent.run(command, place)).toMatchObject({ stdout: 'end\n' });
      const path = join(other.workspace, file);
      expect(existsSync(path) && readFileSync(path, 'utf8'), file).not.toContain('written');
      expect(readdirSync(other.workspace)).toEqual(expect.arrayContaining(['.git']));
      expect(existsSync(join(other.workspace, 'moved'))).toBe(false);
      await agent.request('close_session', { session_id: session });
    }
  });

  it('a daemon that is killed leaves no process', async () => {
    const other = await startSandboxed({ settings: { sandbox: { profile } } });
    const instance = instanceOf(other.pid);
    const seconds = sleepOf();
    await using victim = await WireClient.connect(other.url);
    const session = await victim.openSession();
    await victim.run(escapees(seconds), session);
    void victim.run(`${escapees(seconds)} wait`).catch(() => undefined);
    await expect.poll(() => pidsOf(`sleep ${seconds}`).length).toBe(6);
    other.signal('SIGKILL');
    await other.exited;
    await expect.poll(() => pidsOf(`sleep ${seconds}`)).toEqual([]);
    await expect.poll(() => taggedProcesses(instance)).toEqual([]);
    await other[Symbol.asyncDispose]();
  });

  it('a daemon that is killed while sandboxes start leaves no process', async () => {
    const other = await startSandboxed({ settings: { sandbox: { profile } } });
    const instance = instanceOf(other.pid);
    await using victim = await WireClient.connect(other.url);
    const starting = ['bash', 'zsh', 'sh'].map((shell) => victim.request('open_session', { shell }));
    for (const answer of starting) void answer.catch(() => undefined);
    // Bubblewrap outlives its parent where that ends before bubblewrap has asked to end with it.
    await expect.poll(() => taggedProcesses(instance).length, { interval: 1 }).toBeGreaterThan(3);
    other.signal('SIGKILL');
    await other.exited;
    await expect.poll(() => taggedProcesses(instance)).toEqual([]);
    await other[Symbol.asyncDispose]();
  });
});

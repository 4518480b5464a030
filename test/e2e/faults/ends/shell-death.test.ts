import { closeSync, constants, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { useDaemon } from '../../../support/daemon-and-client.js';
import type { TestDaemon } from '../../../support/daemon.js';
import { PROCESS_HANG_MS } from '../../../support/hang.js';
import { eventually, settled, timed } from '../../../support/measure.js';
import { descriptorCount, isStopped, runtimeDirectoriesOf } from '../../../support/processes.js';
import type { WireClient } from '../../../support/wire.js';

/** A new shell must be there, and its session answer, within this time: a second, and more on a busy machine. */
const RESTART_MS = PROCESS_HANG_MS;

let daemon: TestDaemon;
let client: WireClient;

useDaemon((started) => ({ daemon, client } = started));

const shellPid = async (sessionId: string) => Number((await client.run('echo $$', sessionId)).stdout);

function runtimeFiles(name: RegExp): string[] {
  const [runtime = ''] = runtimeDirectoriesOf(daemon.pid);
  const files = readdirSync(runtime, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => name.test(file)).map((file) => join(runtime, file));
}

/** What the shells have saved for a successor: they do so when their session pauses, some milliseconds after a command. */
const savedStates = (): string[] =>
  runtimeFiles(/(^|\/)state\.\d$/)
    .map((file) => readFileSync(file, 'utf8'))
    .filter((state) => state.endsWith('#end\n'));

/**
 * Takes the start of what is in the pipes of the daemon's shells, of which all but one read theirs themselves: as much as
 * one read of a shell takes, which is all that a shell can consume while it is killed.
 * @param length 15 for the header that bash and zsh read, 1 for sh, which reads single characters
 */
function takeStart(length: number): string {
  const buffer = Buffer.alloc(length);
  const take = (file: string) => {
    let fd: number | undefined;
    try {
      fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
      return buffer.toString('latin1', 0, readSync(fd, buffer));
    } catch {
      // Nothing is in this one, or its shell has just been closed.
      return '';
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  };
  return runtimeFiles(/(^|\/)cmd$/)
    .map(take)
    .join('');
}

describe('F1: a shell that is killed while idle', () => {
  it('F1: its session goes on under the same id with a new shell, says so once, and keeps directory and variables', async () => {
    const id = await client.openSession();
    await client.run('cd /tmp; export KEPT="a b"; PLAIN=1', id);
    const old = await shellPid(id);
    await eventually(() => {
      expect(savedStates().join('')).toContain('KEPT="a b"');
    });
    process.kill(old, 'SIGKILL');
    const { ms, value } = await timed(() => client.run('echo "$$ $PWD $KEPT ${PLAIN-unset}"', id));
    const [pid, ...rest] = value.stdout.trim().split(' ');
    expect(value).toMatchObject({ exit_code: 0, session_id: id, session_state: 'restarted' });
    expect(Number(pid)).not.toBe(old);
    expect(rest.join(' ')).toBe('/tmp a b 1');
    expect(value.warnings.map(({ code }) => code)).toContain('SHELL_ENDED');
    expect(ms).toBeLessThan(RESTART_MS);
    expect(await client.run('true', id)).toMatchObject({ session_state: 'alive', warnings: [] });
    await client.request('close_session', { session_id: id });
  });

  it.each(['bash', 'zsh', 'sh'] as const)(
    'F1: %s: a command that the killed shell has taken from its pipe, and not begun, runs in the new one',
    async (shell) => {
      const id = await client.openSession({ shell });
      const old = Number((await client.run(`export SAVED=${id}; echo $$`, id)).stdout);
      // No request to save the state comes first then.
      await eventually(() => {
        expect(savedStates().join('')).toContain(id);
      });
      // A process that is killed while it reads still takes what comes at that moment: this is that moment, held.
      process.kill(old, 'SIGSTOP');
      await eventually(() => {
        expect(isStopped(old)).toBe(true);
      });
      const answer = client.run('echo "ran in $$"', id);
      await eventually(() => {
        expect(takeStart(shell === 'sh' ? 1 : 15)).not.toBe('');
      });
      process.kill(old, 'SIGKILL');
      const { stdout, ...result } = await answer;
      expect(result).toMatchObject({ exit_code: 0, session_state: 'restarted' });
      expect(stdout).toBe(`ran in ${await shellPid(id)}\n`);
      await client.request('close_session', { session_id: id });
    },
  );

  it.each(['none', 'workspace'] as const)(
    'F1: sandbox %s: a command that kills its shell runs once, even if it tries to look as if it had not begun',
    async (sandbox) => {
      const id = await client.openSession({ sandbox });
      const count = async () => (await client.run('cat ran 2>/dev/null | wc -l', id)).stdout;
      const before = Number(await count());
      await client.run('echo ran >>ran; kill -9 $$', id);
      expect(Number(await count())).toBe(before + 1);
      await client.run('echo ran >>ran; printf %s "$__sa_nonce" >"$__sa_dir/cmd"; kill -9 $$', id);
      expect(Number(await count())).toBeLessThan(before + 4);
      await client.run('rm ran', id);
      await client.request('close_session', { session_id: id });
    },
  );

  it('F1: other sessions are not affected', async () => {
    const [a, b] = [await client.openSession(), await client.openSession()];
    await client.run('MINE=b', b);
    const before = await shellPid(b);
    process.kill(await shellPid(a), 'SIGKILL');
    expect(await client.run('echo $MINE $$', b)).toMatchObject({ stdout: `b ${before}\n`, session_state: 'alive' });
    for (const id of [a, b]) await client.request('close_session', { session_id: id });
  });

  it('F1: the daemon has as many descriptors as before', async () => {
    const id = await client.openSession();
    await client.run('true', id);
    const base = await settled(() => descriptorCount(daemon.pid));
    for (let time = 0; time < 5; time += 1) {
      process.kill(await shellPid(id), 'SIGKILL');
      expect((await client.run('true', id)).session_state).toBe('restarted');
    }
    await eventually(() => {
      expect(descriptorCount(daemon.pid)).toBe(base);
    });
    await client.request('close_session', { session_id: id });
  });
});

describe('F2: a foreground program that is killed', () => {
  it.each(['SIGKILL', 'SIGTERM', 'SIGSEGV'] as const)(
    'F2: by %s: the command tells the signal, the same shell goes on',
    async (signal) => {
      const id = await client.openSession();
      const shell = await shellPid(id);
      const answer = client.run("sh -c 'echo $$; exec sleep 300'; (exit $?)", id, { stream: true });
      const output = await client.event('command_output', ({ session_id }) => session_id === id);
      process.kill(Number(output.data), signal);
      const code = { SIGKILL: 137, SIGTERM: 143, SIGSEGV: 139 }[signal];
      expect(await answer).toMatchObject({ exit_code: code, signal, session_state: 'alive' });
      expect(await client.run('echo $$', id)).toMatchObject({ stdout: `${shell}\n`, exit_code: 0 });
      await client.request('close_session', { session_id: id });
    },
  );
});

describe('F3: a shell that ends in the middle of a command', () => {
  it.each([
    ['exit 7', 7, '', 'alive'],
    ['echo before; exit 7; echo after', 7, 'before\n', 'alive'],
    ['exec true', 0, '', 'restarted'],
    ["echo before; exec sh -c 'exit 3'", 3, 'before\n', 'restarted'],
    ['kill -9 $$', 137, '', 'restarted'],
    ['echo before; kill -9 $$; echo after', 137, 'before\n', 'restarted'],
    ['set -e; echo before; false; echo after', 1, 'before\n', 'restarted'],
    ['f() { exit 4; }; f; echo after', 4, '', 'alive'],
  ] as const)('F3: %j is answered with its true end', async (command, exitCode, stdout, state) => {
    const id = await client.openSession();
    const { ms, value } = await timed(() => client.run(command, id));
    expect(value).toMatchObject({ exit_code: exitCode, stdout, session_state: state });
    expect(ms).toBeLessThan(RESTART_MS);
    expect(await client.run('echo next', id)).toMatchObject({ stdout: 'next\n', session_state: 'alive' });
    await client.request('close_session', { session_id: id });
  });

  it('F3: commands that wait behind it run in the new shell', async () => {
    const id = await client.openSession();
    const answers = await Promise.all([
      client.run('kill -9 $$', id),
      client.run('echo second', id),
      client.run('echo third', id),
    ]);
    expect(answers.map(({ exit_code, stdout }) => [exit_code, stdout])).toEqual([
      [137, ''],
      [0, 'second\n'],
      [0, 'third\n'],
    ]);
    await client.request('close_session', { session_id: id });
  });

  it('F3: 20 deaths in a row are answered each', async () => {
    const id = await client.openSession();
    for (let time = 0; time < 20; time += 1) {
      expect(await client.run(`echo ${time}; kill -9 $$`, id)).toMatchObject({ exit_code: 137, stdout: `${time}\n` });
    }
    expect((await client.request('get_session', { session_id: id })).restarts).toBe(20);
    await client.request('close_session', { session_id: id });
  });
});

import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { useDaemon } from '../../support/daemon-and-client.js';
import type { TestDaemon } from '../../support/daemon.js';
import { MIB } from '../../support/measure.js';
import { cpuMs } from '../../support/processes.js';
import type { WireClient } from '../../support/wire.js';

let daemon: TestDaemon;
let client: WireClient;

useDaemon((started) => ({ daemon, client } = started));

describe('F20: input that nobody reads', () => {
  /** One message may be 1 MiB at most. */
  const PIECE = 'A'.repeat(256 * 1024 - 1) + '\n';

  it('F20: 3 MB are bounded by INPUT_FULL, cost no CPU, and nothing of them reaches a later session', async () => {
    const [a, started] = [await client.openSession(), 'started\n'];
    const answer = client.run('stty raw -echo; echo started; sleep 300', a, { stream: true });
    await client.event('command_output', ({ session_id, data }) => session_id === a && data === started);
    const answers = [];
    for (let sent = 0; sent < 12; sent += 1)
      answers.push(await client.request('send_input', { session_id: a, data: PIECE }));
    const refused = answers.filter(({ error }) => error !== undefined);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.every(({ error }) => error?.code === 'INPUT_FULL')).toBe(true);
    const accepted = answers.reduce((sum, { error, accepted_bytes }) => sum + (error ? 0 : accepted_bytes), 0);
    expect(accepted).toBeLessThanOrEqual(MIB + PIECE.length);

    const [before, start] = [cpuMs(daemon.pid), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect((cpuMs(daemon.pid) - before) / (performance.now() - start)).toBeLessThan(0.5);

    await client.request('close_session', { session_id: a });
    expect(await answer).toMatchObject({ status: 'killed', killed_by: 'client' });
    for (let time = 0; time < 5; time += 1) {
      const b = await client.openSession();
      const result = await client.run('IFS= read -r -t 0.05 line; echo "$? [$line]"', b);
      expect(result.stdout).toMatch(/^1\d\d \[\]\n$/);
      await client.request('close_session', { session_id: b });
    }
  });

  it('F20: what a command left unread is not read by the next one', async () => {
    const id = await client.openSession();
    const answer = client.run('echo started; sleep 0.3', id, { stream: true });
    await client.event('command_output', ({ session_id }) => session_id === id);
    expect(await client.request('send_input', { session_id: id, data: 'stale\n' })).toEqual({ accepted_bytes: 6 });
    await answer;
    const result = await client.run('IFS= read -r -t 0.05 line; echo "$? [$line]"', id);
    expect(result.stdout).toMatch(/^1\d\d \[\]\n$/);
    await client.request('close_session', { session_id: id });
  });
});

describe('F21: descriptors of a session', () => {
  /** Writes to every descriptor from 3 on, in the shell itself or in a program of its. */
  const WRITE_ALL = 'for n in {3..255}; do echo forged >&$n; done 2>/dev/null; true';

  const SHELLS = ['bash', 'zsh', 'sh'].filter((shell) => existsSync(`/usr/bin/${shell}`));

  it('F21: a program has its three, and no other session’s terminal or pipes, in sessions and alone', async () => {
    const ids = [];
    for (let opened = 0; opened < 24; opened += 1) {
      ids.push(await client.openSession({ shell: SHELLS[opened % SHELLS.length]! }));
      // A descriptor that is free between others in use is what lets some through.
      if (opened % 5 === 4) await client.request('close_session', { session_id: ids.splice(opened % 3, 1)[0]! });
    }
    for (const session of [...ids, undefined, undefined]) {
      const { stdout } = await client.run('ls -l /proc/self/fd /proc/$$/fd; true', session);
      expect(stdout.split('\n').filter((target) => /ptmx/.test(target))).toEqual([]);
    }
    const alone = await client.run('bash', undefined, { args: ['-c', 'readlink /proc/self/fd/{3..200}; true'] });
    expect(alone.stdout.split('\n').filter((target) => /ptmx|shell-adapter/.test(target))).toEqual([]);
    for (const id of ids) await client.request('close_session', { session_id: id });
  });

  it.each([
    ['a program', `bash -c '${WRITE_ALL}'`],
    ['the shell itself', WRITE_ALL],
  ])('F21: what %s writes to every descriptor it could have reaches no other session', async (_, command) => {
    const [a, b] = [await client.openSession(), await client.openSession()];
    const listening = client.run('IFS= read -r -t 1 line; echo "$? [$line]"', a);
    expect(await client.run(command, b, { timeout_ms: 5000 })).toMatchObject({ timed_out: false });
    expect((await listening).stdout).toMatch(/^1\d\d \[\]\n$/);
    for (const id of [a, b]) {
      expect(await client.run('echo next', id)).toMatchObject({ stdout: 'next\n', stderr: '', exit_code: 0 });
      await client.request('close_session', { session_id: id });
    }
  });
});

describe('F22: requests to what has ended', () => {
  it.each([
    ['resize_terminal', { cols: 0, rows: 10 }],
    ['resize_terminal', { cols: NaN, rows: 10 }],
    ['resize_terminal', { cols: 1e9, rows: 10 }],
    ['resize_terminal', { cols: -1, rows: 10 }],
    ['resize_terminal', { cols: 80.5, rows: 10 }],
    ['resize_terminal', { cols: Infinity, rows: 10 }],
  ] as const)('F22: %s with %j is refused as INVALID_REQUEST', async (name, size) => {
    const id = await client.openSession();
    expect((await client.request(name, { session_id: id, ...size })).error?.code).toBe('INVALID_REQUEST');
    await client.request('close_session', { session_id: id });
  });

  it('F22: to an idle or closed session: typed errors', async () => {
    const id = await client.openSession();
    const { command_id } = await client.run('true', id);
    const codes = async () => {
      const answers = await Promise.all([
        client.request('send_input', { session_id: id, data: 'x' }),
        client.request('send_input', { command_id, data: 'x' }),
        client.request('signal_command', { session_id: id, signal: 'SIGKILL' }),
        client.request('signal_command', { command_id, signal: 'SIGKILL' }),
        client.request('resize_terminal', { session_id: id, cols: 80, rows: 24 }),
      ]);
      return answers.map(({ error }) => error?.code);
    };
    const idle = 'NO_RUNNING_COMMAND';
    expect(await codes()).toEqual([idle, idle, idle, idle, undefined]);
    await client.request('close_session', { session_id: id });
    const [gone, unknown] = ['SESSION_NOT_FOUND', 'COMMAND_NOT_FOUND'];
    expect(await codes()).toEqual([gone, unknown, gone, unknown, gone]);
  });

  it('F22: in the moment in which the shell dies: answered, and the daemon and its other sessions go on', async () => {
    const other = await client.openSession();
    for (let time = 0; time < 20; time += 1) {
      const id = await client.openSession();
      const pid = Number((await client.run('echo $$', id)).stdout);
      const running = client.run('echo started; sleep 300', id, { stream: true });
      await client.event('command_output', ({ session_id, data }) => session_id === id && data === 'started\n');
      process.kill(pid, 'SIGKILL');
      const answers = await Promise.all([
        client.request('resize_terminal', { session_id: id, cols: 80 + time, rows: 24 }),
        client.request('send_input', { session_id: id, data: 'x'.repeat(5000) }),
        client.request('signal_command', { session_id: id, signal: 'SIGINT' }),
        client.request('resize_terminal', { session_id: id, cols: 100, rows: 24 }),
      ]);
      expect(answers.every(({ error }) => error?.code !== 'INTERNAL')).toBe(true);
      expect((await running).exit_code).not.toBe(0);
      expect(await client.run('stty size', id)).toMatchObject({ exit_code: 0 });
      await client.request('close_session', { session_id: id });
    }
    expect(await client.run('echo here; stty size', other)).toMatchObject({ stdout: 'here\n50 200\n' });
  });
});

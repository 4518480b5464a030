import { describe, expect, it } from 'vitest';

import type { RequestName } from '../../../../src/core/protocol/requests.js';
import type { SessionEndReason } from '../../../../src/core/protocol/results.js';

import { useDaemon } from '../../../support/daemon-and-client.js';
import { TestDaemon } from '../../../support/daemon.js';
import { PROCESS_HANG_MS } from '../../../support/hang.js';
import { eventually, timed } from '../../../support/measure.js';
import { instanceOf, isRunning, taggedProcesses, wakeUpsOf } from '../../../support/processes.js';
import { askRest } from '../../../support/network/rest.js';
import { WireClient } from '../../../support/wire.js';
import { callCli } from '../../cli/in-process.js';
import { urlVariable } from '../../cli/support.js';

const KILL_GRACE_MS = 300;
/** What an answer may take beyond its time-out and the grace. */
const MARGIN_MS = PROCESS_HANG_MS;

describe('time-outs', () => {
  let daemon: TestDaemon;
  let client: WireClient;

  useDaemon((started) => ({ daemon, client } = started), {
    settings: { adapter: { kill_grace: KILL_GRACE_MS / 1000 } },
  });

  const TREES = [
    ['a program', 'sleep 301'],
    ['a program that ignores SIGTERM and SIGINT', 'sh -c \'trap "" TERM INT; while :; do sleep 301; done\''],
    ['a pipeline', 'sleep 301 | cat'],
    ['background jobs that it waits for', 'sleep 301 & sleep 301 & wait'],
    ['children that called setsid', 'setsid sleep 301 & setsid -w sleep 301'],
    ['nohup', 'nohup sleep 301 >/dev/null 2>&1 & sleep 301'],
    [
      'a double fork',
      'python3 -c "import os,time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); time.sleep(301)"; sleep 301',
    ],
    ['a stopped process', "sh -c 'kill -STOP $$' & sleep 301"],
    ['a busy loop of the shell', 'while :; do :; done'],
    ['a subshell', '(while :; do :; done)'],
    ['a loop that ignores SIGINT', 'trap "" INT; while :; do sleep 0.01; done'],
  ] as const;

  it.each(TREES)('in a session, %s: partial output, 124, the tree dead, the session usable', async (_, command) => {
    const id = await client.openSession();
    await client.run('KEPT=yes', id);
    const { ms, value } = await timed(() => client.run(`echo partial\n${command}`, id, { timeout_ms: 400 }));
    expect(value).toMatchObject({
      stdout: 'partial\n',
      exit_code: 124,
      status: 'timed_out',
      timed_out: true,
      killed_by: 'timeout',
    });
    expect(value.survivors).toBeUndefined();
    expect(ms).toBeLessThan(400 + KILL_GRACE_MS + MARGIN_MS);
    const shell = Number((await client.run('echo $$', id)).stdout);
    const left = taggedProcesses(instanceOf(daemon.pid)).filter(({ command: line }) => /sleep.301/.test(line));
    expect(left).toEqual([]);
    expect(isRunning(shell)).toBe(true);
    await client.request('close_session', { session_id: id });
  });

  it.each(TREES.slice(0, 8))('in a session, after %s: the same shell goes on', async (_, command) => {
    const id = await client.openSession();
    await client.run('KEPT=yes', id);
    expect(await client.run(command, id, { timeout_ms: 100 })).toMatchObject({ session_state: 'alive' });
    expect((await client.run('echo $KEPT', id)).stdout).toBe('yes\n');
    await client.request('close_session', { session_id: id });
  });

  it.each(TREES)('one-shot, %s: partial output, 124, the tree dead', async (_, command) => {
    const { ms, value } = await timed(() => client.run(`echo partial\n${command}`, undefined, { timeout_ms: 400 }));
    expect(value).toMatchObject({ stdout: 'partial\n', exit_code: 124, status: 'timed_out', killed_by: 'timeout' });
    expect(ms).toBeLessThan(400 + KILL_GRACE_MS + MARGIN_MS);
    const left = taggedProcesses(instanceOf(daemon.pid)).filter(({ command: line }) => /sleep.301/.test(line));
    expect(left).toEqual([]);
  });

  it('a program without a shell', async () => {
    const options = { args: ['301'], timeout_ms: 200 };
    const { ms, value } = await timed(() => client.run('sleep', undefined, options));
    expect(value).toMatchObject({ exit_code: 124, status: 'timed_out' });
    expect(ms).toBeLessThan(200 + KILL_GRACE_MS + MARGIN_MS);
  });

  it('no_output_timeout_ms ends what is silent, and not what prints', async () => {
    const id = await client.openSession();
    const prints = 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.15; done';
    for (const session of [id, undefined]) {
      const options = { no_output_timeout_ms: 500 };
      expect(await client.run(prints, session, options)).toMatchObject({ exit_code: 0, stdout: '1\n2\n3\n4\n5\n6\n' });
      const { ms, value } = await timed(() => client.run('echo a; sleep 301', session, options));
      expect(value).toMatchObject({ status: 'timed_out', stdout: 'a\n' });
      expect(ms).toBeLessThan(500 + KILL_GRACE_MS + MARGIN_MS);
    }
    await client.request('close_session', { session_id: id });
  });

  it('command_max_lifetime alone is the default time-out', async () => {
    await using short = await TestDaemon.startCold({
      settings: { adapter: { command_max_lifetime: 0.3, kill_grace: 0.2 } },
    });
    await using other = await WireClient.connect(short.url);
    const id = await other.openSession();
    for (const session of [id, undefined]) {
      expect(await other.run('sleep 301', session)).toMatchObject({ status: 'timed_out', exit_code: 124 });
    }
  });
});

describe('the end of a session', () => {
  /** A limit of 0.9 s in minutes, and the largest of all checks. */
  const SHORT_MINUTES = 0.015;
  const SHORT_MS = SHORT_MINUTES * 60_000;

  async function endedBy(adapter: Record<string, unknown>, use: (client: WireClient, id: string) => Promise<void>) {
    await using daemon = await TestDaemon.startCold({ settings: { adapter: { kill_grace: 0.3, ...adapter } } });
    await using client = await WireClient.connect(daemon.url);
    const { ms, value } = await timed(async () => {
      const id = await client.openSession();
      await client.run('setsid sleep 301 & setsid sleep 302 &', id);
      await use(client, id);
      return { id, event: await client.event('session_closed') };
    });
    const { error } = await client.request('get_session', { session_id: value.id });
    const left = taggedProcesses(instanceOf(daemon.pid)).filter(({ command }) => command.startsWith('sleep'));
    return { ms, event: value.event, error, left };
  }

  it('by session_max_lifetime: told, its processes ended, remembered', async () => {
    const { ms, event, error, left } = await endedBy({ session_max_lifetime: SHORT_MINUTES }, async (client, id) => {
      for (let time = 0; time < 3; time += 1) await client.run('sleep 0.1', id);
    });
    expect(event.reason).toBe('lifetime');
    expect(error).toMatchObject({ code: 'SESSION_NOT_FOUND', details: { reason: 'lifetime' } });
    expect(left).toEqual([]);
    expect(ms).toBeGreaterThanOrEqual(SHORT_MS - 50);
    expect(ms).toBeLessThan(SHORT_MS + MARGIN_MS);
  });

  it('by session_max_lifetime, but only when its running command has ended', async () => {
    const { ms, event } = await endedBy({ session_max_lifetime: SHORT_MINUTES }, async (client, id) => {
      expect(await client.run('sleep 1.5; echo whole', id)).toMatchObject({ stdout: 'whole\n', status: 'completed' });
    });
    expect(event.reason).toBe('lifetime');
    expect(ms).toBeGreaterThanOrEqual(1500);
    expect(ms).toBeLessThan(1500 + MARGIN_MS);
  });

  it('by session_max_lifetime with the running command, though others wait behind it', async () => {
    const { event } = await endedBy({ session_max_lifetime: SHORT_MINUTES }, async (client, id) => {
      const first = client.run('sleep 1.2; echo whole', id);
      const second = client.run('sleep 301', id);
      expect(await first).toMatchObject({ stdout: 'whole\n', status: 'completed' });
      expect(await second).toMatchObject({ status: 'killed', session_state: 'closed' });
    });
    expect(event.reason).toBe('lifetime');
  });

  it.each(['session_max_lifetime', 'session_idle_timeout'])(
    '%s: the daemon rests while the command runs',
    async (key) => {
      // A tenth of a second: nearly all of the command comes after it.
      await using daemon = await TestDaemon.startCold({ settings: { adapter: { [key]: 0.1 / 60 } } });
      await using client = await WireClient.connect(daemon.url);
      const id = await client.openSession();
      const before = wakeUpsOf(daemon.pid);
      await client.run('sleep 1.5', id);
      expect(wakeUpsOf(daemon.pid) - before).toBeLessThan(500);
    },
  );

  it('by session_idle_timeout: counted from the end of the last command', async () => {
    const { ms, event, error, left } = await endedBy({ session_idle_timeout: SHORT_MINUTES }, async (client, id) => {
      await client.run('sleep 1.2', id);
      expect((await client.run('echo still here', id)).stdout).toBe('still here\n');
    });
    expect(event.reason).toBe('idle');
    expect(error).toMatchObject({ code: 'SESSION_NOT_FOUND', details: { reason: 'idle' } });
    expect(left).toEqual([]);
    expect(ms).toBeGreaterThanOrEqual(1200 + SHORT_MS - 50);
    expect(ms).toBeLessThan(1200 + SHORT_MS + MARGIN_MS);
  });

  it('by its client: an EXIT trap runs, the end is remembered, other ids are simply unknown', async () => {
    await using daemon = await TestDaemon.startCold();
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    await client.run(`trap 'echo bye > "${daemon.workspace}/bye"' EXIT`, id);
    expect(await client.request('close_session', { session_id: id })).toEqual({ session_id: id });
    expect((await client.run(`cat "${daemon.workspace}/bye"`)).stdout).toBe('bye\n');
    const ended = { code: 'SESSION_NOT_FOUND', details: { session_id: id, reason: 'client' } };
    for (const answer of [
      await client.request('close_session', { session_id: id }),
      await client.request('get_session', { session_id: id }),
      await client.request('attach_session', { session_id: id }),
      await client.run('echo no', id),
    ]) {
      expect(answer.error).toMatchObject(ended);
    }
    const unknown = await client.request('get_session', { session_id: 'no-such-session' });
    expect(unknown.error).toMatchObject({ code: 'SESSION_NOT_FOUND', details: { session_id: 'no-such-session' } });
    expect(unknown.error?.details).not.toHaveProperty('reason');
  });

  describe('by the earliest of its bounds', () => {
    let daemon: TestDaemon;
    let client: WireClient;

    useDaemon((started) => ({ daemon, client } = started), {
      settings: { adapter: { reconnect_grace: 0.1, session_idle_timeout: 1 / 60, kill_grace: 0.2 } },
    });

    const overHttp = async (name: RequestName, payload: object) =>
      (await askRest(daemon.url, name, payload)).body as { readonly session_id: string };
    const OPENERS: readonly [string, () => Promise<{ readonly session_id: string }>, SessionEndReason, string][] = [
      [
        'opened by the command line',
        async () => JSON.parse((await callCli(['open', '--json'], { env: urlVariable(daemon) })).stdout) as never,
        'idle',
        'nothing was run in it for 1 s (session_idle_timeout)',
      ],
      [
        'opened over HTTP',
        () => overHttp('open_session', {}),
        'idle',
        'nothing was run in it for 1 s (session_idle_timeout)',
      ],
      [
        'opened over HTTP for as long as a client is connected',
        () => overHttp('open_session', { keep_while: 'connected' }),
        'disconnected',
        'no client was connected to it for 0.1 s (reconnect_grace)',
      ],
      [
        'of a client that has gone',
        async () => {
          await using other = await WireClient.connect(daemon.url);
          return await other.request('open_session', {});
        },
        'disconnected',
        'no client was connected to it for 0.1 s (reconnect_grace)',
      ],
    ];

    it.each(OPENERS)('%s: the error says when and why', async (_, open, reason, why) => {
      const opened = await open();
      expect(opened).toMatchObject({ expires_reason: 'idle' });
      await eventually(async () => {
        const { error } = await client.request('get_session', { session_id: opened.session_id });
        expect(error).toMatchObject({ code: 'SESSION_NOT_FOUND', details: { reason } });
        expect(error?.message.replace(/[\d.]+ s ago/, 'N s ago')).toBe(
          `session ${opened.session_id} ended N s ago: ${why}`,
        );
      });
    });

    it('shows it: while a command runs, it is not that of an unused session', async () => {
      const { session_id: id, expires_at: end } = await client.request('open_session', { keep_while: 'used' });
      const running = client.run('read line', id);
      await client.event('awaiting_input', ({ session_id: of }) => of === id);
      const busy = await client.request('get_session', { session_id: id });
      expect(busy).toMatchObject({ keep_while: 'used', expires_reason: 'lifetime' });
      expect(Date.parse(busy.expires_at)).toBeGreaterThan(Date.parse(end));
      await client.request('close_session', { session_id: id });
      await running;
    });
  });

  it('frees its place under max_sessions', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { adapter: { max_sessions: 2 } } });
    await using client = await WireClient.connect(daemon.url);
    const ids = [await client.openSession(), await client.openSession()];
    expect((await client.request('open_session', {})).error?.code).toBe('SESSION_LIMIT');
    await client.request('close_session', { session_id: ids[0]! });
    await client.openSession();
    expect((await client.request('open_session', {})).error?.code).toBe('SESSION_LIMIT');
    await eventually(() => {
      expect(isRunning(daemon.pid)).toBe(true);
    });
  });
});

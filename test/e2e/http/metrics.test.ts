import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { ask } from '../../support/http.js';
import { type Family, readPage, readSamples } from '../../support/network/prometheus.js';
import { type WireAnswer, WireClient } from '../../support/wire.js';

const PREFIX = 'shell_adapter_';

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await TestDaemon.start();
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const scrape = async ({ url } = daemon): Promise<string> => (await ask(new URL('/metrics', url))).text;
const samples = async (): Promise<Map<string, number>> => readSamples(await scrape(), PREFIX);

/** The counters that `work` has moved, and by how much: times and what is looked at left out. */
async function countsOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await samples();
  await work();
  const moved = [...(await samples())].map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const);
  const counts = moved.filter(([name, by]) => /(?:_total|_count)(?:\{|$)/.test(name) && by !== 0);
  return Object.fromEntries(counts.filter(([name]) => !name.startsWith('event_loop')));
}

/** Starts a command that prints and goes on; gives its id once it has printed. */
async function startCommand(client: WireClient, sessionId: string | undefined, command: string): Promise<string> {
  const { command_id } = await client.run(command, sessionId, { background: true, stream: true });
  await client.event('command_output', (event) => event.command_id === command_id);
  return command_id;
}

describe('/metrics counts', () => {
  it('commands by kind and status, their time, and the bytes that they print', async () => {
    await using client = await WireClient.connect(daemon.url);
    const results: WireAnswer<'execute_command'>[] = [];
    const counts = await countsOf(async () => {
      const id = await client.openSession();
      results.push(await client.run('echo hello', id));
      results.push(await client.run('printf oops >&2; false', id));
      results.push(await client.run('sleep 300', id, { timeout_ms: 100 }));
      for (const signal of ['SIGKILL', 'SIGINT'] as const) {
        const command_id = await startCommand(client, id, 'echo started; sleep 300');
        await client.request('signal_command', { command_id, signal });
        results.push(await client.request('wait_command', { command_id }));
      }
      results.push(await client.run('echo one shot'));
      results.push(await client.run('exit 7'));
      results.push(await client.run('sleep 300', undefined, { timeout_ms: 100 }));
      results.push(await client.run('printf a terminal', undefined, { tty: true }));
      await client.request('close_session', { session_id: id });
    });
    const statuses = ['completed', 'completed', 'timed_out', 'killed', 'interrupted'];
    expect(results.map(({ status }) => status)).toEqual([
      ...statuses,
      'completed',
      'completed',
      'timed_out',
      'completed',
    ]);
    const sum = (stream: 'stdout_bytes' | 'stderr_bytes') => results.reduce((total, one) => total + one[stream], 0);
    expect(sum('stdout_bytes')).toBeGreaterThan('hello\nstarted\nstarted\none shot\n'.length);
    const cpuMs = results.reduce((total, { resource_usage: use }) => total + (use.cpu_ms ?? 0), 0);
    expect(counts).toEqual({
      'sessions_opened_total{shell="bash"}': 2,
      'sessions_closed_total{reason="client"}': 2,
      'commands_finished_total{kind="session",status="completed"}': 2,
      'commands_finished_total{kind="session",status="timed_out"}': 1,
      'commands_finished_total{kind="session",status="killed"}': 1,
      'commands_finished_total{kind="session",status="interrupted"}': 1,
      'commands_finished_total{kind="one_shot",status="completed"}': 3,
      'commands_finished_total{kind="one_shot",status="timed_out"}': 1,
      'command_duration_seconds_count{kind="session"}': 5,
      'command_duration_seconds_count{kind="one_shot"}': 4,
      // Without control groups, commands this short are never sampled.
      ...(cpuMs > 0 && { commands_cpu_seconds_total: expect.closeTo(cpuMs / 1000, 4) as number }),
      'output_bytes_total{stream="stdout"}': sum('stdout_bytes'),
      'output_bytes_total{stream="stderr"}': sum('stderr_bytes'),
      'requests_total{request="open_session",outcome="ok"}': 1,
      'requests_total{request="execute_command",outcome="ok"}': 9,
      'requests_total{request="signal_command",outcome="ok"}': 2,
      'requests_total{request="wait_command",outcome="ok"}': 2,
      'requests_total{request="close_session",outcome="ok"}': 1,
      'request_duration_seconds_count{request="open_session"}': 1,
      'request_duration_seconds_count{request="execute_command"}': 9,
      'request_duration_seconds_count{request="signal_command"}': 2,
      'request_duration_seconds_count{request="wait_command"}': 2,
      'request_duration_seconds_count{request="close_session"}': 1,
    });
  });

  it('output as it comes, that of background jobs too', async () => {
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    const counts = await countsOf(async () => {
      const command = 'mkfifo go; { read _ < go; printf 12345; } & echo started';
      const { command_id, stdout } = await client.run(command, id);
      await client.run('echo > go; rm go', id);
      await client.event('command_output', (event) => event.command_id === command_id && event.data === '12345');
      expect(stdout).toBe('started\n');
    });
    expect(counts).toMatchObject({ 'output_bytes_total{stream="stdout"}': 'started\n12345'.length });
  });

  it('seconds, not milliseconds', async () => {
    await using client = await WireClient.connect(daemon.url);
    const before = await samples();
    const { duration_ms } = await client.run('sleep 300', undefined, { timeout_ms: 300 });
    const after = await samples();
    const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    expect(grown('command_duration_seconds_sum{kind="one_shot"}')).toBeCloseTo(duration_ms / 1000, 4);
    expect(grown('command_duration_seconds_bucket{le="0.25",kind="one_shot"}')).toBe(0);
    expect(grown('command_duration_seconds_bucket{le="600",kind="one_shot"}')).toBe(1);
    expect(grown('request_duration_seconds_sum{request="execute_command"}')).toBeGreaterThanOrEqual(duration_ms / 1000);
  });

  it('errors by their code, and names that are none as one', async () => {
    await using client = await WireClient.connect(daemon.url);
    const counts = await countsOf(async () => {
      for (const name of ['reboot', 'Execute_Command', '__proto__', 'unknown', 'x'.repeat(5000)]) {
        expect(await client.socket.emitWithAck(name, {})).toMatchObject({ error: { code: 'UNKNOWN_REQUEST' } });
      }
      await client.run('true', 'session_that_is_not_there');
      await client.request('execute_command', {} as never);
      await client.request('wait_command', { command_id: 'command_that_is_not_there' });
    });
    expect(counts).toEqual({
      'requests_total{request="unknown",outcome="UNKNOWN_REQUEST"}': 5,
      'requests_total{request="execute_command",outcome="SESSION_NOT_FOUND"}': 1,
      'requests_total{request="execute_command",outcome="INVALID_REQUEST"}': 1,
      'requests_total{request="wait_command",outcome="COMMAND_NOT_FOUND"}': 1,
      'request_duration_seconds_count{request="unknown"}': 5,
      'request_duration_seconds_count{request="execute_command"}': 2,
      'request_duration_seconds_count{request="wait_command"}': 1,
    });
  });

  it('new shells in sessions that go on', async () => {
    await using client = await WireClient.connect(daemon.url);
    const counts = await countsOf(async () => {
      const session_id = await client.openSession();
      expect(await client.run('exec true', session_id)).toMatchObject({ session_state: 'restarted' });
      expect(await client.run('kill -9 $$', session_id)).toMatchObject({ session_state: 'restarted' });
      expect((await client.request('reset_session', { session_id })).error).toBeUndefined();
    });
    expect(counts).toMatchObject({
      'shell_restarts_total{cause="ended"}': 2,
      'shell_restarts_total{cause="reset"}': 1,
      'sessions_opened_total{shell="bash"}': 1,
    });
  });

  it('a command that is asked for twice under one id once', async () => {
    await using client = await WireClient.connect(daemon.url);
    const counts = await countsOf(async () => {
      const twice = () => client.run('echo once', undefined, { command_id: 'command_asked_for_twice' });
      await Promise.all([twice(), twice()]);
    });
    expect(counts).toMatchObject({
      'commands_finished_total{kind="one_shot",status="completed"}': 1,
      'output_bytes_total{stream="stdout"}': 'once\n'.length,
      'requests_total{request="execute_command",outcome="ok"}': 2,
    });
  });
});

describe('/metrics tells how things stand', () => {
  it('sessions by shell, commands that run and wait, clients, kept output', async () => {
    await using own = await TestDaemon.startCold();
    await using client = await WireClient.connect(own.url);
    await using other = await WireClient.connect(own.url);
    const gauges = async () => {
      const all = [...readSamples(await scrape(own), PREFIX)];
      return Object.fromEntries(
        all.filter(([name]) => /^(?:sessions_open\{|commands_(?:run|queu)|clients|spool)/.test(name)),
      );
    };
    const ids = [await client.openSession(), await other.openSession(), await client.openSession({ shell: 'sh' })];
    await client.run('head -c 100000 /dev/zero', ids[0]);
    const running = await startCommand(client, ids[1], 'echo started; sleep 300');
    await startCommand(client, undefined, 'echo started; sleep 300');
    const waiting = client.run('echo waited', ids[1]);
    // Requests of one connection are taken in order: the one before this has been queued by then.
    await client.request('list_sessions', {});
    expect(await gauges()).toEqual({
      'sessions_open{shell="bash"}': 2,
      'sessions_open{shell="zsh"}': 0,
      'sessions_open{shell="sh"}': 1,
      'sessions_open{shell="fish"}': 0,
      'sessions_open{shell="pwsh"}': 0,
      'commands_running{kind="session"}': 1,
      'commands_running{kind="one_shot"}': 1,
      commands_queued: 1,
      clients_connected: 2,
      spool_bytes: 100_000 + 2 * 'started\n'.length,
    });
    await client.request('signal_command', { command_id: running, signal: 'SIGKILL' });
    await waiting;
    for (const session_id of ids) await client.request('close_session', { session_id });
    expect(await gauges()).toEqual({
      'sessions_open{shell="bash"}': 0,
      'sessions_open{shell="zsh"}': 0,
      'sessions_open{shell="sh"}': 0,
      'sessions_open{shell="fish"}': 0,
      'sessions_open{shell="pwsh"}': 0,
      'commands_running{kind="session"}': 0,
      'commands_running{kind="one_shot"}': 1,
      commands_queued: 0,
      clients_connected: 2,
      spool_bytes: 'started\n'.length,
    });
  });

  it('the process and its event loop', async () => {
    const families = readPage(await scrape());
    const names = ['process_resident_memory_bytes', 'process_open_fds', 'nodejs_eventloop_lag_seconds'];
    for (const name of names) expect(families.get(name)?.samples[0]?.value, name).toBeGreaterThanOrEqual(0);
    const loop = families.get('shell_adapter_event_loop_seconds_total');
    expect(loop?.samples.map(({ labels }) => labels)).toEqual([{ state: 'active' }, { state: 'idle' }]);
    for (const { value } of loop?.samples ?? []) expect(value).toBeGreaterThan(0);
  });
});

describe('the page', () => {
  const ours = async (): Promise<[string, Family][]> =>
    [...readPage(await scrape())].filter(([name]) => name.startsWith(PREFIX));

  it('is in the text format, by its type and to the letter', async () => {
    const { status, type, text } = await ask(new URL('/metrics', daemon.url));
    expect({ status, type }).toEqual({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' });
    for (const [name, { type: kind, help }] of await ours()) {
      expect(help.length, name).toBeGreaterThan(10);
      expect(name.endsWith('_total'), `${name} is a ${kind}`).toBe(kind === 'counter');
      if (kind === 'histogram') expect(name).toMatch(/_seconds$/);
    }
    expect(text.endsWith('\n')).toBe(true);
  });

  it('has histograms that add up', async () => {
    await using client = await WireClient.connect(daemon.url);
    await client.run('true');
    const histograms = (await ours()).filter(([, { type }]) => type === 'histogram');
    expect(histograms).not.toEqual([]);
    for (const [name, { samples: all }] of histograms) {
      const buckets = all.filter((sample) => sample.name === `${name}_bucket` && sample.labels['le'] === '+Inf');
      const counts = all.filter((sample) => sample.name === `${name}_count`);
      expect(
        buckets.map(({ value }) => value),
        name,
      ).toEqual(counts.map(({ value }) => value));
    }
  });

  it('does not grow with what clients send, and has nothing of it', async () => {
    await using client = await WireClient.connect(daemon.url);
    const send = async (secret: string) => {
      const id = await client.openSession({ label: secret });
      const { command_id } = await client.run(`echo ${secret}`, id, { command_id: `command_${secret}` });
      await client.socket.emitWithAck(secret, { [secret]: secret });
      await client.request('close_session', { session_id: id });
      return [secret, id, command_id];
    };
    await send('first');
    const seriesBefore = [...(await samples()).keys()];
    const sent = (await Promise.all(Array.from({ length: 20 }, (_, index) => send(`secret${index}`)))).flat();
    const page = await scrape();
    expect([...readSamples(page, PREFIX).keys()]).toEqual(seriesBefore);
    for (const text of sent) expect(page).not.toContain(text);
  });
});

describe('http.metrics: false', () => {
  it('takes the page away, and nothing else', async () => {
    await using plain = await TestDaemon.startCold({ settings: { http: { metrics: false } } });
    await using client = await WireClient.connect(plain.url);
    expect(await client.run('echo still here')).toMatchObject({ stdout: 'still here\n' });
    expect(await ask(new URL('/metrics', plain.url))).toMatchObject({
      status: 404,
      body: { error: { code: 'UNKNOWN_REQUEST' } },
    });
    expect(await ask(new URL('/healthz', plain.url))).toMatchObject({ status: 200 });
    expect(await ask(new URL('/readyz', plain.url))).toMatchObject({ status: 200 });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { connect } from '../../src/client/index.js';
import type { Role } from '../../src/core/principal.js';
import type { Topic } from '../../src/core/protocol/requests/subscriptions.js';
import type { EventPayload } from '../../src/core/protocol/results.js';
import { TestDaemon } from '../support/daemon.js';
import { FlakyProxy } from '../support/network/flaky-proxy.js';
import { WireClient } from '../support/wire.js';

/** Shortest interval, in milliseconds: the tests wait for a few of them. */
const TICK_MS = 250;

let daemon: TestDaemon;
const clients: WireClient[] = [];

beforeAll(async () => {
  daemon = await TestDaemon.start();
});
afterAll(async () => {
  for (const client of clients) await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

async function come(role: Role, name: string): Promise<WireClient> {
  const client = await WireClient.connect(daemon.url, ['websocket'], { token: daemon.createToken(role, name) });
  clients.push(client);
  return client;
}

const subscribe = (client: WireClient, ...topics: Topic[]) =>
  client.request('subscribe', { topics, interval_ms: TICK_MS });

/** The last state of a session that a client was told. */
const stateIn = (client: WireClient, id: string) =>
  client
    .all('sessions_changed')
    .flatMap(({ sessions }) => sessions)
    .findLast(({ session_id }) => session_id === id);

describe('subscribe', () => {
  it('tells of a session from its opening to its end, with its last command, health and usage', async () => {
    const [owner, viewer] = [await come('agent', 'worker'), await come('viewer', 'looker')];
    expect(await subscribe(viewer, 'sessions', 'sessions')).toEqual({ topics: ['sessions'], interval_ms: TICK_MS });
    const first = await viewer.event('sessions_changed');
    expect(first).toMatchObject({ sessions: [], closed: [], complete: true });
    const id = await owner.openSession({ label: 'seen' });
    await viewer.until(() => stateIn(viewer, id));
    const { command_id: command } = await owner.run('sleep 300', id, { background: true });
    await viewer.until(() => (stateIn(viewer, id)?.usage?.processes ?? 0) > 1 || undefined);
    expect(stateIn(viewer, id)).toMatchObject({
      owner: 'worker',
      label: 'seen',
      state: 'busy',
      running_command: { command_id: command },
      usage: { cpu_percent: expect.any(Number) as number, at: expect.any(String) as string },
    });
    await owner.request('signal_command', { command_id: command, signal: 'SIGKILL' });
    await viewer.until(() => stateIn(viewer, id)?.last_command?.exit_code === 137 || undefined);
    await viewer.until(() => stateIn(viewer, id)?.usage === null || undefined);
    expect(stateIn(viewer, id)!.peaks.memory_bytes).toBeGreaterThan(0);
    await owner.run('unset PATH', id);
    const { warnings } = await viewer.until(() => {
      const state = stateIn(viewer, id);
      return state && state.warnings.length > 0 ? state : undefined;
    });
    expect(warnings).toEqual([expect.objectContaining({ code: 'PATH_BROKEN', since: expect.any(String) as string })]);
    expect((await owner.request('get_session', { session_id: id })).warnings).toEqual(warnings);
    await owner.request('close_session', { session_id: id });
    const closed = await viewer.until(() => viewer.all('sessions_changed').findLast((event) => event.closed.length));
    expect(closed).toEqual({
      sessions: [],
      closed: [{ session_id: id, reason: 'client', detail: 'a client closed it' }],
    });
  });

  it('tells of each command until its end, and of none that is not to be seen', async () => {
    const [owner, other, operator] = [
      await come('agent', 'runs'),
      await come('agent', 'else'),
      await come('operator', 'op'),
    ];
    await Promise.all([other, operator].map((client) => subscribe(client, 'commands')));
    await Promise.all([other, operator].map((client) => client.event('commands_changed')));
    const ids = await Promise.all(Array.from({ length: 30 }, async () => (await owner.run('echo x')).command_id));
    const ended = () => {
      const told = operator.all('commands_changed').flatMap(({ commands }) => commands);
      const last = new Map(told.map((command) => [command.command_id, command]));
      return ids.every((id) => last.get(id)?.state === 'ended') ? last : undefined;
    };
    const last = await operator.until(ended);
    expect(last.get(ids[0]!)).toMatchObject({
      session_id: null,
      owner: 'runs',
      command: 'echo x',
      status: 'completed',
      exit_code: 0,
      stdout_bytes: 2,
    });
    const listed = await operator.request('list_commands', { owner: 'runs', limit: 20 });
    expect(listed.commands).toHaveLength(20);
    const rest = await operator.request('list_commands', { owner: 'runs', limit: 20, before: listed.next! });
    expect(rest.next).toBeNull();
    const all = [...listed.commands, ...rest.commands].map(({ command_id: id }) => id);
    expect(all.toSorted()).toEqual(ids.toSorted());
    expect((await operator.request('list_commands', { owner: 'runs', state: 'running' })).commands).toEqual([]);
    expect((await other.request('list_commands', {})).commands).toEqual([]);
    expect(other.all('commands_changed')).toEqual([{ commands: [], complete: true }]);
  });

  it('sends at most one event of a topic in a tick, and none without a change', async () => {
    const attempt = Date.now().toString(36);
    const [owner, viewer] = [await come('agent', `busy-${attempt}`), await come('viewer', `counts-${attempt}`)];
    const id = await owner.openSession();
    await subscribe(viewer, 'sessions', 'host');
    await viewer.event('sessions_changed');
    const before = viewer.all('sessions_changed').length;
    const begin = performance.now();
    for (let count = 0; count < 100; count += 1) await owner.run('echo x', id);
    await viewer.until(() => stateIn(viewer, id)?.next_seq && (viewer.all('host_usage').length > 1 || undefined));
    const ticks = Math.ceil((performance.now() - begin) / TICK_MS) + 1;
    expect(viewer.all('sessions_changed').length - before).toBeLessThanOrEqual(ticks + 1);
    const quiet = viewer.all('sessions_changed').length;
    const hosts = viewer.all('host_usage').length;
    await viewer.until(() => viewer.all('host_usage').length > hosts || undefined);
    expect(viewer.all('sessions_changed').length).toBeLessThanOrEqual(quiet + 1);
    await owner.request('close_session', { session_id: id });
  });

  it('measures the machine, and keeps a history of it', async () => {
    const client = await come('viewer', 'measures');
    await subscribe(client, 'host');
    const usage = await client.until(() => client.all('host_usage')[1]);
    expect(usage.cpu_percent).toBeGreaterThanOrEqual(0);
    expect(usage.cpu_percent).toBeLessThanOrEqual(100);
    expect(usage.daemon_rss_bytes).toBeGreaterThan(1_000_000);
    const history = await client.request('host_history', {});
    expect(history.interval_ms).toBe(10_000);
    expect(history.at.length).toBeGreaterThan(0);
    for (const column of [history.load1, history.cpu_percent, history.memory_used_bytes, history.sessions])
      expect(column).toHaveLength(history.at.length);
    expect(history.memory_used_bytes[0]).toBeLessThan(history.memory_bytes);
    expect(history.disk_bytes).toBeGreaterThan(0);
    expect(history.cpus).toBeGreaterThan(0);
    expect((await client.request('host_history', { since: new Date().toISOString() })).at).toEqual([]);
    await subscribe(client);
    const count = client.all('host_usage').length;
    await client.request('describe_access', {});
    expect(client.all('host_usage').length).toBe(count);
  });

  it('sends audit records to operators alone, each once and in order', async () => {
    const [operator, agent] = [await come('operator', 'auditor'), await come('agent', 'audited')];
    expect((await subscribe(agent, 'audit')).error).toMatchObject({
      code: 'FORBIDDEN',
      details: { needs: ['operator', 'admin'] },
    });
    expect((await subscribe(agent, 'nodes')).error?.code).toBe('FORBIDDEN');
    expect((await subscribe(operator, 'nodes')).error?.message).toContain('not available on this daemon');
    await subscribe(operator, 'audit');
    await operator.event('audit_records');
    for (let count = 0; count < 150; count += 1) await agent.run(`: audited ${count}`);
    const records = await operator.until(() => {
      const all = operator.all('audit_records').flatMap((event) => event.records);
      const isWhole = all.some((record) => JSON.stringify(record).includes('audited 149'));
      return isWhole ? operator.all('audit_records') : undefined;
    });
    const seqs = records.flatMap((event) => event.records.map(({ seq }) => seq));
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    expect(new Set(seqs).size).toBe(seqs.length);
    const skipped = records.reduce((sum, event) => sum + event.skipped, 0);
    expect(seqs.at(-1)! - seqs[0]! + 1).toBe(seqs.length + skipped);
  });

  it('is repeated by the client after a lost connection, with everything', async () => {
    const token = daemon.createToken('viewer', 'returns');
    await using proxy = await FlakyProxy.start(daemon.url);
    await using client = await connect(proxy.url, { token, reconnectDelayMs: 20 });
    const firsts: EventPayload<'sessions_changed'>[] = [];
    let tell: () => void = () => undefined;
    client.on('sessions_changed', (event) => {
      if (event.complete) firsts.push(event);
      tell();
    });
    const until = async (count: number) => {
      while (firsts.length < count) await new Promise<void>((resolve) => (tell = resolve));
    };
    await client.subscribe(['sessions'], TICK_MS);
    await until(1);
    proxy.cut();
    await until(2);
    expect(firsts).toHaveLength(2);
  });
});

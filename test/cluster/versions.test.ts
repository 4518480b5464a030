import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { LINK_VERSION } from '../../src/core/cluster/link-messages.js';
import type { NodeInfo } from '../../src/core/protocol/requests/nodes.js';
import type { TestDaemon } from '../support/daemon.js';
import { eventually } from '../support/measure.js';
import { WireClient } from '../support/wire.js';
import type { TestWorker } from './harness/cluster.js';
import { TestCluster } from './harness/cluster.js';
import { hasHistory, makeOlderRelease, OLDER_VERSION } from './harness/older-release.js';
import { dialAs, makeOtherRelease, OTHER_VERSION, OtherWorker } from './harness/other-release.js';
import { canRunRedis, RedisServer } from './harness/redis.js';

let cluster: TestCluster;
let gateway: TestDaemon;
let worker: TestWorker;

async function nodeOf(daemon: TestDaemon, name: string): Promise<NodeInfo | undefined> {
  await using admin = await cluster.connect(daemon, 'admin');
  return (await admin.request('list_nodes')).nodes.find(({ node }) => node === name);
}

beforeAll(async () => {
  cluster = new TestCluster();
  [gateway, worker] = await Promise.all([cluster.startGateway(), cluster.startWorker('worker-1')]);
  await cluster.register(gateway, worker);
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

/** Other releases: this code with a later version, and an older commit. */
const RELEASES = [
  ['a later version', OTHER_VERSION, makeOtherRelease],
  ...(hasHistory ? [['an older commit', OLDER_VERSION, makeOlderRelease] as const] : []),
] as const;

describe.each(RELEASES)('nodes of this release and of %s', (_name, version, makeRelease) => {
  let command: readonly string[];
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'shell-adapter-release-'));
    command = makeRelease(join(folder, 'other'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('work together, whichever the gateway and the worker are', async () => {
    const [other, worked] = await Promise.all([
      cluster.startGateway('gate-2', {}, { command }),
      cluster.startWorker('worker-2', {}, { command }),
    ]);
    for (const each of [worker, worked]) await cluster.register(other, each);
    await cluster.register(gateway, worked);
    for (const daemon of [gateway, other]) {
      expect((await nodeOf(daemon, 'worker-2'))?.version).toBe(version);
      await using client = await cluster.connect(daemon);
      for (const node of ['worker-1', 'worker-2']) await useNode(client, node);
      expect(await client.request('list_sessions')).toEqual({ sessions: [] });
    }
    await using admin = await cluster.connect(gateway, 'admin');
    await admin.request('remove_node', { node: 'worker-2' });
    await Promise.all([other.stop(), worked.daemon.stop()]);
  });

  it.skipIf(!canRunRedis)('work together as equal nodes, with one Redis', async () => {
    await using redis = await RedisServer.start();
    const settings = { cluster: { redis_url: redis.url, lease: 3, drain_timeout: 1 } };
    const [first, second] = [
      await cluster.startNode('node-1', settings),
      await cluster.startNode('node-2', settings, { command }),
    ];
    const token = first.createToken('admin', 'of-both');
    for (const daemon of [first, second]) {
      await using client = await eventually(() => WireClient.connect(daemon.url, ['websocket'], { token }));
      await eventually(async () => {
        const { nodes } = await client.request('list_nodes');
        expect(nodes.map(({ node, state }) => `${node} ${state}`).sort()).toEqual(['node-1 live', 'node-2 live']);
      });
      expect((await client.request('list_nodes')).nodes.find(({ node }) => node === 'node-2')?.version).toBe(version);
      for (const node of ['node-1', 'node-2']) await useNode(client, node);
    }
    await Promise.all([first.stop(), second.stop()]);
  });
});

/** Uses a node by all that clients mostly do. */
async function useNode(client: WireClient, node: string): Promise<void> {
  const id = await client.openSession({ placement: { node } });
  const streamed = await client.run('echo both', id, { stream: true });
  expect(streamed).toMatchObject({ stdout: 'both\n' });
  expect(client.all('command_output').at(-1)).toMatchObject({ session_id: id, data: 'both\n' });
  const { command_id } = streamed;
  const { data, eof } = await client.request('read_output', { command_id });
  expect([String(data), eof]).toEqual(['both\n', true]);
  expect((await client.request('search_output', { command_id, pattern: 'bo' })).matches).toHaveLength(1);
  const waiting = await client.run('read -r line; echo "got $line"', id, { background: true });
  await client.request('send_input', { command_id: waiting.command_id, data: 'it\n' });
  expect(await client.request('wait_command', { command_id: waiting.command_id })).toMatchObject({ exit_code: 0 });
  // A program that says that it has the terminal: the shell would take a signal before that for itself.
  const sleeps = `sh -c 'echo asleep; exec sleep 600'`;
  const sleeping = await client.run(sleeps, id, { background: true, stream: true });
  await client.event('command_output', ({ command_id: ofId }) => ofId === sleeping.command_id);
  await client.request('signal_command', { command_id: sleeping.command_id, signal: 'SIGTERM' });
  expect(await client.request('wait_command', { command_id: sleeping.command_id })).toMatchObject({
    signal: 'SIGTERM',
  });
  const { commands } = await client.request('list_commands', { session_id: id });
  expect(commands).toHaveLength(3);
  const path = `written-${randomUUID()}`;
  expect(await client.request('write_file', { path, data: 'text', node })).not.toHaveProperty('error');
  expect(String((await client.request('read_file', { path, node })).data)).toBe('text');
  const { entries } = await client.request('list_directory', { path: '.', node });
  expect(entries.map(({ name }) => name)).toContain(path);
  await client.request('close_session', { session_id: id });
}

describe('a worker', () => {
  it('leaves out what it does not know of the messages of a gateway', async () => {
    const { socket, reply } = await dialAs('gate-9', worker, cluster);
    expect(reply).toMatchObject({ node: 'worker-1', link_version: LINK_VERSION });
    const events: unknown[] = [];
    socket.on('event', (event: unknown) => events.push(event));
    const principal = { id: 'token_later', name: 'later', role: 'agent', is_local_peer: false, future: 1 };
    const request = (name: string, payload: object) =>
      socket.emitWithAck('request', { client: 'c', name, payload, future: true }) as Promise<Record<string, unknown>>;
    socket.emit('future', { any: 'thing' });
    socket.emit('client', { client: 'c', principal, from: 'a test', future: 1 });
    const { session_id } = await request('open_session', {});
    const answer = await request('execute_command', { session_id, command: 'echo later', stream: true });
    expect(answer).toMatchObject({ stdout: 'later\n' });
    expect(events).toContainEqual(expect.objectContaining({ client: 'c', name: 'command_output' }));
    expect(await request('future_request', {})).toMatchObject({ error: { code: 'UNKNOWN_REQUEST' } });
    await request('close_session', { session_id });
    expect(socket.connected).toBe(true);
    socket.disconnect();
  });

  it('refuses a gateway with another version of links, and says which', async () => {
    const { socket, reply } = await dialAs('gate-9', worker, cluster, LINK_VERSION + 1);
    expect(reply).toEqual({
      refused: `this node speaks version ${LINK_VERSION} of links, not ${LINK_VERSION + 1}`,
    });
    await eventually(() => {
      expect(socket.connected).toBe(false);
    });
  });
});

describe('a gateway', () => {
  const session_id = 'session_worker-9-a1b2c3d.AAAAAAAAAAAAAAAAAAAAAA';

  it('leaves out what it does not know of the messages of a worker, and passes on what is for its clients', async () => {
    await using other = await OtherWorker.start('worker-9', cluster, { answer: () => ({ session_id }) });
    const node = await cluster.register(gateway, { name: 'worker-9', url: other.url });
    expect(node).toMatchObject({ state: 'live', version: OTHER_VERSION, problem: null });
    await using client = await cluster.connect(gateway);
    const opened = await client.request('open_session', { placement: { node: 'worker-9' } });
    expect(opened).toMatchObject({ session_id, future: { deep: [1, 2] } });
    expect(client.events).toContainEqual({ name: 'future_event', payload: { of: 'open_session' } });
    await using admin = await cluster.connect(gateway, 'admin');
    await admin.request('remove_node', { node: 'worker-9' });
  });

  it('does not connect to a worker with another version of links, and its list of nodes says why', async () => {
    await using other = await OtherWorker.start('worker-9', cluster, {
      linkVersion: LINK_VERSION + 1,
      answer: () => ({ session_id }),
    });
    const registered = await cluster.register(gateway, { name: 'worker-9', url: other.url });
    const problem = `it speaks version ${LINK_VERSION + 1} of links, this node ${LINK_VERSION}`;
    expect(registered).toMatchObject({ state: 'suspect', problem });
    expect(await nodeOf(gateway, 'worker-9')).toMatchObject({ problem });
    await using client = await cluster.connect(gateway);
    const opened = await client.openSession();
    expect(opened).toMatch(/^session_worker-1-/);
    await client.request('close_session', { session_id: opened });
    await using admin = await cluster.connect(gateway, 'admin');
    await admin.request('remove_node', { node: 'worker-9' });
  });

  it.skipIf(!canRunRedis)(
    'reads what another release has written to Redis, and leaves out nodes of unknown roles',
    async () => {
      await using redis = await RedisServer.start();
      const reading = await cluster.startGateway('gate-3', { redis_url: redis.url });
      await using other = await OtherWorker.start('worker-9', cluster, { answer: () => ({ session_id }) });
      const lease = {
        ...{ node: 'worker-9', incarnation: 'a1b2c3d', role: 'worker', url: other.url, labels: {}, capacity: 10 },
        ...{ one_shots: 0, is_draining: false, version: OTHER_VERSION, link_version: LINK_VERSION, instance_id: 'x' },
        future: { deep: true },
      };
      const leases = [lease, { ...lease, node: 'strange', role: 'future' }];
      await redis.ask(async (asked) => {
        for (const each of leases) {
          await asked.set(`{shell-adapter}:node:${each.node}`, JSON.stringify(each), 'PX', 60_000);
          await asked.zadd('{shell-adapter}:nodes', Date.now() + 60_000, each.node);
        }
      });
      await eventually(async () => {
        expect(await nodeOf(reading, 'worker-9')).toMatchObject({ state: 'live', version: OTHER_VERSION });
      });
      expect(await nodeOf(reading, 'strange')).toBeUndefined();
      await using client = await cluster.connect(reading);
      expect(await client.openSession()).toBe(session_id);
      await reading.stop();
    },
  );
});

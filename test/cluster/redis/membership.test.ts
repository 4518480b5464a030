import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { NodeInfo } from '../../../src/core/protocol/requests/nodes.js';
import type { TestDaemon } from '../../support/daemon.js';
import { FlakyProxy } from '../../support/network/flaky-proxy.js';
import { eventually } from '../../support/measure.js';
import { TestCluster } from '../harness/cluster.js';
import { canRunRedis, freePort, RedisServer } from '../harness/redis.js';

/** Short, so that what waits for the end of a lease takes no longer; in seconds. */
const LEASE = 1.5;

let redis: RedisServer;
let cluster: TestCluster;
let gateway: TestDaemon;

const logOf = ({ directory }: TestDaemon): string => readFileSync(join(directory, 'log'), 'utf8');

const nodesOf = async (daemon: TestDaemon): Promise<Record<string, NodeInfo['state']>> => {
  await using admin = await cluster.connect(daemon, 'admin');
  const { nodes } = await admin.request('list_nodes');
  return Object.fromEntries(nodes.map(({ node, state }) => [node, state]));
};

describe.skipIf(!canRunRedis)('nodes with Redis', () => {
  beforeAll(async () => {
    redis = await RedisServer.start();
    cluster = new TestCluster({ redis_url: redis.url, lease: LEASE });
    await cluster.startWorker('worker-1', { cluster: { labels: { zone: 'a' } } });
    gateway = await cluster.startGateway();
  });

  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  it('find each other, and gateways that start later have their workers at once', async () => {
    await using client = await cluster.connect(gateway);
    expect(await client.openSession()).toMatch(/^session_worker-1-/);
    const second = await cluster.startGateway('gate-2');
    expect(logOf(second)).not.toContain('a node is connected');
    expect(await nodesOf(second)).toEqual({ 'gate-2': 'live', 'worker-1': 'live' });
    expect(await (await fetch(`${second.url}/readyz`)).json()).toEqual({ status: 'ready', registry: 'available' });
    // All nodes have to know an operator.
    await eventually(() => {
      expect(logOf(second)).toContain('a node is connected');
    });
    await second.stop();
  });

  it('write keys with the prefix, of one slot, that expire', async () => {
    const keys = await redis.ask(async (asked) => {
      const names = await asked.keys('*');
      return Promise.all(names.map(async (name) => [name, await asked.pttl(name)] as const));
    });
    expect(keys.map(([name]) => name)).toContain('{shell-adapter}:node:worker-1');
    for (const [name, left] of keys) {
      expect(name).toMatch(/^\{shell-adapter\}:/);
      if (!/:(nodes|registered|tokens|tokens:version)$/.test(name)) expect(left, name).toBeGreaterThan(0);
    }
  });

  it('that have stopped are gone at once, and those that come are found within a beat', async () => {
    const other = await cluster.startWorker('worker-2');
    await eventually(async () => {
      expect(await nodesOf(gateway)).toMatchObject({ 'worker-2': 'live' });
    });
    await other.daemon.stop();
    expect(await redis.ask((asked) => asked.exists('{shell-adapter}:node:worker-2'))).toBe(0);
    await eventually(async () => {
      expect(await nodesOf(gateway)).not.toHaveProperty('worker-2');
    });
  });

  it('with the name of one that runs do not start', async () => {
    await expect(cluster.startWorker('worker-1')).rejects.toThrow(
      /cluster\.name: is worker-1, the name of a daemon that runs already \(incarnation \w{7}, and is reached at https:/,
    );
  });

  it('that were killed start again without waiting, and their sessions are gone', async () => {
    const first = await cluster.startWorker('worker-3');
    await using client = await cluster.connect(gateway);
    await eventually(async () => {
      expect(await nodesOf(gateway)).toMatchObject({ 'worker-3': 'live' });
    });
    const id = await client.openSession({ placement: { node: 'worker-3' } });
    first.daemon.signal('SIGKILL');
    await first.daemon.exited;
    const again = await cluster.startWorker('worker-3');
    await eventually(async () => {
      expect((await client.request('get_session', { session_id: id })).error?.code).toBe('SESSION_NOT_FOUND');
    });
    await eventually(async () => {
      expect(await client.openSession({ placement: { node: 'worker-3' } })).toMatch(/^session_worker-3-/);
    });
    await again.daemon.stop();
  });

  it('that a gateway cannot reach are not lost while they renew their lease', async () => {
    const port = await freePort();
    await using proxy = await FlakyProxy.start(`https://127.0.0.1:${port}`);
    const link_url = proxy.url.replace('http:', 'https:');
    const away = await cluster.startWorker('worker-4', { cluster: { link_port: port, link_url } });
    await using client = await cluster.connect(gateway);
    const id = await eventually(() => client.openSession({ placement: { node: 'worker-4' } }));
    proxy.refuse(true);
    proxy.cut();
    await client.event('session_detached', ({ session_id }) => session_id === id);
    // Both wait for a lease, one after the other.
    for (let requests = 0; requests < 2; requests += 1) {
      const { error } = await client.request('get_session', { session_id: id });
      expect(error).toMatchObject({ code: 'NODE_UNREACHABLE', details: { node: 'worker-4', retry_safe: true } });
    }
    proxy.refuse(false);
    await client.event('session_reattached', ({ session_id }) => session_id === id);
    expect(await client.run('echo still', id)).toMatchObject({ stdout: 'still\n' });
    expect(client.all('session_closed')).toEqual([]);
    await client.request('close_session', { session_id: id });
    await away.daemon.stop();
  });

  it('that are registered are known to all gateways, while one of them keeps their lease', async () => {
    const lone = await cluster.startWorker('lone', { cluster: { redis_url: undefined } });
    const second = await cluster.startGateway('gate-2');
    await cluster.register(gateway, lone, { sandbox: 'a1' });
    await using client = await cluster.connect(second);
    const id = await eventually(() => client.openSession({ placement: { labels: { sandbox: 'a1' } } }));
    expect(id).toMatch(/^session_lone-/);
    const lease = await eventually(async () => {
      const text = await redis.ask((asked) => asked.get('{shell-adapter}:node:lone'));
      return JSON.parse(text ?? '') as Record<string, unknown>;
    });
    expect(lease).toMatchObject({ kept_by: expect.stringMatching(/^gate/) as string, labels: { sandbox: 'a1' } });
    await using admin = await cluster.connect(second, 'admin');
    expect((await admin.request('remove_node', { node: 'worker-1' })).error?.message).toContain('on its own');
    expect((await admin.request('remove_node', { node: 'lone' })).error).toBeUndefined();
    await eventually(async () => {
      expect(await nodesOf(gateway)).not.toHaveProperty('lone');
    });
    await Promise.all([second.stop(), lone.daemon.stop()]);
  });
});

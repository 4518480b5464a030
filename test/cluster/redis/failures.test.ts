import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { TestDaemon } from '../../support/daemon.js';
import { HANG_MS } from '../../support/hang.js';
import { eventually, timed } from '../../support/measure.js';
import type { WireClient } from '../../support/wire.js';
import { TestCluster } from '../harness/cluster.js';
import { canRunRedis, RedisServer } from '../harness/redis.js';

let redis: RedisServer;
let cluster: TestCluster;
let gateway: TestDaemon;
let client: WireClient;
let sessionId: string;

const readiness = async ({ url }: TestDaemon = gateway) => {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, ...((await answer.json()) as object) };
};

const openFails = async (): Promise<void> => {
  const { ms, value } = await timed(() => client.request('open_session', {}));
  expect(value.error).toMatchObject({
    code: 'REGISTRY_UNAVAILABLE',
    details: { retry_safe: true },
  });
  expect(ms).toBeLessThan(HANG_MS);
};

const opensAgain = () => eventually(() => client.openSession());

const unavailable = () =>
  eventually(async () => {
    expect(await readiness()).toEqual({
      status: 'ready',
      registry: 'unavailable',
    });
  });

describe.skipIf(!canRunRedis)('a cluster whose Redis', () => {
  beforeAll(async () => {
    redis = await RedisServer.start();
    cluster = new TestCluster({ redis_url: redis.url, lease: 3 });
    await cluster.startWorker('worker-1');
    gateway = await cluster.startGateway();
    client = await cluster.connect(gateway);
    sessionId = await client.openSession();
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  it('is killed goes on with what is known, and is whole again within a beat when it comes back empty', async () => {
    await redis.kill();
    await unavailable();
    await openFails();
    expect(await client.run('echo on', sessionId)).toMatchObject({
      stdout: 'on\n',
    });
    expect(await client.run('echo alone')).toMatchObject({
      stdout: 'alone\n',
      warnings: [],
    });
    const unclaimed = await client.run('echo once', undefined, {
      command_id: 'unclaimed',
    });
    expect(unclaimed).toMatchObject({
      stdout: 'once\n',
      warnings: [{ code: 'NO_CLAIM' }],
    });
    const unknown = 'session_other-1234567.AAAAAAAAAAAAAAAAAAAAAA';
    const asked = await client.request('get_session', { session_id: unknown });
    expect(asked.error).toMatchObject({
      code: 'REGISTRY_UNAVAILABLE',
      details: { node: 'other', retry_safe: true, maybe_executed: false },
    });
    await redis.start();
    const other = await opensAgain();
    const held = await redis.ask(async (asking) => {
      const [key] = await asking.keys('{shell-adapter}:sessions:worker-1-*');
      return asking.zrangebyscore(key ?? '', '-inf', '+inf');
    });
    expect(held.toSorted()).toEqual([sessionId, other].toSorted());
    const lost = await client.request('get_session', { session_id: unknown });
    expect(lost.error).toMatchObject({
      code: 'SESSION_NOT_FOUND',
      details: { reason: 'node_lost' },
    });
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toMatch(/^shell_adapter_cluster_registry_errors_total [1-9]/m);
    expect(metrics).toMatch(/^shell_adapter_cluster_lease_age_seconds [\d.]+$/m);
  });

  it('is frozen fails after a second, then at once, and goes on when it thaws', async () => {
    redis.signal('SIGSTOP');
    try {
      await openFails();
      await openFails();
      expect(await client.run('echo on', sessionId)).toMatchObject({
        stdout: 'on\n',
      });
    } finally {
      redis.signal('SIGCONT');
    }
    await opensAgain();
  });

  it('is not there at the start comes to know of it later', async () => {
    await using late = await RedisServer.prepare();
    const settings = { redis_url: late.url };
    const [lone, worker] = await Promise.all([
      cluster.startGateway('gate-2', settings),
      cluster.startWorker('worker-2', { cluster: settings }),
    ]);
    expect(await readiness(worker.daemon)).toEqual({
      status: 'ready',
      registry: 'unavailable',
    });
    expect(await readiness(lone)).toMatchObject({
      reason: 'NO_CAPACITY',
      registry: 'unavailable',
    });
    await late.start();
    await eventually(async () => {
      expect(await readiness(lone)).toEqual({
        status: 'ready',
        registry: 'available',
      });
    });
    await Promise.all([lone.stop(), worker.daemon.stop()]);
  });

  it('wants another password starts, and its log says so', async () => {
    await using secured = await RedisServer.start({
      password: 'correct-horse',
    });
    const url = secured.url.replace('correct', 'wrong');
    const lone = await cluster.startGateway('gate-3', { redis_url: url });
    expect(await readiness(lone)).toMatchObject({ registry: 'unavailable' });
    const log = readFileSync(join(lone.directory, 'log'), 'utf8');
    expect(log).toMatch(/the registry of the cluster does not answer.*WRONGPASS/);
    expect(log).not.toContain('wrong-horse');
    await lone.stop();
  });
});

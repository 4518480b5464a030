import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { eventually, timed } from '../support/measure.js';
import { FlakyProxy } from '../support/network/flaky-proxy.js';
import type { WireClient } from '../support/wire.js';
import { TestCluster } from './harness/cluster.js';
import { canRunRedis, freePort, RedisServer } from './harness/redis.js';

/** As between two continents, in each direction, in milliseconds. */
const DELAY_MS = 200;
/** Bytes of a stream: many windows of a link. */
const BYTES = 3_000_000;

let redis: RedisServer;
let proxies: readonly FlakyProxy[];
let cluster: TestCluster;
let client: WireClient;

describe.skipIf(!canRunRedis)('a worker and Redis that are far away', () => {
  beforeAll(async () => {
    redis = await RedisServer.start();
    const port = await freePort();
    const link = await FlakyProxy.start(`https://127.0.0.1:${port}`);
    const registry = await FlakyProxy.start(redis.url.replace('redis:', 'http:'));
    proxies = [link, registry];
    for (const proxy of proxies) proxy.delay(DELAY_MS);
    cluster = new TestCluster({ redis_url: registry.url.replace('http:', 'redis:') });
    const [gateway] = await Promise.all([
      cluster.startGateway(),
      cluster.startWorker('worker-1', { cluster: { link_port: port, link_url: link.url.replace('http:', 'https:') } }),
    ]);
    client = await cluster.connect(gateway);
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
    for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  it('open sessions, and run each command in one exchange', async () => {
    const id = await eventually(() => client.openSession());
    const times: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      const { ms, value } = await timed(() => client.run('echo far', id));
      expect(value).toMatchObject({ stdout: 'far\n' });
      times.push(ms);
    }
    const fastest = Math.min(...times);
    expect(fastest).toBeGreaterThan(2 * DELAY_MS - 5);
    // A second exchange would take as long again.
    expect(fastest).toBeLessThan(4 * DELAY_MS - 5);
    const alone = await client.run('echo claimed', undefined, { command_id: crypto.randomUUID() });
    expect(alone).toMatchObject({ stdout: 'claimed\n', warnings: [] });
    await client.request('close_session', { session_id: id });
  });

  it('give long output whole, and keep their link', async () => {
    const id = await eventually(() => client.openSession());
    const command_id = crypto.randomUUID();
    await client.run(`head -c ${BYTES} /dev/zero | tr '\\0' x`, id, { command_id, stream: true });
    const size = () =>
      client
        .all('command_output')
        .reduce((sum, event) => sum + (event.command_id === command_id ? event.data.length : 0), 0);
    await client.until(() => (size() === BYTES ? true : undefined), 20_000);
    expect(client.all('session_detached')).toEqual([]);
    expect(client.all('output_gap')).toEqual([]);
    await client.request('close_session', { session_id: id });
  });
});

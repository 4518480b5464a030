import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { connect } from '../../../src/client/index.js';
import { QUICK } from '../../support/network/broken-connection.js';
import type { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { FlakyProxy } from '../../support/network/flaky-proxy.js';
import { WireClient } from '../../support/wire.js';
import { TestCluster, type TestWorker } from '../harness/cluster.js';
import { canRunRedis, RedisServer } from '../harness/redis.js';

/** In seconds: a frozen worker is lost soon. */
const LEASE = 3;
/** Lines of a command that runs while a gateway is frozen. */
const LINES = 40;

let redis: RedisServer;
let cluster: TestCluster;
let gateways: readonly TestDaemon[];
let worker: TestWorker;

/** A token that counts at both gateways. */
async function sharedToken(): Promise<string> {
  const token = gateways[0]!.createToken('agent', crypto.randomUUID());
  for (const { url } of gateways) {
    const client = await eventually(() => WireClient.connect(url, ['websocket'], { token }));
    await client[Symbol.asyncDispose]();
  }
  return token;
}

describe.skipIf(!canRunRedis)('in a cluster with Redis', () => {
  beforeAll(async () => {
    redis = await RedisServer.start();
    cluster = new TestCluster({ redis_url: redis.url, lease: LEASE, drain_timeout: 0.1 });
    worker = await cluster.startWorker('worker-1');
    gateways = await Promise.all(['gate-1', 'gate-2'].map((name) => cluster.startGateway(name)));
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  it('a client of a frozen gateway goes on at another one, where its command has run once and its output is whole', async () => {
    const token = await sharedToken();
    const [frozen, other] = gateways as [TestDaemon, TestDaemon];
    await using balancer = await FlakyProxy.start(frozen.url);
    await using client = await connect(balancer.url, { ...QUICK, token });
    const session = await client.openSession();
    const runs = join(cluster.directory, `runs-${crypto.randomUUID()}`);
    const loop = `echo run >> '${runs}'; for i in $(seq ${LINES}); do echo $i; sleep 0.05; done`;
    const command = session.execute(loop, { stream: true });
    let text = '';
    try {
      for await (const { data } of command) {
        if (text === '') {
          frozen.signal('SIGSTOP');
          balancer.aim(other.url);
          balancer.cut();
        }
        text += String(data);
      }
      expect(text).toBe(Array.from({ length: LINES }, (_, i) => `${i + 1}\n`).join(''));
      expect(await command).toMatchObject({ exit_code: 0, stdout: text });
      expect(readFileSync(runs, 'utf8')).toBe('run\n');
      expect(await session.execute('echo on')).toMatchObject({ stdout: 'on\n' });
    } finally {
      frozen.signal('SIGCONT');
    }
    // The thawed gateway knows the session too, and takes nothing away.
    await using second = await connect(frozen.url, { ...QUICK, token });
    expect((await second.request('list_sessions', {})).sessions).toMatchObject([{ session_id: session.id }]);
    expect(await session.execute('echo still')).toMatchObject({ stdout: 'still\n' });
    await session.close();
  });

  it('a worker that was frozen for longer than its lease has its sessions again, as a machine that was paused', async () => {
    await using client = await WireClient.connect(gateways[0]!.url, ['websocket'], { token: await sharedToken() });
    const id = await eventually(() => client.openSession());
    await client.run('kept=yes', id);
    worker.daemon.signal('SIGSTOP');
    try {
      await client.event('session_closed', ({ session_id, reason }) => session_id === id && reason === 'node_lost');
      await eventually(async () => {
        expect((await client.request('get_session', { session_id: id })).error).toMatchObject({
          code: 'SESSION_NOT_FOUND',
          details: { reason: 'node_lost', node: 'worker-1' },
        });
      });
    } finally {
      worker.daemon.signal('SIGCONT');
    }
    await eventually(async () => {
      expect(await client.run('echo $kept', id)).toMatchObject({ stdout: 'yes\n' });
    });
    const keys = await redis.ask((asked) => asked.keys('{shell-adapter}:sessions:worker-1-*'));
    await eventually(async () => {
      expect(await redis.ask((asked) => asked.zrange(keys[0] ?? '', '0', '-1'))).toContain(id);
    });
    await client.request('close_session', { session_id: id });
  });
});

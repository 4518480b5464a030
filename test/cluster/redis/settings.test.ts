import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import type { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';
import { TestCluster } from '../harness/cluster.js';
import { canRunRedis, RedisServer } from '../harness/redis.js';

/** In seconds: short, so that what is lost counts as lost soon. */
const LEASE = 3;

const ready = (gateway: TestDaemon) =>
  eventually(async () => {
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  });

describe.skipIf(!canRunRedis)('gateways with Redis, whose tokens are files', () => {
  it('have tokens of their own, and the same nodes', async () => {
    await using redis = await RedisServer.start();
    await using cluster = new TestCluster({ redis_url: redis.url, tokens: 'files', drain_timeout: 0.1 });
    const [one, other] = await Promise.all(['gate-1', 'gate-2'].map((name) => cluster.startGateway(name)));
    await cluster.startWorker('worker-1');
    await Promise.all([ready(one!), ready(other!)]);
    const first = ({ directory }: TestDaemon) => join(directory, 'state', 'token');
    expect([existsSync(first(one!)), existsSync(first(other!))]).toEqual([true, true]);
    const token = one!.createToken('agent', 'own');
    const enter = ({ url }: TestDaemon) => WireClient.connect(url, ['websocket'], { token });
    await using client = await enter(one!);
    expect(await client.run('echo in')).toMatchObject({ stdout: 'in\n' });
    await expect(enter(other!)).rejects.toThrow();
    expect(await redis.ask((asked) => asked.keys('{shell-adapter}:tokens*'))).toEqual([]);
  });
});

describe.skipIf(!canRunRedis)('a Redis that is reached by TLS', () => {
  it('is used with an authority that the process trusts, and with no other', async () => {
    await using cluster = new TestCluster({ lease: LEASE, drain_timeout: 0.1 });
    const tls = cluster.authority.issue('redis', 'serverAuth');
    await using redis = await RedisServer.start({ tls, password: 'kept-secret' });
    const settings = { redis_url: redis.url };
    const trusting = { env: { NODE_EXTRA_CA_CERTS: tls.ca } };
    const gateway = await cluster.startGateway('gate-1', settings, trusting);
    await cluster.startWorker('worker-1', { cluster: settings }, trusting);
    await ready(gateway);
    await using client = await cluster.connect(gateway);
    expect(await client.openSession()).toMatch(/^session_worker-1-/);

    const distrustful = await cluster.startGateway('gate-2', settings);
    const answer = await fetch(`${distrustful.url}/readyz`);
    expect(await answer.json()).toMatchObject({ reason: 'NO_CAPACITY', registry: 'unavailable' });
    const log = readFileSync(join(distrustful.directory, 'log'), 'utf8');
    expect(log).toMatch(/the registry of the cluster does not answer.*certificate/);
    expect(log).not.toContain('kept-secret');
  });
});

describe.skipIf(!canRunRedis)('the places of a worker that is killed', () => {
  it('are free again after two leases at most', async () => {
    await using redis = await RedisServer.start();
    await using cluster = new TestCluster({ redis_url: redis.url, lease: LEASE, drain_timeout: 0.1 });
    const options = { settings: { auth: { max_sessions_per_token: 1 } } };
    const gateway = await cluster.startGateway('gate-1', {}, options);
    const [killed] = await Promise.all(['worker-1', 'worker-2'].map((name) => cluster.startWorker(name)));
    await using client = await cluster.connect(gateway);
    const open = (node: string) => client.request('open_session', { placement: { node } });
    const first = await eventually(() => client.openSession({ placement: { node: 'worker-1' } }));
    await eventually(async () => {
      expect((await open('worker-2')).error?.code).toBe('SESSION_LIMIT');
    });
    killed!.daemon.signal('SIGKILL');
    await killed!.daemon.exited;
    await client.event('session_closed', ({ session_id: id, reason }) => id === first && reason === 'node_lost');
    await eventually(async () => {
      expect((await open('worker-2')).session_id).toMatch(/^session_worker-2-/);
    });
  });
});

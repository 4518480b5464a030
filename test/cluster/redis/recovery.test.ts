import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { cpuMs } from '../../support/processes.js';
import { WireClient } from '../../support/wire.js';
import { TestCluster, type TestWorker } from '../harness/cluster.js';
import { canRunRedis, RedisServer } from '../harness/redis.js';

/** Short, so that beats come often; in seconds. */
const LEASE = 3;
/** How long the CPU time of the nodes is taken, in milliseconds: some attempts to connect, and some beats. */
const WATCHED_MS = 4000;
/** Most CPU time of a node meanwhile, as a share: ten times what is needed. Attempts that do not pause take all of a CPU. */
const MOST_CPU = 0.05;
/** Time for what the nodes write again, in milliseconds. */
const REWRITTEN_MS = 10_000;

let redis: RedisServer;
let cluster: TestCluster;
let gateways: readonly TestDaemon[];
let workers: readonly TestWorker[];

/** One client at each gateway, both with the same token. */
async function connectToBoth(): Promise<WireClient[]> {
  const secret = gateways[0]!.createToken('agent', `both-${randomUUID()}`);
  const connect = ({ url }: TestDaemon) => WireClient.connect(url, ['websocket'], { token: secret });
  return Promise.all(gateways.map((gateway) => eventually(() => connect(gateway))));
}

const valueOf = (key: string): Promise<string> =>
  eventually(async () => {
    const value = await redis.ask((asked) => asked.get(`{shell-adapter}:${key}`));
    if (value === null) throw new Error(`there is no ${key}`);
    return value;
  }, REWRITTEN_MS);

async function loseAll(): Promise<void> {
  await redis.kill();
  await redis.start();
}

/** The share of a CPU that each node takes, for a while. */
async function cpuShares(): Promise<number[]> {
  const pids = [...gateways, ...workers.map(({ daemon }) => daemon)].map(({ pid }) => pid);
  const before = pids.map(cpuMs);
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
  return pids.map((pid, i) => (cpuMs(pid) - before[i]!) / WATCHED_MS);
}

describe.skipIf(!canRunRedis)('a cluster whose Redis has lost all', () => {
  beforeAll(async () => {
    redis = await RedisServer.start();
    cluster = new TestCluster({ redis_url: redis.url, lease: LEASE });
    workers = await Promise.all(['worker-1', 'worker-2'].map((name) => cluster.startWorker(name)));
    gateways = await Promise.all(['gate-1', 'gate-2'].map((name) => cluster.startGateway(name)));
  });

  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  it('still runs a command once that was running, though another gateway would choose another node', async () => {
    const [first, second] = await connectToBoth();
    const command_id = `running-${randomUUID()}`;
    const [runs, go] = ['runs', 'go'].map((name) => join(cluster.directory, `${command_id}-${name}`)) as [
      string,
      string,
    ];
    const command = `echo run >> '${runs}'; until [ -e '${go}' ]; do sleep 0.05; done; echo $RANDOM$RANDOM`;
    const running = first!.run(command, undefined, { command_id });
    await eventually(() => {
      expect(existsSync(runs)).toBe(true);
    });
    const { token_id: principal } = await first!.request('describe_access');
    await loseAll();
    const node = await valueOf(`cmd:${principal!}:${command_id}`);
    const name = node.slice(0, -8);
    await using admin = await cluster.connect(gateways[1]!, 'admin');
    await admin.request('drain_node', { node: name, drain: true });
    const again = second!.run(command, undefined, { command_id });
    writeFileSync(go, '');
    const [one, other] = await Promise.all([running, again]);
    expect(one).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(other).toMatchObject({ status: 'completed', stdout: one.stdout });
    expect(readFileSync(runs, 'utf8')).toBe('run\n');
    await admin.request('drain_node', { node: name, drain: false });
    await Promise.all([first, second].map((client) => client![Symbol.asyncDispose]()));
  });

  it('has the workers again that were registered, with their leases', async () => {
    const lone = await cluster.startWorker('lone', { cluster: { redis_url: undefined } });
    await cluster.register(gateways[0]!, lone, { kind: 'lone' });
    await valueOf('node:lone');
    // Each gateway has to know of it, since either may be the first to write.
    await using admin = await cluster.connect(gateways[1]!, 'admin');
    const atOther = async () =>
      (await admin.request('list_nodes')).nodes.find(({ node }) => node === 'lone') as unknown;
    await eventually(async () => {
      expect(await atOther()).toMatchObject({ state: 'live' });
    });
    await loseAll();
    expect(JSON.parse(await valueOf('node:lone'))).toMatchObject({ url: lone.url, labels: { kind: 'lone' } });
    const kept = await redis.ask((asked) => asked.hget('{shell-adapter}:registered', 'lone'));
    expect(JSON.parse(kept ?? '')).toEqual({ node: 'lone', url: lone.url, labels: { kind: 'lone' } });
    expect(await atOther()).toMatchObject({ state: 'live', url: lone.url });
    await using client = await cluster.connect(gateways[1]!);
    const session_id = await client.openSession({ placement: { labels: { kind: 'lone' } } });
    expect(session_id).toMatch(/^session_lone-/);
    await client.request('close_session', { session_id });
    await admin.request('remove_node', { node: 'lone' });
    await lone.daemon.stop();
  });

  it('answers NODE_LOST for a command whose worker was killed and started again, and does not run it again', async () => {
    const name = 'worker-4';
    const { daemon, url } = await cluster.startWorker(name, { cluster: { labels: { kind: 'lost' } } });
    const clients = await connectToBoth();
    await using admin = await cluster.connect(gateways[0]!, 'admin');
    const drain = async (isDrained: boolean) => {
      for (const node of ['worker-1', 'worker-2']) await admin.request('drain_node', { node, drain: isDrained });
    };
    const live = () =>
      eventually(async () => {
        const { nodes } = await admin.request('list_nodes');
        expect(nodes).toContainEqual(expect.objectContaining({ node: name, state: 'live' }));
      }, REWRITTEN_MS);
    await live();
    await drain(true);
    const command_id = `lost-${randomUUID()}`;
    const runs = join(cluster.directory, command_id);
    const run = (client: WireClient) =>
      client.run(`echo run >> '${runs}'; sleep 60`, undefined, { command_id, timeout_ms: 10_000 });
    const running = run(clients[0]!);
    await eventually(() => {
      expect(existsSync(runs)).toBe(true);
    });
    daemon.signal('SIGKILL');
    await daemon.exited;
    expect((await running).error).toMatchObject({ code: 'NODE_LOST', details: { maybe_executed: true } });
    const settings = { cluster: { link_port: Number(new URL(url).port) } };
    const again = await cluster.startWorker(name, settings, { given: daemon.directory });
    await live();
    for (const client of clients) {
      expect((await run(client)).error).toMatchObject({ code: 'NODE_LOST', details: { retry_safe: false } });
      await client[Symbol.asyncDispose]();
    }
    expect(readFileSync(runs, 'utf8')).toBe('run\n');
    await drain(false);
    await again.daemon.stop();
  });

  it('takes next to no CPU while Redis is gone, or frozen', async () => {
    redis.signal('SIGSTOP');
    const frozen = await cpuShares();
    await redis.kill();
    const gone = await cpuShares();
    await redis.start();
    for (const share of [...frozen, ...gone]) expect(share).toBeLessThan(MOST_CPU);
    await eventually(async () => {
      expect(await (await fetch(`${gateways[0]!.url}/readyz`)).json()).toMatchObject({ registry: 'available' });
    }, REWRITTEN_MS);
  });

  it('has the checkpoints of a worker that was killed and started again, and not its sessions', async () => {
    await using client = await cluster.connect(gateways[0]!);
    const { daemon, url } = await cluster.startWorker('worker-3');
    const node = 'worker-3';
    const session = await eventually(() => client.openSession({ placement: { node } }), REWRITTEN_MS);
    await client.run('echo before > file', session);
    const { checkpoint_id: checkpoint } = await client.request('checkpoint_workspace', { node });
    await client.run('echo after > file', session);
    daemon.signal('SIGKILL');
    await daemon.exited;
    const settings = { cluster: { link_port: Number(new URL(url).port) } };
    const again = await cluster.startWorker(node, settings, { given: daemon.directory });
    await eventually(async () => {
      expect((await client.request('list_checkpoints', { node })).checkpoints).toMatchObject([
        { checkpoint_id: checkpoint },
      ]);
    }, REWRITTEN_MS);
    expect((await client.request('get_session', { session_id: session })).error?.code).toBe('SESSION_NOT_FOUND');
    const restored = await client.request('restore_workspace', { checkpoint_id: checkpoint });
    expect(restored.error).toBeUndefined();
    expect(readFileSync(join(again.daemon.workspace, 'file'), 'utf8')).toBe('before\n');
    await again.daemon.stop();
  });

  it('knows a node that has not written its lease again, for a gateway that has just been started', async () => {
    const [first] = await connectToBoth();
    const sessionId = await first!.openSession({ placement: { node: 'worker-1' } });
    const { daemon } = workers[0]!;
    // It writes nothing before it may go on.
    daemon.signal('SIGSTOP');
    try {
      await loseAll();
      const third = await cluster.startGateway('gate-3', { lease: 4 * LEASE });
      const secret = gateways[0]!.createToken('admin', `third-${randomUUID()}`);
      await using client = await eventually(
        () => WireClient.connect(third.url, ['websocket'], { token: secret }),
        REWRITTEN_MS,
      );
      const asked = client.request('get_session', { session_id: sessionId });
      daemon.signal('SIGCONT');
      expect((await asked).error).toBeUndefined();
    } finally {
      daemon.signal('SIGCONT');
    }
  });
});

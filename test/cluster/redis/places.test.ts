import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';
import { TestCluster } from '../harness/cluster.js';
import { canRunRedis, RedisServer } from '../harness/redis.js';

/** Places of both workers together, and sessions that are wanted at once. */
const PLACES = 50;
const WANTED = 192;
/** Commands that are sent to both gateways. */
const TWICE = 20;
/** Most sessions of a token. */
const OF_TOKEN = 60;

let redis: RedisServer;
let cluster: TestCluster;
let gateways: TestDaemon[];

const nodeOf = (id: string): string => /_(worker-\d)-/.exec(id)?.[1] ?? id;

/** One client at each gateway, both with the same token. */
async function connectToBoth(name: string): Promise<WireClient[]> {
  const secret = gateways[0]!.createToken('agent', `${name}-${randomUUID()}`);
  const connect = ({ url }: TestDaemon) => WireClient.connect(url, ['websocket'], { token: secret });
  return Promise.all(gateways.map((gateway) => eventually(() => connect(gateway))));
}

/** Wants sessions of all clients at once; gives the ids of those that were opened, and the codes of the errors. */
async function openMany(clients: readonly WireClient[], count: number) {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) => clients[i % clients.length]!.request('open_session', {})),
  );
  return {
    ids: answers.flatMap(({ error, session_id: id }) => (error ? [] : [id])),
    codes: new Set(answers.flatMap(({ error }) => (error ? [error.code] : []))),
  };
}

const closeAll = (client: WireClient, ids: readonly string[]) =>
  Promise.all(ids.map((session_id) => client.request('close_session', { session_id })));

const held = (pattern: string): Promise<number> =>
  redis.ask(async (asked) => {
    const keys = await asked.keys(`{shell-adapter}:${pattern}`);
    const counts = await Promise.all(keys.map((key) => asked.zcard(key)));
    return counts.reduce((sum, count) => sum + count, 0);
  });

describe.skipIf(!canRunRedis)('places that two gateways share', () => {
  beforeAll(async () => {
    redis = await RedisServer.start();
    cluster = new TestCluster({ redis_url: redis.url });
    const settings = {
      cluster: { capacity: PLACES / 2 },
      auth: { max_sessions_per_token: OF_TOKEN },
    };
    const auth = {
      max_sessions_per_token: OF_TOKEN,
      requests_per_second: 10_000,
    };
    await Promise.all(['worker-1', 'worker-2'].map((name) => cluster.startWorker(name, settings)));
    gateways = await Promise.all(
      ['gate-1', 'gate-2'].map((name) => cluster.startGateway(name, {}, { settings: { auth } })),
    );
  });

  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  it('are given out exactly once, and evenly, and are free again at once when sessions end', async () => {
    const clients = await connectToBoth('many');
    const { ids, codes } = await openMany(clients, WANTED);
    expect(ids).toHaveLength(PLACES);
    expect(new Set(ids).size).toBe(PLACES);
    expect([...codes]).toEqual(['NO_CAPACITY']);
    expect(ids.filter((id) => nodeOf(id) === 'worker-1')).toHaveLength(PLACES / 2);
    expect(await held('sessions:*')).toBe(PLACES);
    await closeAll(clients[1]!, ids);
    await eventually(async () => {
      expect([await held('sessions:*'), await held('owner:*')]).toEqual([0, 0]);
    });
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  });

  it('of a session that could not be opened are given back', async () => {
    await using client = await cluster.connect(gateways[0]!);
    const { error } = await client.request('open_session', { cwd: '/nowhere' });
    expect(error?.code).toBe('BAD_DIRECTORY');
    await eventually(async () => {
      expect(await held('sessions:*')).toBe(0);
    });
  });

  it('for a command whose id comes to both at the same instant are taken once', async () => {
    const [first, second] = await connectToBoth('instant');
    const runs = join(cluster.directory, 'runs');
    const ids = Array.from({ length: TWICE }, () => `twice-${randomUUID()}`);
    const answers = await Promise.all(
      ids.flatMap((id) => {
        const run = (client: WireClient) =>
          client.run(`echo ${id} >> '${runs}'; echo $RANDOM$RANDOM`, undefined, { command_id: id });
        return [run(first!), run(second!)];
      }),
    );
    const given = answers.map(({ command_id, stdout, warnings }) => ({ command_id, stdout, warnings }));
    for (let i = 0; i < given.length; i += 2) expect(given[i]).toEqual({ ...given[i + 1], warnings: [] });
    expect(readFileSync(runs, 'utf8').trim().split('\n').toSorted()).toEqual(ids.toSorted());
    await Promise.all([first, second].map((client) => client![Symbol.asyncDispose]()));
  });

  it('for the commands of one id are on one node, though another gateway would choose another', async () => {
    const [first, second] = await connectToBoth('once');
    await using admin = await cluster.connect(gateways[0]!, 'admin');
    const command_id = `once-${randomUUID()}`;
    const { stdout, warnings } = await first!.run('echo $RANDOM$RANDOM$RANDOM', undefined, { command_id });
    expect(warnings).toEqual([]);
    const { commands } = await first!.request('list_commands', {});
    const ran = commands.find((command) => command.command_id === command_id);
    const node = await redis.ask(async (asked) => {
      const [key] = await asked.keys(`{shell-adapter}:cmd:*:${command_id}`);
      return (await asked.get(key ?? '')) ?? '';
    });
    expect(ran).toBeDefined();
    await admin.request('drain_node', { node: node.slice(0, -8), drain: true });
    expect(
      await second!.run('echo $RANDOM$RANDOM$RANDOM', undefined, {
        command_id,
      }),
    ).toMatchObject({ stdout });
    await admin.request('drain_node', {
      node: node.slice(0, -8),
      drain: false,
    });
    await Promise.all([first, second].map((client) => client![Symbol.asyncDispose]()));
  });
});

describe.skipIf(!canRunRedis)('the sessions of a token', () => {
  it('are limited on all nodes together', async () => {
    redis = await RedisServer.start();
    cluster = new TestCluster({ redis_url: redis.url });
    const settings = {
      auth: { max_sessions_per_token: 5, requests_per_second: 10_000 },
    };
    try {
      await cluster.startWorker('worker-1', settings);
      gateways = await Promise.all(['gate-1', 'gate-2'].map((name) => cluster.startGateway(name, {}, { settings })));
      const clients = await connectToBoth('limited');
      const { ids, codes } = await openMany(clients, 20);
      expect(ids).toHaveLength(5);
      expect([...codes]).toEqual(['SESSION_LIMIT']);
      await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
    } finally {
      await cluster[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    }
  });
});

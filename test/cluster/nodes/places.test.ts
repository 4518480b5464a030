import { randomUUID } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { eventually } from '../../support/measure.js';
import type { WireClient } from '../../support/wire.js';
import { canRunRedis } from '../harness/redis.js';
import { type StartedNodes, useNodes } from '../harness/use-nodes.js';

/** Places of each node, and sessions that are wanted at once. */
const CAPACITY = 20;
const WANTED = 192;
/** Most sessions of a token: more than one node has places for. */
const OF_TOKEN = 50;

const NAMES = ['node-1', 'node-2', 'node-3'];

const nodeOf = (id: string): string => /_(node-\d)-/.exec(id)?.[1] ?? id;

/** Wants sessions of all clients at once; gives the ids of those that were opened, and the codes of the errors. */
async function openMany(clients: readonly WireClient[], count: number) {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) => clients[i % clients.length]!.request('open_session', {})),
  );
  return {
    ids: answers.flatMap(({ error, session_id: id }) => (error ? [] : [id])),
    codes: [...new Set(answers.flatMap(({ error }) => (error ? [error.code] : [])))],
  };
}

describe.skipIf(!canRunRedis)('places on equal nodes', () => {
  let started: StartedNodes;
  useNodes((one) => (started = one), {
    cluster: { capacity: CAPACITY },
    auth: { max_sessions_per_token: OF_TOKEN, requests_per_second: 10_000 },
  });

  const held = (pattern: string): Promise<number> =>
    started.redis.ask(async (redis) => {
      const keys = await redis.keys(`{shell-adapter}:${pattern}`);
      const counts = await Promise.all(keys.map((key) => redis.zcard(key)));
      return counts.reduce((sum, count) => sum + count, 0);
    });
  const closeAll = (client: WireClient, ids: readonly string[]) =>
    Promise.all(ids.map((session_id) => client.request('close_session', { session_id })));
  const nothingHeld = () =>
    eventually(async () => {
      expect([await held('sessions:*'), await held('owner:*')]).toEqual([0, 0]);
    });

  it('of one token are limited on all nodes together, and evenly given out', async () => {
    const clients = await started.connect();
    const { ids, codes } = await openMany(clients, WANTED);
    expect(ids).toHaveLength(OF_TOKEN);
    expect(codes).toEqual(['SESSION_LIMIT']);
    const counts = NAMES.map((name) => ids.filter((id) => nodeOf(id) === name).length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
    await closeAll(clients[0], ids);
    await nothingHeld();
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  });

  it('are given out exactly once when two tokens want more than there are', async () => {
    const [one, two] = [await started.connect(), await started.connect()];
    const { ids, codes } = await openMany([...one, ...two], WANTED);
    expect(new Set(ids).size).toBe(3 * CAPACITY);
    expect(codes).toContain('NO_CAPACITY');
    for (const name of NAMES) expect(ids.filter((id) => nodeOf(id) === name)).toHaveLength(CAPACITY);
    await Promise.all([one[1], two[2]].map((client) => closeAll(client, ids)));
    await nothingHeld();
    await Promise.all([...one, ...two].map((client) => client[Symbol.asyncDispose]()));
  });

  it('are those of the node itself while it carries at most one more than the least full one', async () => {
    const clients = await started.connect();
    const ids: string[] = [];
    for (let i = 0; i < 7; i += 1) ids.push(await clients[0].openSession());
    expect(ids.map(nodeOf)).toEqual(['node-1', 'node-1', 'node-2', 'node-3', 'node-1', 'node-2', 'node-3']);
    await eventually(async () => {
      const { command_id } = await clients[0].run('true');
      expect(nodeOf(command_id)).toBe('node-1');
    });
    for (let i = 0; i < 3; i += 1) ids.push(await clients[0].openSession({ placement: { node: 'node-1' } }));
    await eventually(async () => {
      const command_id = `placed-${randomUUID()}`;
      await clients[0].run('true', undefined, { command_id });
      const { commands } = await clients[0].request('list_commands', { limit: 1 });
      expect(commands[0]).toMatchObject({ command_id });
      const key = await started.redis.ask(async (redis) => (await redis.keys(`*:cmd:*:${command_id}`))[0]);
      expect(await started.redis.ask((redis) => redis.get(key ?? ''))).toMatch(/^node-[23]-/);
    });
    await closeAll(clients[0], ids);
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  });

  it('of sessions that could not be opened are given back', async () => {
    const [client] = await started.connect();
    for (const node of ['node-1', 'node-2'])
      expect((await client.request('open_session', { cwd: '/nowhere', placement: { node } })).error?.code).toBe(
        'BAD_DIRECTORY',
      );
    await nothingHeld();
    await client[Symbol.asyncDispose]();
  });
});

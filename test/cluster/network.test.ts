import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, expect } from 'vitest';

import type { TestDaemon } from '../support/daemon.js';
import { eventually } from '../support/measure.js';
import { describeRootIf, itRoot } from '../support/root.js';
import type { WireClient } from '../support/wire.js';
import { TestCluster } from './harness/cluster.js';
import { canMakeNetworks, TestNetwork } from './harness/network.js';
import { canRunRedis, RedisServer } from './harness/redis.js';

/** In seconds. */
const LEASE = 6;
/** Time for a link to be found broken, and for a lease to end after that, with some more, in milliseconds. */
const BROKEN_MS = 8000;
const LOST_MS = BROKEN_MS + LEASE * 1000;
/** Time for all to be well again, in milliseconds. */
const HEALED_MS = 15_000;
/** Commands over a network that loses packets, and bytes of a stream over it. */
const COMMANDS = 40;
const BYTES = 4_000_000;

let network: TestNetwork;
let redis: RedisServer;
let cluster: TestCluster;
let gateway: TestDaemon;
let client: WireClient;

/** A file to which each run of a command adds a line. */
const newRuns = (): string => join(cluster.directory, `runs-${randomUUID()}`);
const linesOf = (file: string): string[] => readFileSync(file, 'utf8').trim().split('\n');
const isDetached = () => client.until(() => client.all('session_detached').at(-1), BROKEN_MS);
const isReattached = () => client.until(() => client.all('session_reattached').at(-1), HEALED_MS);
const textOf = (commandId: string): string =>
  client
    .all('command_output')
    .filter(({ command_id }) => command_id === commandId)
    .map(({ data }) => String(data))
    .join('');

/** Runs a command that prints numbers, and returns its answer to come, once it prints. */
async function count(sessionId: string, runs: string, seconds: number) {
  const command_id = `count-${randomUUID()}`;
  const command = `echo run >> '${runs}'; for i in $(seq ${seconds * 10}); do echo $i; sleep 0.1; done`;
  const answer = client.run(command, sessionId, { command_id, stream: true });
  await client.event('command_output', (event) => event.command_id === command_id);
  const text = Array.from({ length: seconds * 10 }, (_, index) => `${index + 1}\n`).join('');
  return { command_id, answer, text };
}

describeRootIf(canMakeNetworks && canRunRedis)('a worker behind a network', () => {
  beforeAll(async () => {
    network = new TestNetwork();
    redis = await RedisServer.start({ address: network.here, password: randomUUID() });
    cluster = new TestCluster({ redis_url: redis.url, lease: LEASE });
    await cluster.startWorker('worker-1', {}, { launcher: network.launcher, address: network.there });
    gateway = await cluster.startGateway();
  });
  beforeAll(async () => {
    client = await cluster.connect(gateway);
  });
  afterEach(() => {
    network.heal();
    client.events.length = 0;
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
    network[Symbol.dispose]();
  });

  itRoot('that loses a packet of a hundred runs each command once, and gives all output', async () => {
    const [id, runs] = [await client.openSession(), newRuns()];
    network.lose(1);
    for (let number = 0; number < COMMANDS; number += 1) {
      const answer = await client.run(`echo ${number} >> '${runs}'; echo ${number}`, id, { command_id: randomUUID() });
      expect(answer).toMatchObject({ stdout: `${number}\n`, exit_code: 0 });
    }
    const command_id = randomUUID();
    await client.run(`seq 10000000 | head -c ${BYTES}`, id, { command_id, stream: true });
    const whole = await client.until(() => (textOf(command_id).length === BYTES ? textOf(command_id) : undefined));
    const expected = await client.run(`seq 10000000 | head -c ${BYTES} | sha256sum`, id);
    expect(createHash('sha256').update(whole).digest('hex')).toBe(expected.stdout.split(' ')[0]);
    expect(linesOf(runs)).toEqual(Array.from({ length: COMMANDS }, (_, number) => String(number)));
    expect(client.all('session_detached')).toEqual([]);
    await client.request('close_session', { session_id: id });
  });

  itRoot('that carries nothing for less than the lease goes on with its commands, each once', async () => {
    const [id, other, runs] = [await client.openSession(), await client.openSession(), newRuns()];
    const { command_id, answer, text } = await count(id, runs, 8);
    network.drop('in', 'out');
    // It may not be repeated, so its client has to know.
    const closed = await client.request('close_session', { session_id: other });
    expect(closed.error).toMatchObject({ code: 'NODE_LOST', details: { maybe_executed: true, retry_safe: false } });
    await isDetached();
    network.heal();
    await isReattached();
    expect(await answer).toMatchObject({ status: 'completed', exit_code: 0, stdout: text });
    await client.until(() => (textOf(command_id) === text ? true : undefined));
    expect(linesOf(runs)).toEqual(['run']);
    expect(client.all('session_reattached').map(({ gap }) => gap)).toEqual([null, null]);
    for (const session_id of [id, other]) await client.request('close_session', { session_id });
  });

  itRoot(
    'that carries nothing for longer than the lease is lost, and its sessions are there when it is back',
    async () => {
      const id = await client.openSession();
      await client.run('export KEPT=1', id);
      network.drop('in', 'out');
      const ended = await client.until(
        () => client.all('session_closed').find(({ session_id }) => session_id === id),
        LOST_MS,
      );
      expect(ended.reason).toBe('node_lost');
      expect((await client.request('open_session', {})).error).toMatchObject({
        code: 'NO_CAPACITY',
        details: { maybe_executed: false },
      });
      network.heal();
      const next = await eventually(() => client.openSession(), HEALED_MS);
      expect(await client.run('echo $KEPT', id)).toMatchObject({ stdout: '1\n' });
      for (const session_id of [id, next]) await client.request('close_session', { session_id });
    },
  );

  itRoot('from which no packet comes, and to which all go, runs a command once', async () => {
    const [id, runs] = [await client.openSession(), newRuns()];
    network.drop('out');
    const command_id = randomUUID();
    const answer = client.run(`echo run >> '${runs}'; echo done`, id, { command_id });
    await eventually(() => {
      expect(linesOf(runs)).toEqual(['run']);
    });
    await isDetached();
    network.heal();
    expect(await answer).toMatchObject({ stdout: 'done\n', exit_code: 0 });
    expect(linesOf(runs)).toEqual(['run']);
    await client.request('close_session', { session_id: id });
  });

  itRoot('to which no packet goes, and from which all come, goes on with its commands', async () => {
    const [id, runs] = [await client.openSession(), newRuns()];
    const { command_id, answer, text } = await count(id, runs, 8);
    network.drop('in');
    await isDetached();
    network.heal();
    expect(await answer).toMatchObject({ stdout: text, exit_code: 0 });
    await client.until(() => (textOf(command_id) === text ? true : undefined));
    expect(linesOf(runs)).toEqual(['run']);
    await client.request('close_session', { session_id: id });
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ASKING, type TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';
import { runCli } from '../../e2e/cli/support.js';
import { TestCluster } from '../harness/cluster.js';
import { canRunRedis, RedisServer } from '../harness/redis.js';

let redis: RedisServer;
let cluster: TestCluster;
let one: TestDaemon;
let other: TestDaemon;

/** A token that a change on one gateway makes, for a client of the other one. */
const enter = (daemon: TestDaemon, token: string) => WireClient.connect(daemon.url, ['websocket'], { token });
const enterSoon = (daemon: TestDaemon, token: string) => eventually(() => enter(daemon, token));
const refusedSoon = (daemon: TestDaemon, token: string) =>
  eventually(async () => {
    const entered = await enter(daemon, token).catch(() => undefined);
    if (!entered) return;
    entered.socket.disconnect();
    throw new Error('the token still counts');
  }, 4000);
const disconnected = (client: WireClient) =>
  client.socket.connected ? new Promise((resolve) => client.socket.once('disconnect', resolve)) : undefined;
const firstOf = (daemon: TestDaemon) => join(daemon.directory, 'state', 'token');

describe.skipIf(!canRunRedis)('tokens of gateways with Redis', () => {
  beforeAll(async () => {
    redis = await RedisServer.start();
    cluster = new TestCluster({ redis_url: redis.url });
    one = await cluster.startGateway('gate-1', { token_grace: 3 });
    other = await cluster.startGateway('gate-2');
    await cluster.startWorker('worker-1', { confirmation: ASKING });
    await eventually(async () => {
      expect((await fetch(`${one.url}/readyz`)).status).toBe(200);
    });
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  it('have one first token, in a file of the first gateway', async () => {
    expect([existsSync(firstOf(one)), existsSync(firstOf(other))]).toEqual([true, false]);
    const first = readFileSync(firstOf(one), 'utf8').trim();
    await using client = await enterSoon(other, first);
    expect(await client.request('describe_access')).toMatchObject({ role: 'admin', name: 'first' });
    expect(other.tokens.read().tokens).toHaveLength(1);
  });

  it('count at all gateways: made, rotated and revoked by a request, or by the command line', async () => {
    await using admin = await cluster.connect(one, 'admin', 'root');
    const made = await admin.request('create_token', { name: 'ann', role: 'agent' });
    await using there = await enterSoon(other, made.secret);
    const rotated = await admin.request('rotate_token', { name_or_id: 'ann' });
    await disconnected(there);
    await using again = await enterSoon(other, rotated.secret);
    const revoked = await runCli(['token', 'revoke', 'ann', '--config', join(other.directory, 'config.yaml')]);
    expect(revoked).toMatchObject({ code: 0, stdout: 'revoked ann\n' });
    await disconnected(again);
    await refusedSoon(one, rotated.secret);
  });

  it('are told to both gateways, which listen', async () => {
    const listening = () => redis.ask((asked) => asked.publish('{shell-adapter}:tokens:version', ''));
    await eventually(async () => {
      expect(await listening()).toBe(2);
    });
  });

  it('do not count under ids that lead out of their directory', async () => {
    const facts = { role: 'agent', created_at: new Date().toISOString(), expires_at: null };
    const text = (name: string, digit: string) =>
      JSON.stringify({ version: 1, token: { ...facts, name, sha256: digit.repeat(64) } });
    await redis.ask(async (asked) => {
      await asked.hset('{shell-adapter}:tokens', '../escaped', text('escaped', 'a'), 'inside', text('inside', 'b'));
      await asked.set('{shell-adapter}:tokens:version', 'written-by-hand');
      await asked.publish('{shell-adapter}:tokens:version', 'written-by-hand');
    });
    await eventually(() => {
      expect(other.tokens.read().tokens.map(({ id }) => id)).toContain('inside');
    });
    expect(existsSync(join(other.directory, 'state', 'escaped.json'))).toBe(false);
    other.tokens.revoke('inside');
  });

  it('end what waits in their name, at the other gateway too', async () => {
    const { token, secret } = other.tokens.create({ name: 'waiting', role: 'agent', lifeMs: undefined });
    await using client = await enterSoon(one, secret);
    const asked = await client.run('rm -rf x', undefined, {});
    expect(asked.status).toBe('confirmation_required');
    await using admin = await cluster.connect(one, 'admin', 'judge');
    other.tokens.revoke(token.id);
    await disconnected(client);
    await eventually(async () => {
      const { confirmations } = await admin.request('list_confirmations');
      const { error } = await admin.request('confirm_command', {
        confirmation_id: asked.confirmation_id!,
        decision: 'approve',
        command_sha256: asked.command_sha256!,
      });
      expect([confirmations, error?.code]).toEqual([[], 'CONFIRMATION_NOT_FOUND']);
    });
  });

  it('are revoked where they are revoked without Redis too, and everywhere when it is back, though empty', async () => {
    const kept = one.createToken('agent', 'kept');
    const { token, secret } = one.tokens.create({ name: 'leaving', role: 'agent', lifeMs: undefined });
    (await enterSoon(other, kept)).socket.disconnect();
    await using there = await enterSoon(other, secret);
    await redis.kill();
    await using here = await enter(one, secret);
    one.tokens.revoke(token.id);
    await disconnected(here);
    expect(there.socket.connected).toBe(true);
    // After the grace nothing counts there, and elsewhere all that counted does.
    await refusedSoon(one, kept);
    (await enter(other, kept)).socket.disconnect();
    await redis.start();
    await disconnected(there);
    (await enterSoon(one, kept)).socket.disconnect();
    await refusedSoon(other, secret);
    (await enter(other, kept)).socket.disconnect();
    expect(other.tokens.read().tokens.map(({ name }) => name)).toContain('kept');
  });
});

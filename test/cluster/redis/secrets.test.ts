import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { eventually } from '../../support/measure.js';
import { TestCluster } from '../harness/cluster.js';
import { canRunRedis, RedisServer } from '../harness/redis.js';

const MAKE_SECRETS = fileURLToPath(new URL('../../../deploy/cluster/make-secrets', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-secrets-'));
const nodes = join(directory, 'nodes');
const make = () => execFileSync(MAKE_SECRETS, [nodes, '127.0.0.1', 'worker-1'], { stdio: ['ignore', 'pipe', 'pipe'] });

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe.skipIf(!canRunRedis)('a cluster with what make-secrets has made', () => {
  let redis: RedisServer;
  let cluster: TestCluster;

  /** Address of Redis for a kind of node, as its file has it. */
  const urlFor = (kind: 'gateway' | 'worker'): string => {
    const [, url = ''] =
      /^SHELL_ADAPTER_CLUSTER_REDIS_URL=(.*)$/m.exec(readFileSync(join(nodes, `${kind}.env`), 'utf8')) ?? [];
    return url.replace('@redis:6379', `@127.0.0.1:${redis.port}`);
  };
  const settingsOf = (kind: 'gateway' | 'worker') => ({
    tls: { cert: join(nodes, `${kind}.pem`), key: join(nodes, `${kind}-key.pem`), ca: join(nodes, 'ca.pem') },
    secret_file: join(nodes, 'secret'),
  });

  beforeAll(async () => {
    make();
    redis = await RedisServer.start({ aclFile: join(nodes, 'redis.acl') });
    cluster = new TestCluster();
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  it('runs sessions, with two users of Redis of which one has no tokens', async () => {
    const [gateway] = await Promise.all([
      cluster.startGateway('gate', settingsOf('gateway'), {
        env: { SHELL_ADAPTER_CLUSTER_REDIS_URL: urlFor('gateway') },
      }),
      cluster.startWorker(
        'worker-1',
        { cluster: settingsOf('worker') },
        { env: { SHELL_ADAPTER_CLUSTER_REDIS_URL: urlFor('worker') } },
      ),
    ]);
    await using client = await cluster.connect(gateway);
    const id = await eventually(async () => {
      const { error, session_id: opened } = await client.request('open_session', {});
      if (error) throw new Error(error.message);
      return opened;
    });
    expect(await client.run('echo there', id)).toMatchObject({ stdout: 'there\n' });
    await client.request('close_session', { session_id: id });

    const asked = new Redis(urlFor('gateway'));
    const keys = await asked.keys('{shell-adapter}:*').catch((error: unknown) => String(error));
    expect(keys).toContain('NOPERM');
    const kinds = await asked.type('{shell-adapter}:tokens');
    expect(kinds).not.toBe('none');
    // The gateway listens.
    expect(await asked.publish('{shell-adapter}:tokens:version', '')).toBe(1);
    asked.disconnect();
    const own = new Redis(urlFor('worker'));
    await expect(own.hgetall('{shell-adapter}:tokens')).rejects.toThrow('NOPERM');
    await expect(own.set('{shell-adapter}:tokens', 'x')).rejects.toThrow('NOPERM');
    await expect(own.hgetall('{shell-adapter}:registered')).rejects.toThrow('NOPERM');
    await expect(own.publish('{shell-adapter}:tokens:version', '')).rejects.toThrow('NOPERM');
    own.disconnect();
  });

  it('keeps its files from others, and never overwrites them', () => {
    for (const name of ['ca-key.pem', 'gateway-key.pem', 'worker-key.pem', 'secret', 'redis.acl', 'gateway.env']) {
      expect(statSync(join(nodes, name)).mode & 0o777, name).toBe(0o600);
    }
    const before = readFileSync(join(nodes, 'secret'), 'utf8');
    expect(make).toThrow(/ca\.pem is there already/);
    expect(readFileSync(join(nodes, 'secret'), 'utf8')).toBe(before);
  });
});

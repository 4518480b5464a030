import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import type { TestDaemon } from '../support/daemon.js';
import { sharedTest } from '../support/shared-test.js';
import { TestCluster, type TestWorker } from './harness/cluster.js';

/** Nodes whose network encrypts. */
const INSECURE = { insecure_links: true, tls: {} };
/** Sessions that a test leaves do not keep its workers. */
const ENDING = { drain_timeout: 0.1 };

/** Where a node without certificates is reached. */
const withoutTls = (worker: TestWorker): TestWorker => ({ ...worker, url: worker.url.replace('https:', 'http:') });

/** A gateway with a worker, for what leaves both as they are. */
const it = sharedTest(async () => {
  const cluster = new TestCluster(ENDING);
  const { gateway } = await cluster.startWith('worker-1');
  return { cluster, gateway, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
});

describe('links without TLS', () => {
  it('need the secret, and serve as those with TLS do', async () => {
    await using cluster = new TestCluster({ ...INSECURE, ...ENDING });
    const [gateway, worker] = await Promise.all([cluster.startGateway(), cluster.startWorker('worker-1')]);
    expect(await cluster.register(gateway, withoutTls(worker))).toMatchObject({ state: 'live', problem: null });
    await using client = await cluster.connect(gateway);
    expect(await client.run('echo plain', await client.openSession())).toMatchObject({ stdout: 'plain\n' });
    await client.request('write_file', { path: 'file', data: 'content' });
    const headers = { authorization: `Bearer ${gateway.createToken('agent', 'http')}` };
    expect(await (await fetch(`${gateway.url}/v1/files/file`, { headers })).text()).toBe('content');

    const other = join(cluster.directory, 'other-secret');
    writeFileSync(other, randomBytes(32).toString('hex'));
    const stranger = await cluster.startGateway('gate-2', { secret_file: other });
    expect(await cluster.register(stranger, withoutTls(worker))).toMatchObject({
      state: 'suspect',
      problem: 'the secret is not that of this cluster',
    });
  });

  it('are none to a node with certificates', async () => {
    await using cluster = new TestCluster(ENDING);
    const [gateway, worker] = await Promise.all([
      cluster.startGateway('gate', INSECURE),
      cluster.startWorker('worker-1'),
    ]);
    expect((await cluster.register(gateway, withoutTls(worker))).problem).toMatch(/socket hang up|ECONNRESET/);
  });
});

describe('requests per second', () => {
  /** More than the limits below allow at once. */
  const MANY = 40;

  it('are counted at the gateway of a client, and not again at the worker', async () => {
    const limited = { auth: { requests_per_second: 5 } };
    await using cluster = new TestCluster(ENDING);
    const [gateway, strict, worker] = await Promise.all([
      cluster.startGateway(),
      cluster.startGateway('gate-2', {}, { settings: limited }),
      cluster.startWorker('worker-1', limited),
    ]);
    for (const each of [gateway, strict]) await cluster.register(each, worker);
    const codesAt = async (at: TestDaemon) => {
      await using client = await cluster.connect(at);
      const requests = Array.from({ length: MANY }, () => client.request('list_directory', { path: '.' }));
      return new Set((await Promise.all(requests)).map(({ error }) => error?.code));
    };
    expect(await codesAt(gateway)).toEqual(new Set([undefined]));
    expect(await codesAt(strict)).toEqual(new Set([undefined, 'RATE_LIMITED']));
  });
});

describe('a message with many attachments', () => {
  /** As many as a packet may have. */
  const MOST = 10;

  it('is answered up to the most that a packet may have, and ends the connection of its own client above', async ({
    shared: { cluster, gateway },
  }) => {
    await using client = await cluster.connect(gateway);
    const id = await client.openSession();
    const payload = (count: number) => ({
      session_id: id,
      data: Array.from({ length: count }, () => Buffer.from('x')),
    });
    expect((await client.request('send_input', payload(MOST) as never)).error?.code).toBe('INVALID_REQUEST');

    await using excessive = await cluster.connect(gateway);
    const ended = new Promise((resolve) => excessive.socket.once('disconnect', resolve));
    excessive.socket.emit('send_input', payload(MOST + 1));
    await ended;
    // The link goes on.
    expect(await client.run('echo on', id)).toMatchObject({ stdout: 'on\n' });
    expect(client.all('session_detached')).toEqual([]);
  });

  it('is none of what nodes send: output in bytes comes whole, each part in a packet of its own', async ({
    shared: { cluster, gateway },
  }) => {
    await using client = await cluster.connect(gateway);
    const id = await client.openSession();
    const result = await client.run(`for i in {1..200}; do printf '\\377%.0s' {1..50}; echo; done`, id, {
      stream: true,
      output: { encoding: 'base64' },
    });
    expect(result).toMatchObject({ status: 'completed', exit_code: 0 });
    const parts = client.all('command_output').map(({ data }) => Buffer.from(data as Uint8Array));
    const line = Buffer.from([...Array<number>(50).fill(0xff), 0x0a]);
    expect(Buffer.concat(parts).equals(Buffer.concat(Array<Buffer>(200).fill(line)))).toBe(true);
    expect(client.all('session_detached')).toEqual([]);
  });
});

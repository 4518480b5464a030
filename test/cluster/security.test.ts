import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';

import { io } from 'socket.io-client';
import { describe, expect, it } from 'vitest';

import type { TestDaemon } from '../support/daemon.js';
import { WireClient } from '../support/wire.js';
import { CertificateAuthority, type NodeCertificate } from './harness/certificates.js';
import type { TestCluster, TestWorker } from './harness/cluster.js';
import { useCluster } from './harness/use-cluster.js';

let cluster: TestCluster;
let gateway: TestDaemon;
let worker: TestWorker;

useCluster((started) => {
  ({ cluster, gateway, worker } = started);
});

const read = ({ cert, key, ca }: NodeCertificate) => ({
  cert: readFileSync(cert, 'utf8'),
  key: readFileSync(key, 'utf8'),
  ca: readFileSync(ca, 'utf8'),
});

/** Connects to the port for gateways; gives the error, or what the port says first. */
async function connect(tls: object, headers: Record<string, string> = {}): Promise<string> {
  const socket = io(worker.url, {
    ...{ transports: ['websocket'], reconnection: false, forceNew: true, extraHeaders: headers },
    ...tls,
  });
  try {
    return await new Promise<string>((resolve) => {
      socket.once('challenge', () => {
        resolve('challenge');
      });
      socket.once('connect_error', (error: Error & { description?: { error?: Error; message?: string } }) => {
        resolve(error.description?.error?.message ?? error.description?.message ?? error.message);
      });
      socket.once('disconnect', resolve);
    });
  } finally {
    socket.disconnect();
  }
}

describe('the port for gateways', () => {
  it('takes a gateway of its authority', async () => {
    expect(await connect(read(cluster.authority.issue('other', 'clientAuth')))).toBe('challenge');
  });

  it('refuses a certificate of another authority', async () => {
    const foreign = read(new CertificateAuthority(cluster.directory, 'foreign').issue('gate', 'serverAuth,clientAuth'));
    const { ca } = read(cluster.authority.issue('any', 'clientAuth'));
    expect(await connect({ ...foreign, ca })).toMatch(/alert|certificate|socket hang up|ECONNRESET/i);
  });

  it('refuses a connection without a certificate', async () => {
    const { ca } = read(cluster.authority.issue('any', 'clientAuth'));
    expect(await connect({ ca })).toMatch(/certificate required|alert|socket hang up|ECONNRESET/i);
  });

  it('refuses the certificate of a worker: what is stolen from one cannot dial any', async () => {
    expect(await connect(read(cluster.authority.issue('worker-9', 'serverAuth')))).toMatch(
      /certificate|alert|socket hang up|ECONNRESET/i,
    );
  });

  it('refuses TLS below 1.3', async () => {
    const tls = read(cluster.authority.issue('old', 'clientAuth'));
    const failed = await new Promise<Error>((resolve) => {
      request(worker.url, { ...tls, maxVersion: 'TLSv1.2' })
        .once('error', resolve)
        .end();
    });
    expect(failed.message).toMatch(/protocol version|alert/i);
  });

  it('refuses every request with an Origin', async () => {
    const tls = read(cluster.authority.issue('page', 'clientAuth'));
    expect(await connect(tls, { Origin: 'https://example.org' })).toBe('Unexpected server response: 400');
  });

  it('answers nothing before the secret is proven', async () => {
    const socket = io(worker.url, {
      ...{ transports: ['websocket'], reconnection: false, forceNew: true },
      ...read(cluster.authority.issue('hasty', 'clientAuth')),
    });
    const heard: string[] = [];
    socket.onAny((name: string) => heard.push(name));
    const caller = { principal: { id: 'token_x', name: 'x', role: 'admin', is_local_peer: false } };
    await new Promise((resolve) => socket.once('challenge', resolve));
    socket.emit('request', { caller, name: 'list_sessions', payload: {} }, () => heard.push('answer'));
    socket.emit('hello', { node: 'gate' }, () => undefined);
    await new Promise((resolve) => socket.once('disconnect', resolve));
    expect(heard).toEqual(['challenge']);
  });
});

describe('a gateway', () => {
  it('with another secret is refused, and says why', async () => {
    const secret = join(cluster.directory, 'other-secret');
    writeFileSync(secret, 'x'.repeat(64));
    const other = await cluster.startGateway('gate-2', { secret_file: secret });
    expect(await cluster.register(other, worker)).toMatchObject({
      state: 'suspect',
      problem: 'the secret is not that of this cluster',
    });
  });

  it('refuses a worker of another name', async () => {
    expect(await cluster.register(gateway, { name: 'worker-7', url: worker.url })).toMatchObject({
      problem: 'the node there is called worker-1',
    });
  });

  it('refuses a worker of another authority', async () => {
    const foreign = new CertificateAuthority(cluster.directory, 'strange').issue('gate-3', 'serverAuth,clientAuth');
    const other = await cluster.startGateway('gate-3', { tls: foreign });
    expect(await cluster.register(other, worker)).toMatchObject({
      problem: expect.stringMatching(/certificate/i) as string,
    });
  });

  it('goes on with its other workers after all this', async () => {
    await using client = await cluster.connect(gateway);
    expect(await client.run('echo still here', undefined, { command_id: 'after-attacks' })).toMatchObject({
      stdout: 'still here\n',
    });
  });
});

describe('roles and owners', () => {
  it('hold on a worker as directly', async () => {
    await using agent = await cluster.connect(gateway);
    await using other = await cluster.connect(gateway);
    await using viewer = await cluster.connect(gateway, 'viewer');
    const id = await agent.openSession();
    expect((await other.request('get_session', { session_id: id })).error?.code).toBe('SESSION_NOT_FOUND');
    expect((await viewer.request('get_session', { session_id: id })).session_id).toBe(id);
    expect((await viewer.request('close_session', { session_id: id })).error?.code).toBe('FORBIDDEN');
    expect((await agent.request('register_node', { node: 'w', url: worker.url })).error?.code).toBe('FORBIDDEN');
  });

  it('a program without a token at the gateway is local.GATEWAY on the worker, with the role that it gives', async () => {
    await using local = await WireClient.connect(gateway.url);
    await using agent = await cluster.connect(gateway);
    const others = await agent.openSession();
    const id = await local.openSession();
    expect(await local.request('get_session', { session_id: id })).toMatchObject({ owner: 'local.gate' });
    expect((await local.request('get_session', { session_id: others })).error?.code).toBe('SESSION_NOT_FOUND');
  });

  it('a revoked token ends its connections, and what waits in its name', async () => {
    const secret = gateway.tokens.create({ name: 'short', role: 'agent', lifeMs: undefined });
    await using client = await WireClient.connect(gateway.url, ['websocket'], { token: secret.secret });
    const id = await client.openSession();
    const closed = new Promise((resolve) => client.socket.once('disconnect', resolve));
    await using admin = await cluster.connect(gateway, 'admin');
    await admin.request('revoke_token', { name_or_id: 'short' });
    await closed;
    const { sessions } = await admin.request('list_sessions');
    expect(sessions.find(({ session_id }) => session_id === id)).toMatchObject({ attached_clients: 0 });
  });
});

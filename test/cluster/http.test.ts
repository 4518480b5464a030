import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { io } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { TestDaemon } from '../support/daemon.js';
import { eventually, MIB } from '../support/measure.js';
import { type ServedSession, serveInSession } from '../support/network/preview.js';
import { WireClient } from '../support/wire.js';
import { TestCluster, type TestWorker } from './harness/cluster.js';

const CONTENT = randomBytes(300_000);
const SHA256 = createHash('sha256').update(CONTENT).digest();

const folder = mkdtempSync(join(tmpdir(), 'shell-adapter-cluster-http-'));
let cluster: TestCluster;
let gateway: TestDaemon;
let worker: TestWorker;
let client: WireClient;
let token: string;

beforeAll(async () => {
  const models = join(folder, 'models.json');
  writeFileSync(models, JSON.stringify({ steps: { driver: 'steps', repoPath: folder } }));
  const steps = { command: 'sh', args: ['-c', 'cat >/dev/null; for i in 1 2 3; do echo "step $i"; sleep 0.1; done'] };
  cluster = new TestCluster();
  gateway = await cluster.startGateway();
  worker = await cluster.startWorker('worker-1', {
    http: { previews: true },
    llm: { models_file: models, shell_providers: { steps } },
  });
  await cluster.register(gateway, worker);
  token = gateway.createToken('agent', 'ann');
  client = await cluster.connect(gateway, 'agent', 'ann-too');
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

type Init = Omit<RequestInit, 'body'> & { readonly body?: Uint8Array | string };
const send = (path: string, { headers, body, ...init }: Init = {}) =>
  fetch(`${gateway.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, ...(headers as Record<string, string>) },
    ...(body !== undefined && { body: body as NonNullable<RequestInit['body']> }),
  });
const put = (path: string, body: Uint8Array | string, headers = {}) =>
  send(`/v1/files/${path}`, { method: 'PUT', body, headers });
const codeOf = async (response: Response) =>
  ((await response.json()) as { readonly error?: { readonly code: string } }).error?.code;
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
const there = (...names: string[]) => join(worker.daemon.workspace, ...names);

/** Names of what is not complete. */
const parts = () => readdirSync(there()).filter((name) => name.startsWith('.'));

/** Begins an upload, and breaks it off when a part of it has arrived. */
async function breakOff(path: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-length': CONTENT.length };
  const upload = request(`${gateway.url}/v1/files/${path}`, { method: 'PUT', headers });
  const closed = new Promise((resolve) => upload.once('error', () => undefined).once('close', resolve));
  upload.write(CONTENT.subarray(0, CONTENT.length / 2));
  await eventually(() => {
    expect(parts()).not.toEqual([]);
  });
  upload.destroy();
  await closed;
}

describe('files through a gateway', () => {
  it('are written and read whole, in parts, and with their SHA-256', async () => {
    const digest = { 'content-digest': `sha-256=:${SHA256.toString('base64')}:` };
    const written = await put('data', CONTENT, digest);
    expect([written.status, await written.json()]).toMatchObject([201, { size: CONTENT.length, created: true }]);
    expect(readFileSync(there('data')).equals(CONTENT)).toBe(true);
    const whole = await send('/v1/files/data');
    expect((await bytesOf(whole)).equals(CONTENT)).toBe(true);
    expect(whole.headers.get('etag')).toBe(written.headers.get('etag'));
    const part = await send('/v1/files/data', { headers: { range: 'bytes=1000-1999' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 1000-1999/300000']);
    expect((await bytesOf(part)).equals(CONTENT.subarray(1000, 2000))).toBe(true);
    const facts = await send('/v1/files/data', { method: 'HEAD' });
    expect(facts.headers.get('content-length')).toBe('300000');
  });

  it('have the SHA-256 after the content, in both directions', async () => {
    const trailer = await new Promise<Record<string, string | undefined>>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'want-repr-digest': 'sha-256=1' };
      request(`${gateway.url}/v1/files/data`, { headers }, (response) => {
        response.resume().once('end', () => {
          resolve(response.trailers);
        });
      })
        .once('error', reject)
        .end();
    });
    expect(trailer).toEqual({ 'repr-digest': `sha-256=:${SHA256.toString('base64')}:` });
    const wrong = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, trailer: 'Repr-Digest', 'transfer-encoding': 'chunked' };
      const upload = request(`${gateway.url}/v1/files/data`, { method: 'PUT', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).once('error', reject);
      upload.write('other content');
      upload.addTrailers({ 'Repr-Digest': `sha-256=:${SHA256.toString('base64')}:` });
      upload.end();
    });
    expect(wrong).toBe(400);
    expect(readFileSync(there('data')).equals(CONTENT)).toBe(true);
  });

  it('give errors as one daemon does', async () => {
    const failing: readonly [Response, number, string][] = [
      [await send('/v1/files/none'), 404, 'FILE_NOT_FOUND'],
      [await send('/v1/files/data', { headers: { range: 'bytes=400000-' } }), 416, 'INVALID_REQUEST'],
      [await put('data', 'x', { 'if-none-match': '*' }), 412, 'FILE_EXISTS'],
      [await put('data', 'x', { 'if-match': '"other"' }), 412, 'FILE_CHANGED'],
      [await send('/v1/files/data?node=worker-2'), 400, 'INVALID_REQUEST'],
      [
        await send('/v1/files/data?session_id=session_worker-1-abcdefg.1234567890123456789012'),
        404,
        'SESSION_NOT_FOUND',
      ],
    ];
    for (const [answer, status, code] of failing) expect([answer.status, await codeOf(answer)]).toEqual([status, code]);
    expect(failing[1]![0].headers.get('content-range')).toBe('bytes */300000');
  });

  it('are those of a session, and are judged and recorded by its worker', async () => {
    const token = gateway.createToken('agent', 'sid');
    const own = { authorization: `Bearer ${token}` };
    await using sid = await cluster.connect(gateway, 'agent', 'sid-too');
    const id = await sid.openSession();
    expect((await send(`/v1/files/x?session_id=${id}`, { headers: own })).status).toBe(404);
    expect((await send('/v1/files/data?node=worker-1', { headers: own })).status).toBe(200);
    const viewer = { authorization: `Bearer ${gateway.createToken('viewer', 'vic')}` };
    expect(await codeOf(await put('data', 'x', viewer))).toBe('FORBIDDEN');
    const records = readFileSync(worker.daemon.auditFile, 'utf8');
    expect(records).toMatch(/"from":"node gate, http 127[^}]*"request":"read_file"/);
  });

  it('go on with an upload that was broken off, and leave nothing of one that cannot', async () => {
    await breakOff('resumed?resume=key');
    const offset = CONTENT.length / 2;
    await eventually(async () => {
      const probe = await put('resumed?resume=key&offset=999999', 'x');
      expect(await probe.json()).toMatchObject({ error: { code: 'FILE_CHANGED', details: { size: offset } } });
    });
    const rest = await put(`resumed?resume=key&offset=${offset}`, CONTENT.subarray(offset));
    expect(rest.status).toBe(201);
    expect(readFileSync(there('resumed')).equals(CONTENT)).toBe(true);
    await breakOff('whole');
    await eventually(() => {
      expect(parts()).toEqual([]);
    });
    expect(existsSync(there('whole'))).toBe(false);
  });

  it('end with the link, and nothing is half written', async () => {
    await using admin = await cluster.connect(gateway, 'admin');
    writeFileSync(there('large'), Buffer.alloc(64 * MIB));
    const download = await send('/v1/files/large');
    const headers = { authorization: `Bearer ${token}`, 'content-length': CONTENT.length };
    const upload = request(`${gateway.url}/v1/files/lost`, { method: 'PUT', headers });
    const failed = new Promise<number>((resolve) => {
      upload.once('response', ({ statusCode = 0 }) => {
        resolve(statusCode);
      });
    });
    upload.write(CONTENT.subarray(0, 1000));
    await eventually(() => {
      expect(parts()).not.toEqual([]);
    });
    await admin.request('remove_node', { node: 'worker-1' });
    expect(await failed).toBe(502);
    upload.destroy();
    await expect(bytesOf(download)).rejects.toThrow();
    await eventually(() => {
      expect(parts()).toEqual([]);
    });
    expect(existsSync(there('lost'))).toBe(false);
    expect((await send('/v1/files/data')).status).toBe(503);
    await cluster.register(gateway, worker);
    expect((await send('/v1/files/data')).status).toBe(200);
  });
});

describe('the port for nodes', () => {
  it('serves nothing without a ticket', async () => {
    const { cert, key, ca } = cluster.authority.issue('curious', 'serverAuth,clientAuth');
    const tls = { cert: readFileSync(cert), key: readFileSync(key), ca: readFileSync(ca) };
    for (const ticket of [undefined, 'guessed']) {
      const status = await new Promise((resolve, reject) => {
        const headers = ticket === undefined ? {} : { 'x-shell-adapter-ticket': ticket };
        tlsRequest(`${worker.url}/v1/files/data`, { ...tls, headers, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .once('error', reject)
          .end();
      });
      expect(status).toBe(401);
    }
  });
});

describe('previews through a gateway', () => {
  let served: ServedSession;
  let owner: { readonly authorization: string };
  beforeAll(async () => {
    const { secret } = gateway.tokens.create({ name: 'owner', role: 'agent', lifeMs: undefined });
    const own = await WireClient.connect(gateway.url, ['websocket'], { token: secret });
    owner = { authorization: `Bearer ${secret}` };
    served = await serveInSession(own);
    own.socket.disconnect();
  });

  it('pass requests on as they are', async () => {
    const answer = await send(`${served.path}echo?a=1`, { method: 'POST', body: 'the body', headers: owner });
    expect(await answer.json()).toMatchObject({
      method: 'POST',
      url: '/echo?a=1',
      body: 'the body',
      headers: { host: `localhost:${served.port}`, 'x-forwarded-host': new URL(gateway.url).host },
    });
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect(await codeOf(await send(`/v1/sessions/${served.session_id}/ports/1/`, { headers: owner }))).toBe(
      'PORT_NOT_FOUND',
    );
    expect(await codeOf(await send(served.path))).toBe('SESSION_NOT_FOUND');
  });

  it('pass WebSocket on', async () => {
    const socket = io(gateway.url, {
      path: `${served.path}socket.io/`,
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
      extraHeaders: owner,
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve).once('connect_error', reject);
    });
    expect(await socket.timeout(5000).emitWithAck('echo', 'hello')).toEqual('hello');
    socket.disconnect();
  });
});

describe('completions through a gateway', () => {
  const completion = (fields: object) =>
    send('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'steps', messages: [{ role: 'user', content: 'hello' }], ...fields }),
    });

  it('are those of a worker, whole and as a stream', async () => {
    expect(await (await completion({})).json()).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { content: expect.stringContaining('step 3') as string } }],
    });
    const streamed = await completion({ stream: true });
    expect(streamed.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = (await streamed.text()).split('\n\n').filter(Boolean);
    expect(events.length).toBeGreaterThan(3);
    expect(events.at(-1)).toBe('data: [DONE]');
  });

  it('list the models, and fail as those of one daemon', async () => {
    expect(await (await send('/v1/models')).json()).toMatchObject({ data: [{ id: 'steps' }] });
    expect((await send('/v1/models/other')).status).toBe(404);
    const unknown = await completion({ model: 'other' });
    expect([unknown.status, unknown.headers.get('x-should-retry')]).toEqual([400, 'false']);
    const wrong = await completion({ messages: 'none' });
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { error: { type: 'invalid_request_error' } }]);
  });
});

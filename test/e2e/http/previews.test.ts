import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually, MIB } from '../../support/measure.js';
import { type ServedSession, serveInSession } from '../../support/network/preview.js';
import { residentBytes } from '../../support/processes.js';
import { canSandbox, startSandboxed } from '../../support/sandbox.js';
import { WireClient } from '../../support/wire.js';

let daemon: TestDaemon;
let ann: string;
let client: WireClient;
let served: ServedSession;

type Init = RequestInit & { readonly token?: string | undefined; readonly duplex?: 'half' };
const send = (path: string, { token = ann, headers, ...init }: Init = {}) =>
  fetch(`${daemon.url}${path}`, {
    redirect: 'manual',
    ...init,
    headers: { authorization: `Bearer ${token}`, ...(headers as Record<string, string>) },
  });
const failure = async (response: Response) => {
  const { error } = (await response.json()) as { readonly error: { readonly code: string; readonly message: string } };
  return { status: response.status, code: error.code, message: error.message };
};
const codeOf = async (response: Response) => {
  const { status, code } = await failure(response);
  return `${status} ${code}`;
};
interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

beforeAll(async () => {
  daemon = await TestDaemon.start({ settings: { http: { previews: true } } });
  ann = daemon.createToken('agent', 'ann');
  client = await WireClient.connect(daemon.url, ['websocket'], { token: ann });
  served = await serveInSession(client);
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

describe('/v1/sessions/ID/ports/PORT/', () => {
  it('is what preview_port answers', async () => {
    const { session_id, port, path } = served;
    expect(await client.request('preview_port', { session_id, port })).toEqual({
      session_id,
      port,
      path,
      address: '127.0.0.1',
      pid: expect.any(Number) as number,
      command: expect.stringContaining('preview-server') as string,
    });
  });

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('passes %s on', async (method) => {
    const answer = await send(`${served.path}echo?a=%20b&c`, {
      method,
      headers: { 'x-own': 'kept', 'content-type': 'text/x-odd', cookie: 'a=1' },
      ...(method !== 'GET' && { body: 'the body' }),
    });
    const echo = (await answer.json()) as Echo;
    expect(echo).toMatchObject({ method, url: '/echo?a=%20b&c', body: method === 'GET' ? '' : 'the body' });
    expect(echo.headers).toMatchObject({
      host: `localhost:${served.port}`,
      'x-own': 'kept',
      'content-type': 'text/x-odd',
      cookie: 'a=1',
      'x-forwarded-host': new URL(daemon.url).host,
      'x-forwarded-proto': 'http',
      'x-forwarded-prefix': served.path.slice(0, -1),
    });
  });

  it('passes HEAD and an answer without content on', async () => {
    const head = await send(`${served.path}headers`, { method: 'HEAD' });
    expect([head.status, head.headers.get('x-own')]).toEqual([203, 'kept']);
    expect((await send(`${served.path}empty`)).status).toBe(204);
  });

  it('passes on what was sent without the slash at the end, and errors of the program', async () => {
    const answer = await send(served.path.slice(0, -1));
    expect([answer.status, await answer.text()]).toEqual([404, 'no such page']);
  });

  it('keeps the tokens of the daemon to itself', async () => {
    const answer = await send(`${served.path}echo`, {
      headers: { 'x-api-key': ann, 'x-forwarded-user': 'root', connection: 'close' },
    });
    const text = await answer.text();
    expect(text).not.toContain(ann);
    expect(text).not.toContain('x-forwarded-user');
  });

  it('gives the content an origin of its own, and takes away what acts on that of the daemon', async () => {
    const answer = await send(`${served.path}headers`);
    expect([answer.status, answer.statusText, await answer.text()]).toEqual([203, 'Not Quite', 'body']);
    expect(answer.headers.get('content-security-policy')).toBe("sandbox, default-src 'none'");
    expect(answer.headers.getSetCookie()).toEqual([`a=1; HttpOnly; Path=${served.path}`, `b=2; Path=${served.path}`]);
    expect([...answer.headers.keys()]).toEqual(
      expect.not.arrayContaining([
        'access-control-allow-origin',
        'clear-site-data',
        'strict-transport-security',
        'service-worker-allowed',
      ]),
    );
    expect((await send(`${served.path}moved`)).headers.get('location')).toBe(`${served.path}echo?moved`);
  });

  it('streams both ways', async () => {
    const events = await send(`${served.path}held`);
    const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
    await (await send(`${served.path}next`, { method: 'POST' })).text();
    expect((await reader.read()).value).toBe('data: next\n\n');
    await reader.cancel();
    const chunks = function* () {
      for (let sent = 0; sent < 64; sent += 1) yield Buffer.alloc(MIB / 4, 'y');
    };
    const upload = await send(`${served.path}count`, {
      method: 'POST',
      body: Readable.toWeb(Readable.from(chunks())) as NonNullable<RequestInit['body']>,
      duplex: 'half',
    });
    expect(await upload.text()).toBe(String(16 * MIB));
  });

  it('takes no more memory for large content than for small', async () => {
    await (await send(`${served.path}large?mib=8`)).arrayBuffer();
    const before = residentBytes(daemon.pid);
    let peak = before;
    let bytes = 0;
    const answer = await send(`${served.path}large?mib=256`);
    for await (const chunk of answer.body!) {
      bytes += (chunk as Uint8Array).length;
      if (bytes % MIB < 65_536) peak = Math.max(peak, residentBytes(daemon.pid));
    }
    expect(bytes).toBe(256 * MIB);
    expect(peak - before).toBeLessThan(64 * MIB);
  });

  it('is reached on all addresses of the machine', async () => {
    const everywhere = await serveInSession(client, { address: '' });
    expect((await send(`${everywhere.path}echo`)).status).toBe(200);
    const elsewhere = await serveInSession(client, { address: '127.0.0.2' });
    const failed = await failure(await send(elsewhere.path));
    expect(failed).toMatchObject({ status: 409, code: 'PORT_UNAVAILABLE' });
    expect(failed.message).toContain('127.0.0.2');
  });

  it('says that the program gives no answer, or breaks it off', async () => {
    expect(await codeOf(await send(`${served.path}closed`))).toBe('502 PORT_UNREACHABLE');
    const upload = { method: 'POST', body: 'x'.repeat(MIB) };
    expect(await codeOf(await send(`${served.path}closed`, upload))).toBe('502 PORT_UNREACHABLE');
    await expect(send(`${served.path}broken`).then((answer) => answer.text())).rejects.toThrow('terminated');
  });
});

describe('who may use a preview', () => {
  it('its owner and admins, with a token', async () => {
    const path = `${served.path}echo`;
    expect((await send(path, { token: daemon.createToken('admin', 'root') })).status).toBe(200);
    expect(await codeOf(await send(path, { token: 'wrong' }))).toBe('401 UNAUTHORIZED');
    expect(await codeOf(await send(path, { token: daemon.createToken('viewer', 'vic') }))).toBe('403 FORBIDDEN');
    expect(await codeOf(await send(path, { token: daemon.createToken('operator', 'oz') }))).toBe('403 FORBIDDEN');
    expect(await codeOf(await send(path, { token: daemon.createToken('agent', 'bob') }))).toBe('404 SESSION_NOT_FOUND');
  });

  it('no page of another origin, whatever it knows', async () => {
    const headers = { origin: 'https://example.org', 'sec-fetch-site': 'cross-site', 'user-agent': 'Mozilla/5.0' };
    expect(await codeOf(await send(served.path, { headers }))).toBe('403 FORBIDDEN');
    await using open = await TestDaemon.startCold({
      settings: { http: { previews: true }, socketio: { cors_allowed_origins: '*' } },
    });
    const token = open.createToken('agent', 'ann');
    const answer = await fetch(`${open.url}${served.path}`, {
      headers: { ...headers, authorization: `Bearer ${token}` },
    });
    expect(await codeOf(answer)).toBe('403 FORBIDDEN');
    const preflight = await fetch(`${open.url}${served.path}`, {
      method: 'OPTIONS',
      headers: {
        ...headers,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });

  it('only for ports of that session, and never for those of the daemon', async () => {
    const other = await serveInSession(client);
    const at = (port: number | string) => `/v1/sessions/${served.session_id}/ports/${port}/`;
    expect(await codeOf(await send(at(other.port)))).toBe('404 PORT_NOT_FOUND');
    const own = await failure(await send(at(new URL(daemon.url).port)));
    expect(own).toMatchObject({ status: 409, code: 'PORT_UNAVAILABLE' });
    expect(own.message).toContain('the daemon itself');
    expect(await codeOf(await send(at('http')))).toBe('400 INVALID_REQUEST');
    expect(await codeOf(await send(at(70_000)))).toBe('400 INVALID_REQUEST');
    expect(await codeOf(await send('/v1/sessions/session_none/ports/80/'))).toBe('404 SESSION_NOT_FOUND');
  });

  it('is recorded, without the query', async () => {
    await (await send(`${served.path}echo?secret=1`, { method: 'POST', body: '' })).text();
    await eventually(() => {
      const records = readFileSync(daemon.auditFile, 'utf8').trim().split('\n');
      const record = records.map((line) => JSON.parse(line) as Record<string, unknown>).at(-1);
      expect(record).toMatchObject({
        request: 'preview_port',
        session_id: served.session_id,
        outcome: 'ok',
        details: { method: 'POST', path: '/echo', port: served.port },
      });
    });
  });

  it('nobody by default', async () => {
    await using closed = await TestDaemon.startCold();
    await using local = await WireClient.connect(closed.url);
    const { path } = await serveInSession(local);
    const failed = await failure(await fetch(`${closed.url}${path}`));
    expect(failed).toMatchObject({ status: 409, code: 'PORT_UNAVAILABLE' });
    expect(failed.message).toContain('http.previews');
  });

  it.runIf(canSandbox)('nobody in the own network of a sandbox', async () => {
    await using sandboxed = await startSandboxed({
      settings: { http: { previews: true }, sandbox: { profile: 'strict' } },
    });
    await using local = await WireClient.connect(sandboxed.url);
    const session_id = await local.openSession();
    const listen = `const s = require('net').createServer().listen(0, '127.0.0.1', () => console.log('port ' + s.address().port))`;
    const { command_id } = await local.run(`node -e "${listen}"`, session_id, { background: true });
    const { match } = await local.request('wait_for', { command_id, pattern: '^port \\d+$', regex: true });
    const port = Number(/\d+/.exec(match?.text ?? '')?.[0]);
    const failed = await failure(await fetch(`${sandboxed.url}/v1/sessions/${session_id}/ports/${port}/`));
    expect(failed).toMatchObject({ status: 409, code: 'PORT_UNAVAILABLE' });
    expect(failed.message).toContain('own network');
  });
});

describe('a connection', () => {
  const silent = (path: string, token = ann) => {
    const request = get(`${daemon.url}${path}silent`, { agent: false, headers: { authorization: `Bearer ${token}` } });
    const answered = new Promise<IncomingMessage | Error>((resolve) => {
      request.once('response', resolve);
      request.once('error', resolve);
    });
    return { request, answered };
  };
  /** Number of established connections to the program. */
  const connectionsOf = ({ port }: ServedSession) => {
    const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    const sockets = readFileSync('/proc/self/net/tcp', 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/));
    return sockets.filter(([, , remote, state]) => remote?.endsWith(suffix) === true && state === '01').length;
  };

  it('ends with the session', async () => {
    const own = await serveInSession(client);
    const { answered } = silent(own.path);
    await eventually(() => {
      expect(connectionsOf(own)).toBe(1);
    });
    const events = await send(`${own.path}held`);
    const broken = expect(events.text()).rejects.toThrow('terminated');
    await client.request('close_session', { session_id: own.session_id });
    const answer = (await answered) as IncomingMessage;
    expect(answer.statusCode).toBe(404);
    answer.resume();
    await once(answer, 'end');
    await broken;
  });

  it('ends with the token', async () => {
    const token = daemon.createToken('admin', 'short');
    const { answered } = silent(served.path, token);
    await eventually(() => {
      expect(connectionsOf(served)).toBe(1);
    });
    daemon.tokens.revoke('short');
    expect(await answered).toBeInstanceOf(Error);
    await eventually(() => {
      expect(connectionsOf(served)).toBe(0);
    });
  });

  it('ends with the client; a session has 64', async () => {
    const all = Array.from({ length: 64 }, () => silent(served.path));
    await eventually(() => {
      expect(connectionsOf(served)).toBe(64);
    });
    expect(await codeOf(await send(served.path))).toBe('503 RESOURCE_EXHAUSTED');
    for (const { request } of all) request.destroy();
    await Promise.all(all.map(({ answered }) => answered));
    await eventually(() => {
      expect(connectionsOf(served)).toBe(0);
    });
    expect((await send(`${served.path}echo`)).status).toBe(200);
  });
});

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';

const PAGE = 'https://page.example';
const EVIL = 'https://evil.example';

const ROUTES = [
  ['GET', '/v1/models', undefined],
  ['GET', '/v1/tools', undefined],
  ['POST', '/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'hi' }] }],
  ['POST', '/v1/requests/shell_metadata', {}],
  ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams() }],
] as const;

function initializeParams() {
  return { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'page', version: '1' } };
}

let daemon: TestDaemon;
let token: string;

beforeAll(async () => {
  daemon = await TestDaemon.start({
    settings: {
      socketio: { cors_allowed_origins: [PAGE] },
      llm: { shell_providers: { echo: { command: 'cat' } } },
    },
  });
  token = daemon.createToken('agent', 'page');
});
afterAll(() => daemon[Symbol.asyncDispose]());

/** What a browser sends for a page before the request itself. */
const preflight = (path: string, origin: string, method = 'POST') =>
  fetch(new URL(path, daemon.url), {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type,x-stainless-os',
    },
  });

const request = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
  fetch(new URL(path, daemon.url), {
    method,
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

describe.each(ROUTES)('%s %s', (method, path, body) => {
  it('is open to a page of an allowed origin, which asks before without a token', async () => {
    const answer = await preflight(path, PAGE, method);
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(answer.headers.get('access-control-allow-methods')).toContain(method);
    expect(answer.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('needs a token of it, and tells it so readably', async () => {
    const answer = await request(method, path, body, { origin: PAGE });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(await answer.json()).toHaveProperty('error');
  });

  it('answers it with its token', async () => {
    const answer = await request(method, path, body, { origin: PAGE, authorization: `Bearer ${token}` });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(answer.headers.get('vary')).toContain('Origin');
    await answer.text();
  });

  it('refuses pages of other origins, and other host names, whatever they bring', async () => {
    for (const origin of [EVIL, 'null', `${PAGE}.evil.example`]) {
      const asked = await preflight(path, origin, method);
      const answer = await request(method, path, body, { origin, authorization: `Bearer ${token}` });
      for (const { status, headers } of [asked, answer]) {
        expect({ status, allowed: headers.get('access-control-allow-origin') }).toEqual({ status: 403, allowed: null });
      }
    }
  });

  it('answers programs without the headers for pages', async () => {
    const answer = await request(method, path, body, {});
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    await answer.text();
  });
});

describe('a page', () => {
  it('streams an answer, and may read what comes with it', async () => {
    const body = { ...ROUTES[2][2], stream: true, temperature: 0 };
    const headers = { origin: PAGE, authorization: `Bearer ${token}` };
    const answer = await request('POST', '/v1/chat/completions', body, headers);
    expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(answer.headers.get('access-control-expose-headers')).toContain('X-Ignored-Params');
    expect(await answer.text()).toContain('data: [DONE]');
  });

  it('calls tools by MCP', async () => {
    const client = new Client({ name: 'page', version: '1' });
    const requestInit = { headers: { origin: PAGE, authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', daemon.url), { requestInit }));
    const { content } = await client.callTool({ name: 'run_command', arguments: { command: 'echo hi' } });
    const [answer] = content as readonly { readonly text: string }[];
    expect(JSON.parse(answer?.text ?? '')).toMatchObject({ exit_code: 0, stdout: 'hi\n' });
    await client.close();
  });

  it.each(['/healthz', '/readyz', '/metrics', '/nowhere'])('has no business at %s', async (path) => {
    expect((await preflight(path, PAGE)).status).toBe(403);
    const answer = await request('GET', path, undefined, { origin: PAGE, authorization: `Bearer ${token}` });
    expect(answer.status).toBe(403);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('is refused where clients need no token, and so bring none', async () => {
    await using open = await TestDaemon.startCold({
      settings: { auth: { mode: 'none' }, socketio: { cors_allowed_origins: '*' } },
    });
    const answer = await fetch(new URL('/v1/models', open.url), { headers: { origin: PAGE } });
    expect(answer.status).toBe(403);
  });

  it('of any origin is let in by "*", with a token', async () => {
    await using open = await TestDaemon.startCold({ settings: { socketio: { cors_allowed_origins: '*' } } });
    const key = open.createToken('agent', 'page');
    const ask = (headers: Record<string, string>) => fetch(new URL('/v1/models', open.url), { headers });
    expect((await ask({ origin: EVIL })).status).toBe(401);
    const answer = await ask({ origin: EVIL, authorization: `Bearer ${key}` });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe(EVIL);
  });
});

import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { io } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { type ServedSession, serveInSession } from '../../support/network/preview.js';
import { WireClient } from '../../support/wire.js';
import { callCli } from './in-process.js';
import { CliProcess, urlVariable } from './support.js';

let daemon: TestDaemon;
let client: WireClient;
let served: ServedSession;
let forwarding: CliProcess;
let origin: string;

beforeAll(async () => {
  daemon = await TestDaemon.start({ settings: { http: { previews: true } } });
  client = await WireClient.connect(daemon.url);
  served = await serveInSession(client);
  forwarding = new CliProcess(['forward', served.session_id, String(served.port)], { env: urlVariable(daemon) });
  [, origin = ''] = await forwarding.until('stdout', /^(http:\/\/127\.0\.0\.1:\d+) shows port \d+ of session_/);
});
afterAll(async () => {
  await forwarding[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

/** Sends a request with headers that `fetch` does not let a program set. */
async function send(path: string, headers: Readonly<Record<string, string>> = {}): Promise<[number, string]> {
  const asked = request(`${origin}${path}`, { agent: false, headers }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return [response.statusCode ?? 0, await text(response)];
}

describe('forward', () => {
  it('passes requests on under an origin of its own', async () => {
    const answer = await fetch(`${origin}/echo?a=%20b`, { method: 'POST', body: 'the body' });
    const echo = (await answer.json()) as { readonly headers: Readonly<Record<string, string>> };
    expect(echo).toMatchObject({ method: 'POST', url: '/echo?a=%20b', body: 'the body' });
    expect(echo.headers).toMatchObject({
      host: `localhost:${served.port}`,
      'x-forwarded-host': new URL(origin).host,
      'x-forwarded-proto': 'http',
    });
    expect(Object.keys(echo.headers)).not.toContain('x-forwarded-prefix');
    expect(Object.keys(echo.headers)).not.toContain('x-preview-origin');
  });

  it('leaves the content as the program sends it', async () => {
    const answer = await fetch(`${origin}/headers`);
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'");
    expect(answer.headers.getSetCookie()).toEqual(['a=1; HttpOnly; Path=/', 'b=2; Path=/']);
    expect((await fetch(`${origin}/moved`, { redirect: 'manual' })).headers.get('location')).toBe('/echo?moved');
    const large = await (await fetch(`${origin}/large?mib=8`)).arrayBuffer();
    expect(large.byteLength).toBe(8 * 1024 * 1024);
  });

  it('passes events on as they come', async () => {
    const events = await fetch(`${origin}/held`);
    const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
    await (await fetch(`${origin}/next`, { method: 'POST' })).text();
    expect((await reader.read()).value).toBe('data: next\n\n');
    await reader.cancel();
  });

  it('passes WebSocket on', async () => {
    const socket = io(origin, { transports: ['websocket'], reconnection: false, extraHeaders: { origin } });
    expect(await socket.timeout(5000).emitWithAck('echo', 'there')).toBe('there');
    socket.close();
  });

  it('is not for pages of other origins, nor under other names', async () => {
    const page = { origin: 'http://example.org', 'sec-fetch-site': 'cross-site' };
    expect(await send('/echo', page)).toEqual([403, 'shell-adapter: pages of other origins cannot use this port\n']);
    expect(await send('/echo', { host: 'example.org' })).toEqual([
      403,
      `shell-adapter: this is ${origin}, and not example.org\n`,
    ]);
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', ...page };
    expect((await send('/socket.io/?EIO=4&transport=websocket', upgrade))[0]).toBe(403);
    expect((await send('/echo', { 'sec-fetch-site': 'same-origin', origin }))[0]).toBe(200);
  });

  it('says which errors are those of the program, and passes answers on that break', async () => {
    expect(await send('/closed')).toEqual([502, expect.stringContaining('PORT_UNREACHABLE') as string]);
    await expect(send('/broken')).rejects.toThrow('aborted');
    expect(await send('/none')).toEqual([404, 'no such page']);
  });

  it('ends by a signal, with what is open', async () => {
    await using own = new CliProcess(['forward', served.session_id, String(served.port), '--url', daemon.url]);
    const [, address = ''] = await own.until('stdout', /^(http\S+) shows/);
    const socket = io(address, { transports: ['websocket'], reconnection: false });
    await once(socket as never, 'connect');
    const closed = once(socket as never, 'disconnect');
    own.child.kill('SIGINT');
    expect(await own.ended).toMatchObject({ code: 0, stderr: '' });
    await closed;
    await expect(fetch(address)).rejects.toThrow('fetch failed');
  });
});

describe('forward says what is wrong', () => {
  it.each([
    [
      'a port on which nothing listens',
      () => [served.session_id, '1'],
      /no process of session session_\S+ listens on port 1\n/,
    ],
    ['no such session', () => ['session_none', '3000'], /session_none/],
    ['no port', () => [served.session_id, 'http'], /It must be a whole number from 1 to 65535/],
  ])('of %s', async (_what, args, message) => {
    const { code, stderr } = await callCli(['forward', ...args()], { env: urlVariable(daemon) });
    expect(code).not.toBe(0);
    expect(stderr).toMatch(message);
  });

  it('of a port of this machine that is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const args = ['forward', served.session_id, String(served.port), '--local-port', String(port)];
    const { code, stderr } = await callCli(args, { env: urlVariable(daemon) });
    expect([code, stderr]).toEqual([1, expect.stringMatching(`port ${port} cannot be listened on: .*EADDRINUSE`)]);
    taken.close();
  });

  it('of an origin in a header that is none', async () => {
    const answer = await fetch(`${daemon.url}${served.path}`, { headers: { 'x-preview-origin': 'http://a/b' } });
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining('x-preview-origin has to be an origin, such as http://127.0.0.1:3000'),
    ]);
  });
});

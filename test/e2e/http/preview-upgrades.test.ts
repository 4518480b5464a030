import { type IncomingMessage, request } from 'node:http';

import { io, type Socket } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually, MIB } from '../../support/measure.js';
import { type ServedSession, serveInSession } from '../../support/network/preview.js';
import { WireClient } from '../../support/wire.js';

let daemon: TestDaemon;
let ann: string;
let client: WireClient;
let served: ServedSession;

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

/** Waits for an event of a client of Socket.IO. */
const happens = <E extends string>(
  source: { once(event: E, listener: () => void): unknown },
  event: E,
): Promise<void> =>
  new Promise((resolve) => {
    source.once(event, resolve);
  });

/** Connects to the Socket.IO server of a session through the daemon. */
async function connect(path: string, transports: ('websocket' | 'polling')[], token = ann): Promise<Socket> {
  const socket = io(daemon.url, {
    path: `${path}socket.io/`,
    transports,
    reconnection: false,
    forceNew: true,
    extraHeaders: { authorization: `Bearer ${token}` },
  });
  await happens(socket, 'connect');
  return socket;
}

/** Sends an upgrade; gives the status of the answer, and the code of its error. */
async function upgrade(path: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const asked = request(`${daemon.url}${path}`, {
    agent: false,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '13',
      ...headers,
    },
  });
  asked.end();
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve);
    asked.once('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response);
    });
    asked.once('error', reject);
  });
  if (answer.statusCode === 101) return '101';
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  const code = /"code":"(\w+)"/.exec(text)?.[1] ?? text;
  return `${answer.statusCode ?? 0} ${code}`;
}

describe('WebSocket to a port of a session', () => {
  it.each([['websocket'], ['polling'], ['polling, then websocket']])('carries Socket.IO over %s', async (way) => {
    const transports = way.split(', then ') as ('websocket' | 'polling')[];
    const socket = await connect(served.path, transports);
    await eventually(() => {
      expect(socket.io.engine.transport.name).toBe(transports.at(-1));
    });
    const large = Buffer.alloc(MIB / 2, 'z');
    const echo = (await socket.emitWithAck('echo', { text: 'hello', large })) as { text: string; large: Buffer };
    expect([echo.text, large.equals(echo.large)]).toEqual(['hello', true]);
    const { headers, via } = (await socket.emitWithAck('facts')) as { headers: Record<string, string>; via: string };
    expect(via).toBe(transports.at(-1));
    expect(headers).toMatchObject({ host: `localhost:${served.port}`, 'x-forwarded-prefix': served.path.slice(0, -1) });
    expect(headers).not.toHaveProperty('authorization');
    socket.disconnect();
  });

  it('ends with the session, and with the token', async () => {
    const own = await serveInSession(client);
    const first = await connect(own.path, ['websocket']);
    const ended = happens(first, 'disconnect');
    await client.request('close_session', { session_id: own.session_id });
    await ended;
    const second = await connect(served.path, ['websocket'], daemon.createToken('admin', 'short'));
    const revoked = happens(second, 'disconnect');
    daemon.tokens.revoke('short');
    await revoked;
  });

  it('needs what other requests need', async () => {
    const bearer = { authorization: `Bearer ${ann}` };
    const path = `${served.path}socket.io/?EIO=4&transport=websocket`;
    expect(await upgrade(path, bearer)).toBe('101');
    expect(await upgrade(path, { authorization: 'Bearer wrong' })).toBe('401 UNAUTHORIZED');
    const viewer = { authorization: `Bearer ${daemon.createToken('viewer', 'vic')}` };
    expect(await upgrade(path, viewer)).toBe('403 FORBIDDEN');
    const other = { authorization: `Bearer ${daemon.createToken('agent', 'bob')}` };
    expect(await upgrade(path, other)).toBe('404 SESSION_NOT_FOUND');
    expect(await upgrade(path, { ...bearer, origin: 'https://example.org' })).toBe('403 FORBIDDEN');
    expect(await upgrade(path, { ...bearer, host: 'example.org' })).toBe('403 FORBIDDEN');
    expect(await upgrade(path, { ...bearer, upgrade: 'h2c' })).toBe('400 INVALID_REQUEST');
    const port = new URL(daemon.url).port;
    expect(await upgrade(`/v1/sessions/${served.session_id}/ports/${port}/`, bearer)).toBe('409 PORT_UNAVAILABLE');
    expect(await upgrade(`/v1/sessions/${served.session_id}/ports/1/`, bearer)).toBe('404 PORT_NOT_FOUND');
    expect(await upgrade(`${served.path}closed`, bearer)).toMatch(/^(?:400|502) /);
  });
});

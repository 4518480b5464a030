import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { type AllowedDestination, AllowList, parseAllowed, type Refusal } from '../../../../src/core/egress.js';
import { NO_METRICS } from '../../../../src/core/metrics.js';
import { Dialer } from '../../../../src/engine/egress/dialer.js';
import { EgressProxy } from '../../../../src/engine/egress/egress-proxy.js';

const noop = () => undefined;
const QUIET = { debug: noop, info: noop, warn: noop, error: noop };

describe('the proxy of a sandbox', () => {
  /** Answers with what it has received. */
  let echo: Server;
  let front: Server;
  let port: number;
  let asked: string[];
  let refusals: Refusal[];
  const addresses: Record<string, string[]> = {};

  const listen = async (server: Server): Promise<number> => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const start = async (allow: readonly string[], idleTimeoutMs = 10_000): Promise<Dialer> => {
    const resolve = (name: string) => {
      asked.push(name);
      return Promise.resolve(addresses[name] ?? []);
    };
    const allowList = new AllowList(allow.map((text) => parseAllowed(text) as AllowedDestination));
    const dialer = new Dialer(allowList, resolve);
    const proxy = new EgressProxy({ dialer, metrics: NO_METRICS, log: QUIET, maxConnections: 2, idleTimeoutMs });
    proxy.onRefused = (refusal) => refusals.push(refusal);
    front = createServer({ allowHalfOpen: true }, (client) => {
      proxy.accept(client);
    });
    await listen(front);
    return dialer;
  };
  const open = async (): Promise<Socket> => {
    const client = connect({ port: (front.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
    await once(client, 'connect');
    return client;
  };
  /** Sends a text, and returns all that comes back until the connection ends. */
  const ask = async (text: string): Promise<string> => {
    const client = await open();
    client.end(text, 'latin1');
    let answer = '';
    client.setEncoding('latin1').on('data', (part: string) => (answer += part));
    client.on('error', noop);
    await new Promise((resolve) => client.once('close', resolve));
    return answer;
  };
  const connectTo = (host: string, then = '') => ask(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: x\r\n\r\n${then}`);

  beforeEach(async () => {
    asked = [];
    refusals = [];
    echo = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', noop).pipe(socket);
    });
    port = await listen(echo);
    Object.assign(addresses, { 'here.test': ['127.0.0.1'], 'both.test': ['10.255.255.1', '127.0.0.1'] });
  });
  afterEach(() => {
    echo.close();
    front.close();
  });

  it('looks names up itself, and connects to no private address that is not listed', async () => {
    await start(['here.test', 'both.test']);
    expect(await connectTo('here.test', 'SSH-2.0-x\r\n')).toContain('403 Forbidden');
    expect(await connectTo('both.test')).toContain('403 Forbidden');
    expect(asked).toEqual(['here.test', 'both.test']);
    expect(refusals.map(({ reason }) => reason)).toEqual(['not_public', 'not_public']);
    expect(refusals[0]?.message).toContain(`"127.0.0.1:${port}" would allow it`);
  });

  it('connects to the listed one among several addresses', async () => {
    await start(['both.test', '127.0.0.1']);
    expect(await connectTo('both.test', 'SSH-2.0-x\r\n')).toMatch(/^HTTP\/1.1 200 .*\r\n\r\nSSH-2.0-x\r\n$/);
    expect(refusals).toEqual([]);
  });

  it('looks up no name that is not listed', async () => {
    await start(['here.test']);
    expect(await connectTo('elsewhere.test')).toContain('403 Forbidden');
    expect(asked).toEqual([]);
  });

  it('connects to no port that is forbidden, by no address of the machine', async () => {
    const dialer = await start(['here.test', '0.0.0.0/0', '::/0']);
    dialer.forbidOwnPort(port);
    for (const host of ['here.test', '127.0.0.1', '127.0.0.2', '0.0.0.0', '[::1]', '[::ffff:127.0.0.1]']) {
      expect(await connectTo(host), host).toContain('403 Forbidden');
    }
    expect(new Set(refusals.map(({ reason }) => reason))).toEqual(new Set(['own_port']));
  });

  it('says that nothing answers, which is no refusal', async () => {
    await start(['here.test', 'nowhere.test', '127.0.0.1']);
    echo.close();
    await once(echo, 'close');
    expect(await connectTo('here.test')).toContain('502 Bad Gateway');
    expect(await connectTo('nowhere.test')).toContain('502 Bad Gateway');
    expect(refusals).toEqual([]);
  });

  it('speaks SOCKS 5 with names, and says no to anything but connecting', async () => {
    await start(['here.test', '127.0.0.1']);
    const greeting = '\x05\x01\x00';
    const name = `\x09here.test${String.fromCharCode(port >> 8, port & 0xff)}`;
    const connected = '\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00';
    expect(await ask(`${greeting}\x05\x01\x00\x03${name}SSH-2.0-x\r\n`)).toBe(`${connected}SSH-2.0-x\r\n`);
    expect(await ask(`${greeting}\x05\x02\x00\x03${name}`)).toBe('\x05\x00\x05\x07\x00\x01\x00\x00\x00\x00\x00\x00');
    expect(await ask('\x05\x01\x02')).toBe('\x05\xff');
    expect(refusals.map(({ reason }) => reason)).toEqual(['not_understood', 'not_understood']);
  });

  it.each([
    ['an origin in place of a URL', 'GET / HTTP/1.1\r\nHost: here.test\r\n\r\n'],
    ['two hosts', 'GET http://here.test/ HTTP/1.1\r\nHost: here.test\r\nHost: evil.test\r\n\r\n'],
    ['no host', 'GET http://here.test/ HTTP/1.1\r\n\r\n'],
    ['https in a URL', 'GET https://here.test/ HTTP/1.1\r\nHost: here.test\r\n\r\n'],
    ['a user that looks like a host', 'GET http://here.test@evil.test/ HTTP/1.1\r\nHost: here.test\r\n\r\n'],
  ])('passes no request on with %s', async (_, request) => {
    await start(['here.test', '127.0.0.1']);
    expect(await ask(request)).toMatch(/^HTTP\/1.1 403 /);
    expect(refusals).toHaveLength(1);
    expect(asked).toEqual([]);
  });

  it('judges every request of a tunnel with plain HTTP', async () => {
    await start(['here.test', '127.0.0.1']);
    const second = `GET /second HTTP/1.1\r\nHost: evil.test\r\n\r\n`;
    await connectTo('here.test', `\r\nGET /first HTTP/1.1\r\nHost: here.test:${port}\r\n\r\n${second}`);
    expect(refusals.map(({ message }) => message)).toEqual([expect.stringContaining('Host header names evil.test')]);
  });

  it('closes connections without traffic, and takes new ones then', async () => {
    await start(['127.0.0.1'], 50);
    const idle = await Promise.all([open(), open()]);
    await Promise.all(idle.map((client) => once(client.resume(), 'end')));
    for (const client of idle) client.destroy();
    expect(await connectTo('127.0.0.1', 'SSH-2.0-x\r\n')).toContain('SSH-2.0-x');
  });

  it('has a bound on connections', async () => {
    await start(['127.0.0.1']);
    const held = await Promise.all([open(), open()]);
    expect(await connectTo('127.0.0.1')).toBe('');
    expect(refusals.map(({ reason }) => reason)).toEqual(['too_many']);
    for (const client of held) client.destroy();
  });
});

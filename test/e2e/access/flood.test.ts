import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect } from 'vitest';

import { PROCESS_HANG_MS } from '../../support/hang.js';
import { makeCertificate } from '../../support/network/certificate.js';
import { TestDaemon } from '../../support/daemon.js';
import { ask } from '../../support/http.js';
import { eventually, MIB } from '../../support/measure.js';
import { residentBytes } from '../../support/processes.js';
import { readSamples } from '../../support/network/prometheus.js';
import { itRoot } from '../../support/root.js';
import { WireClient } from '../../support/wire.js';

const [FLOODER, HONEST] = [12_345, 12_346];
const SOCKETS = 1000;
/** Growth of the daemon that is allowed, in bytes. */
const MAX_GROWTH = 100 * MIB;

/** What a flood sends over each connection: the request of a WebSocket, or the start of a TLS handshake, without an end. */
const OPENINGS = {
  websocket: [
    'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n',
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  ].join(''),
  // A record of 512 bytes with a ClientHello that has 508: only the first of them come. Source: RFC 8446, 5.1.
  tls: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
} as const;

/**
 * Opens connections at once. Prints a line when each has its first answer or is closed, with their statuses; ends with its
 * input.
 */
const FLOOD = `
  const { hostname, port } = new URL(process.argv[1]);
  const statuses = {};
  let waiting = Number(process.argv[2]);
  const count = (status) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
    waiting -= 1;
    if (waiting === 0) console.log(JSON.stringify(statuses));
  };
  for (let left = waiting; left > 0; left -= 1) {
    const socket = require('node:net').connect(Number(port), hostname, () => socket.write(process.argv[3], 'base64'));
    let status = 'closed';
    socket.once('data', (data) => status === 'closed' && count((status = data.toString('latin1').slice(9, 12))));
    socket.once('error', () => undefined);
    socket.once('close', () => status === 'closed' && count(status));
  }
  process.stdin.on('end', () => process.exit()).resume();
`;

/** Connects with a token, again and again; prints the times in milliseconds, or why not. */
const CONNECT = `
  import { io } from ${JSON.stringify(import.meta.resolve('socket.io-client'))};
  const [url, token, ca, times] = process.argv.slice(1);
  const taken = [];
  const connect = () => {
    const start = performance.now();
    const socket = io(url, { transports: ['websocket'], reconnection: false, forceNew: true, auth: { token }, ca: ca || undefined });
    socket.on('connect', () => {
      taken.push(performance.now() - start);
      socket.disconnect();
      if (taken.length < Number(times)) connect();
      else process.stdout.write(JSON.stringify(taken), () => process.exit());
    });
    socket.on('connect_error', (error) => process.stdout.write(JSON.stringify(error.message), () => process.exit()));
  };
  connect();
`;

const as = (uid: number) => ({ uid, gid: uid, cwd: '/' });

/** Connects as another user; returns the times, in milliseconds, or the message of an error. */
async function connectAs(uid: number, place: Place, times = 1): Promise<readonly number[] | string> {
  const args = ['--input-type=module', '-e', CONNECT, place.url, place.token, place.ca, String(times)];
  return JSON.parse((await promisify(execFile)(process.execPath, args, as(uid))).stdout) as number[] | string;
}

/** A daemon, a token for it, and its certificate if it has one. */
interface Place {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
}

/** Connects of the honest client, and the longest time of 95 in 100 of them, in milliseconds. */
const CONNECTS = 40;
const MAX_CONNECT_MS = PROCESS_HANG_MS;

async function expectPromptConnects(place: Place): Promise<void> {
  const times = await connectAs(HONEST, place, CONNECTS);
  if (typeof times === 'string') throw new Error(times);
  expect(times.toSorted((a, b) => a - b)[Math.ceil(CONNECTS * 0.95) - 1]).toBeLessThan(MAX_CONNECT_MS);
}

function startFlood(url: string, opening: keyof typeof OPENINGS) {
  const flood = spawn(
    process.execPath,
    ['-e', FLOOD, url, String(SOCKETS), Buffer.from(OPENINGS[opening], 'latin1').toString('base64')],
    as(FLOODER),
  );
  const ended = once(flood, 'exit');
  return {
    statuses: statusesOf(flood),
    [Symbol.asyncDispose]: async () => {
      flood.stdin.end();
      await ended;
    },
  };
}

async function statusesOf(flood: ChildProcess): Promise<Record<string, number>> {
  const [line] = (await once(createInterface(flood.stdout!), 'line')) as [string];
  return JSON.parse(line) as Record<string, number>;
}

itRoot('a thousand WebSockets of another user at once keep nobody else out, and take little memory', async () => {
  await using daemon = await TestDaemon.startCold();
  const place = { url: daemon.url, token: daemon.createToken('agent', 'honest'), ca: '' };
  const before = residentBytes(daemon.pid);
  {
    await using flood = startFlood(daemon.url, 'websocket');
    await using client = await WireClient.connect(daemon.url);
    expect(await client.run('echo in time')).toMatchObject({ stdout: 'in time\n' });
    await expectPromptConnects(place);
    const { 101: upgraded = 0, 503: refused = 0 } = await flood.statuses;
    expect(residentBytes(daemon.pid) - before).toBeLessThan(MAX_GROWTH);
    expect(upgraded).toBeGreaterThanOrEqual(50);
    expect(upgraded + refused).toBe(SOCKETS);
    const samples = readSamples((await ask(`${daemon.url}/metrics`)).text, 'shell_adapter_');
    expect(samples.get('connections_refused_total{code="RESOURCE_EXHAUSTED"}')).toBe(refused);
    const logged = readFileSync(join(daemon.directory, 'log'), 'utf8').match(/a connection was refused/g) ?? [];
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.length).toBeLessThan(refused / 10);
  }
  await eventually(async () => {
    expect(await connectAs(FLOODER, place)).toHaveLength(1);
  });
});

/** Time after which the daemon of this test ends a handshake, in seconds. */
const HANDSHAKE_TIMEOUT_S = 2;

itRoot('so do a thousand TLS handshakes that never end; they are ended in time', async () => {
  await using files = await TestDaemon.startCold();
  const tls = makeCertificate(files.directory);
  await using daemon = await TestDaemon.startCold({
    settings: { socketio: { tls, handshake_timeout: HANDSHAKE_TIMEOUT_S } },
  });
  const ca = readFileSync(tls.cert, 'utf8');
  const place = { url: daemon.url, token: daemon.createToken('agent', 'honest'), ca };
  expect(await connectAs(FLOODER, place)).toHaveLength(1);
  const before = residentBytes(daemon.pid);
  await using flood = startFlood(daemon.url, 'tls');
  await expectPromptConnects(place);
  expect(residentBytes(daemon.pid) - before).toBeLessThan(MAX_GROWTH);
  expect(await flood.statuses).toEqual({ closed: SOCKETS });
  const logged = readFileSync(join(daemon.directory, 'log'), 'utf8').match(/a connection was refused/g) ?? [];
  expect(logged.length).toBeGreaterThan(0);
  await eventually(async () => {
    expect(await connectAs(FLOODER, place)).toHaveLength(1);
  });
});

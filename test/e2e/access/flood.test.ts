import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { ask } from '../../support/http.js';
import { eventually, MIB } from '../../support/measure.js';
import { residentBytes } from '../../support/processes.js';
import { readSamples } from '../../support/prometheus.js';
import { itRoot } from '../../support/root.js';
import { WireClient } from '../../support/wire.js';

const [FLOODER, HONEST] = [12_345, 12_346];
const SOCKETS = 1000;
/** Growth of the daemon that is allowed, in bytes. */
const MAX_GROWTH = 100 * MIB;

/** Opens WebSockets at once. Prints a line when each has its first answer, with their statuses; ends with its input. */
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
    const socket = require('node:net').connect(Number(port), hostname, () => {
      socket.write('GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\\r\\nHost: ' + hostname + '\\r\\nConnection: Upgrade\\r\\n' +
        'Upgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n');
    });
    let status = 'closed';
    socket.once('data', (data) => count((status = data.toString('latin1').slice(9, 12))));
    socket.once('error', () => undefined);
    socket.once('close', () => status === 'closed' && count(status));
  }
  process.stdin.on('end', () => process.exit()).resume();
`;

/** Connects with a token and prints \`in\`, or why not. */
const CONNECT = `
  import { io } from ${JSON.stringify(import.meta.resolve('socket.io-client'))};
  const socket = io(process.argv[1], { transports: ['websocket'], reconnection: false, auth: { token: process.argv[2] } });
  const say = (text) => process.stdout.write(text, () => process.exit());
  socket.on('connect', () => say('in'));
  socket.on('connect_error', (error) => say(error.message));
`;

const as = (uid: number) => ({ uid, gid: uid, cwd: '/' });

async function connectAs(uid: number, url: string, token: string): Promise<string> {
  const args = ['--input-type=module', '-e', CONNECT, url, token];
  return (await promisify(execFile)(process.execPath, args, as(uid))).stdout;
}

async function statusesOf(flood: ChildProcess): Promise<Record<string, number>> {
  const [line] = (await once(createInterface(flood.stdout!), 'line')) as [string];
  return JSON.parse(line) as Record<string, number>;
}

itRoot('a thousand WebSockets of another user at once keep nobody else out, and take little memory', async () => {
  await using daemon = await TestDaemon.start();
  const token = daemon.createToken('agent', 'honest');
  const before = residentBytes(daemon.pid);
  const flood = spawn(process.execPath, ['-e', FLOOD, daemon.url, String(SOCKETS)], as(FLOODER));
  const ended = once(flood, 'exit');
  try {
    let statuses: Record<string, number> | undefined;
    const counted = statusesOf(flood).then((all) => (statuses = all));
    do {
      await using client = await WireClient.connect(daemon.url);
      expect(await client.run('echo in time')).toMatchObject({ stdout: 'in time\n' });
    } while (!statuses);
    expect(await connectAs(HONEST, daemon.url, token)).toBe('in');
    expect(residentBytes(daemon.pid) - before).toBeLessThan(MAX_GROWTH);
    const { 101: upgraded = 0, 503: refused = 0 } = await counted;
    expect(upgraded).toBeGreaterThanOrEqual(50);
    expect(upgraded + refused).toBe(SOCKETS);
    const samples = readSamples((await ask(`${daemon.url}/metrics`)).text, 'shell_adapter_');
    expect(samples.get('connections_refused_total{code="RESOURCE_EXHAUSTED"}')).toBe(refused);
    const logged = readFileSync(join(daemon.directory, 'log'), 'utf8').match(/a connection was refused/g) ?? [];
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.length).toBeLessThan(refused / 10);
  } finally {
    flood.stdin.end();
    await ended;
  }
  await eventually(async () => {
    expect(await connectAs(FLOODER, daemon.url, token)).toBe('in');
  });
});

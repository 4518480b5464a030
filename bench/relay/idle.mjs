import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { dial } from '../../dist/cluster/dial.js';
import { LINK_VERSION } from '../../dist/core/cluster/link-messages.js';
import { LinkSecret } from '../../dist/services/access/dashboard-links.js';
import { startPair } from './pair.mjs';

const LINKS = 50;
const IDLE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Links that nothing uses: this process is the other end of them, and counts what passes. */
export const idle = {
  name: 'an idle link',
  async run({ short }) {
    const pair = await startPair();
    const { worker, linkPort, directory } = pair;
    const ms = short ? 1000 : IDLE_MS;
    const alone = await costOf(worker, ms);
    const counter = await startCounter(linkPort);
    const links = await Promise.all(
      Array.from({ length: short ? 2 : LINKS }, (_, index) => dialAs(`gate-${index}`, { directory, counter })),
    );
    const begun = counter.bytes;
    const beside = await costOf(worker, ms);
    const bytes = counter.bytes - begun;
    for (const { socket } of links) socket.disconnect();
    counter.close();
    await pair.stop();
    const perHour = (value) => (value / links.length / ms) * HOUR_MS;
    const cpu = (end) => `${(perHour(beside[end] - alone[end]) / 1e6).toFixed(2)} s`;
    return `${(perHour(bytes) / 1000).toFixed(0)} kB an hour, both ways; CPU in an hour ${cpu('own')} at the gateway, with a counter of bytes, ${cpu('worker')} at the worker`;
  },
};

/** CPU time in a while, in microseconds. */
async function costOf(worker, ms) {
  const before = { worker: worker.ownCpuUs(), own: process.cpuUsage() };
  await sleep(ms);
  const { user, system } = process.cpuUsage(before.own);
  return { worker: worker.ownCpuUs() - before.worker, own: user + system };
}

/** Passes connections on to a port, and counts their bytes, those of TLS included. */
async function startCounter(port) {
  const counter = { bytes: 0, port: 0, close: () => server.close() };
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [from, to],
      [to, from],
    ]) {
      one.on('data', (chunk) => (counter.bytes += chunk.length));
      one.on('error', () => other.destroy());
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  counter.port = server.address().port;
  return counter;
}

function dialAs(node, { directory, counter }) {
  const read = (file) => readFileSync(join(directory, file), 'utf8');
  return dial({
    url: `https://127.0.0.1:${counter.port}`,
    node: 'worker-1',
    identity: { node, incarnation: 'aaaaaaa', version: '1', link_version: LINK_VERSION, instance_id: node },
    secret: new LinkSecret(join(directory, 'secret')),
    tls: { cert: read('gate.pem'), key: read('gate-key.pem'), ca: read('ca.pem') },
    signal: new AbortController().signal,
  });
}

import { spawn } from 'node:child_process';

import { summarize, timeEach } from '../measure.mjs';

const SOCKETS = 1000;
/** Any user but root: the kernel needs no name for it. */
const OTHER_UID = 12_345;

/** Begins WebSockets at once. Prints a line when each has had an answer; ends with its input. */
const FLOOD = `
  const { hostname, port } = new URL(process.argv[1]);
  let waiting = Number(process.argv[2]);
  const note = () => --waiting === 0 && console.log('answered');
  for (let left = waiting; left > 0; left--) {
    const socket = require('node:net').connect(Number(port), hostname, () => {
      socket.write('GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: Upgrade\\r\\n' +
        'Upgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n');
    });
    socket.once('data', note).on('error', () => undefined);
  }
  process.stdin.on('end', () => process.exit()).resume();
`;

/** The floor is the same connection to a daemon that does nothing else. */
export const connectBesideFlood = {
  name: 'connect beside 1000 handshakes',
  target: 5,
  note: 'another user begins a thousand WebSockets at once; without root it is the same user',
  async run({ daemon, short }) {
    const connect = async () => {
      const client = await daemon.connect();
      await client.request('list_sessions');
      client.disconnect();
    };
    const floor = summarize(await timeEach(short ? 10 : 100, connect));
    const before = daemon.residentMiB();
    let peak = before;
    const times = [];
    for (let round = 0; round < (short ? 1 : 5); round++) {
      times.push(...(await whileFlooded(daemon.url, connect)));
      peak = Math.max(peak, daemon.residentMiB());
    }
    const ours = summarize(times);
    const extra = `p95 ${ours.p95.toFixed(0)} ms (target 500), daemon grew by ${(peak - before).toFixed(0)} MiB (target 100)`;
    return { floor, ours, ratio: ours.p50 / floor.p50, extra };
  },
};

/** Times of a work that is repeated until every socket of a flood has had an answer, in milliseconds. */
async function whileFlooded(url, work) {
  const user = process.getuid() === 0 ? { uid: OTHER_UID, gid: OTHER_UID, cwd: '/' } : {};
  const flood = spawn(process.execPath, ['-e', FLOOD, url, String(SOCKETS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...user,
  });
  const ended = new Promise((resolve) => flood.once('exit', resolve));
  let isAnswered = false;
  flood.stdout.once('data', () => (isAnswered = true));
  const times = [];
  while (!isAnswered) times.push(...(await timeEach(1, work)));
  flood.stdin.end();
  await ended;
  return times;
}

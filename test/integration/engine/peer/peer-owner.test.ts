import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';

import { PeerSockets } from '../../../../src/engine/platform/peer.js';
import type { PeerSocket } from '../../../../src/engine/platform/platform.js';
import { linux } from '../../../../src/engine/platform/linux/linux.js';
import { findSockets, writtenEnds } from '../../../../src/engine/platform/linux/sockets.js';
import { posix } from '../../../../src/engine/platform/posix/posix.js';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const row = (local: string, remote: string, state: string, uid: number) =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 4242 1 0000000000000000 20 4 30 10 -1\n`;

const V4 = { remoteAddress: '127.0.0.1', remotePort: 51_234, localAddress: '127.0.0.1', localPort: 8087 };
const V6 = { ...V4, remoteAddress: '::1', localAddress: '::1' };
const [CLIENT, DAEMON] = ['0100007F:C822', '0100007F:1F97'];

/** The socket of a peer's end in a table. */
function findSocket(table: string, ends: typeof V4, isLittleEndian: boolean): PeerSocket | undefined {
  const ways = writtenEnds(ends, isLittleEndian);
  const [found, ...others] = findSockets(table, new Set(ways)).values();
  expect(others).toEqual([]);
  return found;
}

describe('the owner of a connection in a table of the kernel', () => {
  it('is that of the line whose local end is the peer’s', () => {
    const table = HEAD + row(DAEMON, CLIENT, '01', 1) + row(CLIENT, DAEMON, '01', 1000);
    expect(findSocket(table, V4, true)?.owner).toBe(1000);
  });

  it.each([
    ['a connection that is ending (TIME_WAIT has no owner and says 0)', row(CLIENT, DAEMON, '06', 0)],
    ['another port of the peer', row('0100007F:C823', DAEMON, '01', 1000)],
    ['another port of the daemon', row(CLIENT, '0100007F:1F98', '01', 1000)],
    ['another address', row('0200007F:C822', DAEMON, '01', 1000)],
    ['the daemon’s own end alone', row(DAEMON, CLIENT, '01', 1000)],
    ['nothing', ''],
    ['a torn line', '   0: 0100007F:C8'],
  ])('is not known by %s', (_what, line) => {
    expect(findSocket(HEAD + line, V4, true)).toBeUndefined();
  });

  it('is found for IPv6, and for IPv4 in IPv6', () => {
    const loopback = '00000000000000000000000001000000';
    const mapped = '0000000000000000FFFF00000100007F';
    const table =
      HEAD + row(`${loopback}:C822`, `${loopback}:1F97`, '01', 7) + row(`${mapped}:C822`, `${mapped}:1F97`, '01', 8);
    expect(findSocket(table, V6, true)?.owner).toBe(7);
    expect(findSocket(table, { ...V4, remoteAddress: '::ffff:127.0.0.1' }, true)?.owner).toBe(8);
    expect(findSocket(table, V4, true)?.owner).toBe(8);
  });

  it('is found on a machine with the other byte order', () => {
    expect(findSocket(HEAD + row('7F000001:C822', '7F000001:1F97', '01', 5), V4, false)?.owner).toBe(5);
  });
});

describe('the owners of many connections in one table', () => {
  it('are each that of its own line, however long the numbers of the lines are', () => {
    const ends = Array.from({ length: 300 }, (_, index) => ({ ...V4, remotePort: 20_000 + index }));
    const lines = ends.map((one, index) => {
      const [written = ''] = writtenEnds(one, true);
      const [peer = '', daemon = ''] = written.split(' ');
      return row(peer, daemon, '01', index).replace('0:', `${index * 1000}:`);
    });
    const wanted = new Set(ends.flatMap((one) => writtenEnds(one, true)));
    const owners = [...findSockets(HEAD + lines.join(''), wanted).values()].map(({ owner }) => owner);
    expect(owners).toEqual(ends.map((_, index) => index));
  });
});

describe.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  ['::', '127.0.0.1'],
])('a real connection from a daemon at %s to %s', (host, target) => {
  it.each([linux, posix])(
    'is this user’s as long as it stands, and nobody’s afterwards, on $name',
    async ({ peers }) => {
      const server: Server = createServer();
      const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
      await new Promise<void>((resolve) => server.listen(0, host, resolve));
      const client = connect((server.address() as AddressInfo).port, target);
      const socket = await accepted;
      const { remoteAddress, remotePort, localAddress, localPort } = socket;
      const peer = { remoteAddress, remotePort, localAddress, localPort };
      const sockets = new PeerSockets(peers);
      expect((await sockets.find(peer))?.owner).toBe(process.getuid!());
      expect(await sockets.find({ ...peer, remotePort: 1 })).toBeUndefined();
      expect(await sockets.find({ ...peer, remoteAddress: '192.0.2.1' })).toBeUndefined();
      client.destroy();
      await new Promise((resolve) => socket.once('close', resolve).resume());
      expect(await sockets.find(peer)).toBeUndefined();
      expect(await sockets.find(socket)).toBeUndefined();
      await new Promise((resolve) => server.close(resolve));
    },
  );
});

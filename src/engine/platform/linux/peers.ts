import { readFile } from 'node:fs/promises';

import type { PeerLook, PeerSocket, TcpEnds } from '../contract/peers.js';
import { findSockets, writtenEnds } from './socket-table.js';

/** The kernel gives a table in pages of 4 KiB, and a line can be missed when others come and go between two of them. */
const MAX_LOOKS = 6;

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** Peers by the kernel's tables of all connections. */
export const linuxPeers: PeerLook = { maxLooks: MAX_LOOKS, findAll };

async function findAll(asked: readonly TcpEnds[]): Promise<readonly (PeerSocket | undefined)[]> {
  const written = asked.map((ends) => writtenEnds(ends));
  const wanted = new Set(written.flat());
  // ENOENT: a kernel without IPv6.
  const tables = await Promise.all(TABLES.map((file) => readFile(file, 'latin1').catch(() => '')));
  const found = tables.map((table) => findSockets(table, wanted));
  return written.map((ways) => {
    const sockets = found.flatMap((sockets) => ways.map((way) => sockets.get(way)));
    return sockets.find((socket) => socket !== undefined);
  });
}

import { open } from 'node:fs/promises';

import type { PeerLook, PeerSocket, TcpEnds } from '../contract/peers.js';
import { findSockets, writtenEnds } from './socket-table.js';

/** The kernel gives a table in pages of 4 KiB, and a line can be missed when others come and go between two of them. */
const MAX_LOOKS = 6;

/**
 * The kernel's tables of all connections, with the number of digits of their addresses. The kernel walks through all of its
 * connections for each of them, which takes a millisecond or more, and nearly all programs are in the first.
 */
const TABLES = [
  { file: '/proc/self/net/tcp', digits: 8 },
  { file: '/proc/self/net/tcp6', digits: 32 },
] as const;

/** Bytes that are read at once: more than a page. */
const CHUNK_BYTES = 16 * 1024;

/** Peers by the kernel's tables of all connections. */
export const linuxPeers: PeerLook = { maxLooks: MAX_LOOKS, findAll };

async function findAll(asked: readonly TcpEnds[]): Promise<readonly (PeerSocket | undefined)[]> {
  const written = asked.map((ends) => writtenEnds(ends));
  const found = new Map<string, PeerSocket>();
  for (const { file, digits } of TABLES) {
    const unknown = written.filter((ways) => !ways.some((way) => found.has(way))).flat();
    const wanted = new Set(unknown.filter((way) => way.indexOf(':') === digits));
    if (wanted.size > 0) await search(file, wanted, found);
  }
  return written.map((ways) => ways.map((way) => found.get(way)).find((socket) => socket !== undefined));
}

/** Adds the sockets of a table that are wanted to those that are found. Reads no further than the last of them. */
async function search(file: string, wanted: Set<string>, found: Map<string, PeerSocket>): Promise<void> {
  try {
    await using table = await open(file);
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let rest = '';
    while (wanted.size > 0) {
      const { bytesRead } = await table.read(buffer, 0, CHUNK_BYTES);
      if (bytesRead === 0) return;
      const text = rest + buffer.toString('latin1', 0, bytesRead);
      const end = text.lastIndexOf('\n') + 1;
      for (const [ends, socket] of findSockets(text.slice(0, end), wanted)) {
        found.set(ends, socket);
        wanted.delete(ends);
      }
      // From the end of a line on, as a table has its lines after that of its head.
      rest = text.slice(Math.max(0, end - 1));
    }
  } catch {
    // ENOENT: a kernel without IPv6. EMFILE: the peer stays unknown, and needs a token.
  }
}

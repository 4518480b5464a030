import { readFile } from 'node:fs/promises';

import { isLoopbackAddress } from '../../core/ip-address.js';
import { BatchedLook } from './batched-look.js';
import { findSockets, type PeerSocket, type TcpEnds, writtenEnds } from './socket-table.js';

/**
 * Most looks for one connection. The kernel gives a table in pages of 4 KiB, and a line can be missed when others come and go
 * between two of them.
 */
const MAX_LOOKS = 6;

/** A TCP connection from the perspective of the server. Undefined where the socket is closed. */
export interface Peer {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** Uid of users without a mapping in this user namespace (user_namespaces(7)). */
const OVERFLOW_UID = 65_534;

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** Finds the peers' sockets of loopback connections to this process, in the kernel's tables of all connections. */
export class PeerSockets {
  /** A table has a line for each connection of the machine, so one read serves all peers that wait. */
  readonly #looks = new BatchedLook(findAll);

  /**
   * Returns the peer's socket. Undefined where that is unknown: another machine, a connection that has ended, a user
   * without a mapping here.
   */
  async find({ remoteAddress, remotePort, localAddress, localPort }: Peer): Promise<PeerSocket | undefined> {
    if (remoteAddress === undefined || localAddress === undefined) return undefined;
    if (remotePort === undefined || localPort === undefined || !isLoopbackAddress(remoteAddress)) return undefined;
    const ends = { remoteAddress, remotePort, localAddress, localPort };
    let socket = await this.#looks.ask(ends);
    for (let look = 1; !socket && look < MAX_LOOKS; look += 1) socket = await this.#looks.ask(ends);
    return socket?.owner === OVERFLOW_UID ? undefined : socket;
  }
}

async function findAll(asked: readonly TcpEnds[]): Promise<readonly (PeerSocket | undefined)[]> {
  const written = asked.map((ends) => writtenEnds(ends));
  const wanted = new Set(written.flat());
  // ENOENT: not Linux, or a kernel without IPv6.
  const tables = await Promise.all(TABLES.map((file) => readFile(file, 'latin1').catch(() => '')));
  const found = tables.map((table) => findSockets(table, wanted));
  return written.map((ways) => {
    const sockets = found.flatMap((sockets) => ways.map((way) => sockets.get(way)));
    return sockets.find((socket) => socket !== undefined);
  });
}

import { isLoopbackAddress } from '../../core/ip-address.js';
import type { PeerLook, PeerSocket, TcpEnds } from '../platform/contract/peers.js';
import { BatchedLook } from './batched-look.js';

/** A TCP connection from the perspective of the server. Undefined where the socket is closed. */
export interface Peer {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** Uid of users without a mapping in this user namespace (user_namespaces(7)). */
const OVERFLOW_UID = 65_534;

/** Finds the peers' sockets of loopback connections to this process. */
export class PeerSockets {
  readonly #maxLooks: number;
  /** A look sees all connections of the machine, so one serves all peers that wait. */
  readonly #looks: BatchedLook<TcpEnds, PeerSocket | undefined>;

  constructor({ maxLooks, findAll }: PeerLook) {
    this.#maxLooks = maxLooks;
    this.#looks = new BatchedLook(findAll);
  }

  /**
   * Returns the peer's socket. Undefined where that is unknown: another machine, a connection that has ended, a user
   * without a mapping here.
   */
  async find({ remoteAddress, remotePort, localAddress, localPort }: Peer): Promise<PeerSocket | undefined> {
    if (remoteAddress === undefined || localAddress === undefined) return undefined;
    if (remotePort === undefined || localPort === undefined || !isLoopbackAddress(remoteAddress)) return undefined;
    const ends = { remoteAddress, remotePort, localAddress, localPort };
    let socket = await this.#looks.ask(ends);
    for (let look = 1; !socket && look < this.#maxLooks; look += 1) socket = await this.#looks.ask(ends);
    return socket?.owner === OVERFLOW_UID ? undefined : socket;
  }
}

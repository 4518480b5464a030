import { peerKey } from '../../core/access/peer-key.js';
import { type Peer, PeerSockets } from '../../engine/peer/peer.js';
import type { PeerLook, PeerSocket } from '../../engine/platform/platform.js';

/** The other end of a connection, as far as the kernel knows it. */
export interface KnownPeer {
  /** Names the peer for counters; see `peerKey`. */
  readonly key: string;
  /** Whether a process of the daemon's own user has made the connection. It may be in a sandbox. */
  readonly isOwnUser: boolean;
  /** Whether the connection is one over the Unix socket. */
  readonly isUnix: boolean;
  /** The peer's socket; undefined for a Unix socket, and where the kernel does not tell. */
  readonly socket: PeerSocket | undefined;
}

const UNIX_PEER: KnownPeer = { key: 'unix', isOwnUser: true, isUnix: true, socket: undefined };
/** The peer of a connection that was closed before it could be identified. */
const GONE_PEER: KnownPeer = { key: 'gone', isOwnUser: false, isUnix: false, socket: undefined };

/** Identifies the peers of connections. */
export class Peers {
  readonly #sockets: PeerSockets;
  /**
   * Peers of open connections. Neither owner nor inode of a connection's socket changes. The process that holds it can
   * change.
   */
  readonly #known = new WeakMap<Peer, KnownPeer>();

  constructor(look: PeerLook) {
    this.#sockets = new PeerSockets(look);
  }

  /**
   * Notes a connection over the Unix socket: the mode of its directory denies access to all other users but root, and
   * no sandbox contains that directory.
   */
  noteUnixPeer(peer: Peer): void {
    this.#known.set(peer, UNIX_PEER);
  }

  /** Identifies the peer of a connection. */
  async identify(peer: Peer): Promise<KnownPeer> {
    const known = this.#known.get(peer);
    if (known) return known;
    const { remoteAddress: address } = peer;
    if (address === undefined) return GONE_PEER;
    const socket = await this.#sockets.find(peer);
    const isOwnUser = socket !== undefined && socket.owner === process.getuid?.();
    const found = { key: peerKey({ address, owner: socket?.owner }), isOwnUser, isUnix: false, socket };
    if (socket) this.#known.set(peer, found);
    return found;
  }
}

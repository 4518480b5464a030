/** The two ends of a TCP connection, as the daemon has them. */
export interface TcpEnds {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** The socket at the other end. */
export interface PeerSocket {
  /** Uid of its owner. */
  readonly owner: number;
  /** Inode number, which identifies descriptors of the socket; undefined where the platform has none. */
  readonly inode: number | undefined;
}

/** The sockets of programs of this machine that have connected to the daemon. */
export interface PeerLook {
  /** Most looks for one connection: a look may miss one when others come and go. */
  readonly maxLooks: number;
  /** Finds the peers' sockets of established connections over the loopback; undefined where that is not known. */
  readonly findAll: (asked: readonly TcpEnds[]) => Promise<readonly (PeerSocket | undefined)[]>;
}

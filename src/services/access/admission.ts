import { type Release, Slots } from '../../core/access/slots.js';
import { AdapterError } from '../../core/errors.js';
import type { Peer } from '../../engine/peer/peer.js';
import type { Origin } from './access.js';
import type { Peers } from './peers.js';
import type { Refusals } from './refusals.js';

/** Bounds on what may be open at a time, and dependencies. */
export interface AdmissionOptions {
  /** Socket.IO clients of all peers. */
  readonly maxConnections: number;
  /** TCP connections, and Socket.IO clients, of each peer other than the daemon's own user. */
  readonly maxConnectionsPerPeer: number;
  /** Those of them that have shown no token. */
  readonly maxUnfinishedPerPeer: number;
  /** Time after which a handshake is ended, in milliseconds: the advice when to try again. */
  readonly handshakeTimeoutMs: number;
  readonly peers: Pick<Peers, 'identify'>;
  readonly refusals: Pick<Refusals, 'note'>;
}

/** What an open connection, or client, holds. */
export interface Place {
  /** To be called when it has shown a token, or needs none. */
  readonly finish: Release;
  /** To be called when it is closed. */
  readonly release: Release;
}

/** A TCP connection that has shown no token. */
interface Stranger {
  readonly finish: Release;
  /** Gives back the slot, for the client that the connection becomes. */
  readonly handOver: Release;
}

/** Part of `maxConnections` that all peers together may hold without a token. */
const UNFINISHED_SHARE = 4;

const noop = () => undefined;
/** The place of what is not counted. */
const UNCOUNTED: Place = { finish: noop, release: noop };

/**
 * Decides which connections are served, before anything is read from them: no peer can take the places of the others.
 * Connections of the daemon's own user are not counted.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #connections: Slots;
  readonly #clients: Slots;
  readonly #unfinished: Slots;
  /** TCP connections that have shown no token, by their ends: with TLS, requests have another socket object. */
  readonly #strangers = new Map<string, Stranger>();

  constructor(options: AdmissionOptions) {
    this.#options = options;
    const { maxConnections, maxConnectionsPerPeer: perKey, maxUnfinishedPerPeer } = options;
    this.#connections = new Slots({ perKey, total: Infinity });
    this.#clients = new Slots({ perKey, total: maxConnections });
    const unfinished = Math.max(maxUnfinishedPerPeer, Math.floor(maxConnections / UNFINISHED_SHARE));
    this.#unfinished = new Slots({ perKey: maxUnfinishedPerPeer, total: unfinished });
  }

  /**
   * Admits a TCP connection.
   * @param from origin of the connection, for records
   * @throws AdapterError RESOURCE_EXHAUSTED
   */
  async admitConnection(peer: Peer, from: string): Promise<Place> {
    const ends = endsOf(peer);
    const { key, isOwnUser } = await this.#options.peers.identify(peer);
    if (isOwnUser) return UNCOUNTED;
    const why = this.#fullOf(this.#connections, key) ?? this.#tooManyUnfinished(key);
    if (why !== undefined) throw this.#refusal(why, key, from);
    const [closed, handOver] = [this.#connections.take(key), this.#unfinished.take(key)];
    const finish = () => {
      handOver();
      if (this.#strangers.get(ends) === stranger) this.#strangers.delete(ends);
    };
    const stranger = { finish, handOver };
    this.#strangers.set(ends, stranger);
    return placeOf(closed, finish);
  }

  /** True for a TCP connection that has shown no token, and needs one for most requests. */
  isUnfinished(peer: Peer): boolean {
    return this.#strangers.has(endsOf(peer));
  }

  /** Notes that a request of a TCP connection was authenticated. */
  finish(peer: Peer): void {
    this.#strangers.get(endsOf(peer))?.finish();
  }

  /**
   * Admits a Socket.IO client, which takes the slot of the TCP connection that begins it.
   * @param from origin of the connection, for records
   * @throws AdapterError RESOURCE_EXHAUSTED
   */
  admitClient({ peer, whyForeign }: Origin, connection: Peer, from: string): Place {
    this.#strangers.get(endsOf(connection))?.handOver();
    const isForeign = whyForeign !== undefined;
    const why = this.#fullOf(this.#clients, peer, isForeign) ?? (isForeign ? this.#tooManyUnfinished(peer) : undefined);
    if (why !== undefined) throw this.#refusal(why, peer, from);
    return placeOf(this.#clients.take(peer), isForeign ? this.#unfinished.take(peer) : noop);
  }

  #fullOf(slots: Slots, key: string, hasOwnLimit = true): string | undefined {
    const { maxConnections, maxConnectionsPerPeer } = this.#options;
    const limit = slots.limitFor(key);
    if (limit === 'total') return `${maxConnections} connections are open already`;
    if (limit === undefined || !hasOwnLimit) return undefined;
    return `${maxConnectionsPerPeer} connections of this user or address are open already (socketio.max_connections_per_peer)`;
  }

  #tooManyUnfinished(key: string): string | undefined {
    const limit = this.#unfinished.limitFor(key);
    if (limit === undefined) return undefined;
    const { maxUnfinishedPerPeer } = this.#options;
    return limit === 'total'
      ? 'too many connections that have shown no token yet are open already'
      : `${maxUnfinishedPerPeer} connections of this user or address that have shown no token yet are open already (socketio.max_unfinished_per_peer)`;
  }

  #refusal(why: string, peer: string, from: string): AdapterError {
    const { handshakeTimeoutMs, refusals } = this.#options;
    const details = { retry_after_ms: handshakeTimeoutMs };
    const refusal = new AdapterError('RESOURCE_EXHAUSTED', why, { details });
    refusals.note(peer, from, refusal.toBody());
    return refusal;
  }
}

const placeOf = (slot: Release, finish: Release): Place => ({
  finish,
  release: () => {
    finish();
    slot();
  },
});

/** Names an open connection: no other one has these ends. */
const endsOf = ({ remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 }: Peer): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;

import type { Principal } from '../../core/principal.js';
import { type RateLimit, type Release, Slots, TokenBucket } from '../../core/rate-limits.js';
import { Repeats } from '../../core/audit.js';
import type { AuditTrail } from '../../core/audit-events.js';
import { AdapterError, type ErrorBody } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { Metrics } from '../../core/metrics.js';
import type { Peer } from '../../engine/platform/peer.js';
import type { Origin, Peers } from './access.js';

interface RefusalRecords {
  readonly audit: AuditTrail;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Records refused connections and requests: every one in the metrics, the first of a burst in log and audit log. */
export class Refusals {
  readonly #records: RefusalRecords;
  readonly #repeats = new Repeats();

  constructor(records: RefusalRecords) {
    this.#records = records;
  }

  /**
   * Records a refusal.
   * @param peer its key: bursts are told apart by peer and code
   * @param from origin of the connection, for people
   */
  note(peer: string, from: string, { code, message: why }: ErrorBody): void {
    const { audit, metrics, log } = this.#records;
    metrics.count('connections_refused_total', { code });
    const repeated = this.#repeats.countOf(`${peer} ${code}`, performance.now());
    if (repeated === undefined) return;
    const details = { why, ...(repeated > 0 && { repeated }) };
    log.warn('a connection was refused', { from, code, ...details });
    audit.record({ event: 'connection_refused', from, outcome: code, details });
  }
}

/** Bounds on what may be open at a time. */
interface AdmissionBounds {
  /** Socket.IO clients of all peers. */
  readonly maxConnections: number;
  /** TCP connections, and Socket.IO clients, of each peer other than the daemon's own user. */
  readonly maxConnectionsPerPeer: number;
  /** Those of them that have shown no token. */
  readonly maxUnfinishedPerPeer: number;
  /** Time after which a handshake is ended, in milliseconds: the advice when to try again. */
  readonly handshakeTimeoutMs: number;
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
  readonly #bounds: AdmissionBounds;
  readonly #peers: Peers;
  readonly #refusals: Refusals;
  readonly #connections: Slots;
  readonly #clients: Slots;
  readonly #unfinished: Slots;
  /** TCP connections that have shown no token, by their ends: with TLS, requests have another socket object. */
  readonly #strangers = new Map<string, Stranger>();

  constructor(bounds: AdmissionBounds, peers: Peers, refusals: Refusals) {
    this.#bounds = bounds;
    this.#peers = peers;
    this.#refusals = refusals;
    const { maxConnections, maxConnectionsPerPeer: perKey, maxUnfinishedPerPeer } = bounds;
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
    const { key, isOwnUser } = await this.#peers.identify(peer);
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
    const { maxConnections, maxConnectionsPerPeer } = this.#bounds;
    const limit = slots.limitFor(key);
    if (limit === 'total') return `${maxConnections} connections are open already`;
    if (limit === undefined || !hasOwnLimit) return undefined;
    return `${maxConnectionsPerPeer} connections of this user or address are open already (socketio.max_connections_per_peer)`;
  }

  #tooManyUnfinished(key: string): string | undefined {
    const limit = this.#unfinished.limitFor(key);
    if (limit === undefined) return undefined;
    const { maxUnfinishedPerPeer } = this.#bounds;
    return limit === 'total'
      ? 'too many connections that have shown no token yet are open already'
      : `${maxUnfinishedPerPeer} connections of this user or address that have shown no token yet are open already (socketio.max_unfinished_per_peer)`;
  }

  #refusal(why: string, peer: string, from: string): AdapterError {
    const details = { retry_after_ms: this.#bounds.handshakeTimeoutMs };
    const refusal = new AdapterError('RESOURCE_EXHAUSTED', why, { details });
    this.#refusals.note(peer, from, refusal.toBody());
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

/** Bounds on what each token may use. Programs of the daemon's own user are exempt. */
export interface QuotaLimits {
  readonly requests: RateLimit;
  readonly maxSessions: number;
}

/** Enforces the quotas of each token, so that one token cannot starve the others. */
export class Quotas {
  readonly #limits: () => QuotaLimits;
  /** Token buckets by principal id. */
  readonly #meters = new Map<string, TokenBucket>();

  constructor(limits: () => QuotaLimits) {
    this.#limits = limits;
  }

  /**
   * Counts a request against the rate limit.
   * @param weight number of requests that it counts as
   * @throws AdapterError RATE_LIMITED
   */
  countRequest({ id, isLocalPeer }: Principal, weight = 1): void {
    if (isLocalPeer) return;
    const { requests } = this.#limits();
    const now = performance.now();
    let meter = this.#meters.get(id);
    if (!meter) this.#meters.set(id, (meter = new TokenBucket(requests, now)));
    const wait = meter.take(requests, now, weight);
    if (wait === 0) return;
    const { perSecond, burst } = requests;
    const message = `a token may make ${perSecond} requests a second, ${burst} at once (requests_per_second); wait ${wait} ms`;
    throw new AdapterError('RATE_LIMITED', message, { details: { retry_after_ms: wait } });
  }

  /** Forgets a principal whose access has ended. */
  forget(id: string): void {
    this.#meters.delete(id);
  }

  /**
   * Checks that a principal with `running` one-shot commands may start another one.
   * @throws AdapterError SESSION_LIMIT
   */
  admitOneShot({ isLocalPeer }: Principal, running: number): void {
    const { maxSessions } = this.#limits();
    if (isLocalPeer || running < maxSessions) return;
    const message = `${maxSessions} one-shot commands of this token run already (max_sessions_per_token)`;
    throw new AdapterError('SESSION_LIMIT', message, { details: { max_sessions_per_token: maxSessions } });
  }

  /**
   * Checks that a principal with `open` sessions may open another one.
   * @throws AdapterError SESSION_LIMIT
   */
  admitSession({ isLocalPeer }: Principal, open: number): void {
    const { maxSessions } = this.#limits();
    if (isLocalPeer || open < maxSessions) return;
    throw sessionLimitReached(maxSessions);
  }
}

/** The error of a token that has as many sessions as it may. */
export function sessionLimitReached(maxSessions: number): AdapterError {
  const message = `this token has ${maxSessions} sessions open already (max_sessions_per_token); close one`;
  return new AdapterError('SESSION_LIMIT', message, { details: { max_sessions_per_token: maxSessions } });
}

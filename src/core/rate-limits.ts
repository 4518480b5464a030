import { groupsOf, isLoopbackAddress, plainAddress } from './ip-address.js';

/** Largest numbers of slots that may be taken. */
interface SlotLimits {
  /** For each key. */
  readonly perKey: number;
  /** For all keys together. */
  readonly total: number;
}

/** Gives a slot back; doing so twice is harmless. */
export type Release = () => void;

/** Counts what is open by key, and bounds it. A key without slots takes no memory. */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Which limit has no slot left for a key; undefined when there is one. */
  limitFor(key: string): keyof SlotLimits | undefined {
    if (this.#total >= this.#limits.total) return 'total';
    return (this.#taken.get(key) ?? 0) >= this.#limits.perKey ? 'perKey' : undefined;
  }

  /** Takes a slot, whatever the limits: they are checked before, by `limitFor`. */
  take(key: string): Release {
    let isTaken = true;
    this.#add(key, 1);
    return () => {
      if (isTaken) this.#add(key, -1);
      isTaken = false;
    };
  }

  #add(key: string, change: 1 | -1): void {
    this.#total += change;
    const taken = (this.#taken.get(key) ?? 0) + change;
    if (taken > 0) this.#taken.set(key, taken);
    else this.#taken.delete(key);
  }
}

/** A rate limit: the average rate, and the burst after a pause. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** A token bucket that enforces a rate limit. Times are in milliseconds of any monotonic clock. */
export class TokenBucket {
  #left: number;
  #countedAt: number;

  constructor({ burst }: RateLimit, now: number) {
    this.#left = burst;
    this.#countedAt = now;
  }

  /**
   * Takes tokens if one is there; those that are missing are owed, at most `burst`.
   * @returns 0 on success, otherwise the time until one is there, in milliseconds
   */
  take({ perSecond, burst }: RateLimit, now: number, tokens = 1): number {
    this.#left = Math.min(burst, this.#left + ((now - this.#countedAt) * perSecond) / 1000);
    this.#countedAt = now;
    if (this.#left < 1) return Math.ceil(((1 - this.#left) * 1000) / perSecond);
    this.#left = Math.max(-burst, this.#left - tokens);
    return 0;
  }
}

/** Wrong tokens of a peer within the window, after which the next ones are refused as too many. */
const MAX_FAILURES = 5;
/** Length of the window, in milliseconds. */
const WINDOW_MS = 60_000;
/** Most peers that are stored; beyond that, the oldest are dropped. */
const MAX_PEERS = 10_000;

/**
 * Counts wrong tokens by peer (see `peerKey`). Times are in milliseconds of one clock, of any kind.
 */
export class FailedAttempts {
  /** Times of the latest failures, the oldest first. */
  readonly #failures = new Map<string, readonly number[]>();

  /** Counts a wrong token of a peer. */
  note(peer: string, now: number): void {
    const recent = [...(this.#failures.get(peer) ?? []), now].slice(-MAX_FAILURES);
    this.#failures.delete(peer);
    this.#failures.set(peer, recent);
    for (const oldest of this.#failures.keys()) {
      if (this.#failures.size <= MAX_PEERS) break;
      this.#failures.delete(oldest);
    }
  }

  /** Time until the next wrong token of a peer is counted again, in milliseconds; 0 when it is now. */
  waitOf(peer: string, now: number): number {
    const [first, ...others] = this.#failures.get(peer) ?? [];
    if (first === undefined || others.length + 1 < MAX_FAILURES) return 0;
    return Math.max(0, Math.ceil(first + WINDOW_MS - now));
  }
}

/** What identifies the other end of a connection. */
interface PeerFacts {
  readonly address: string;
  /** Uid of the owner of a connection on this machine; undefined when it is not known. */
  readonly owner: number | undefined;
}

/** Groups of an IPv6 address that name its network: a machine can choose all other bits (RFC 4291, 2.5.4). */
const NETWORK_GROUPS = 4;

/**
 * Names what counts as one peer when mistakes and connections are counted: a user of this machine, whichever of the
 * 16 million loopback addresses it connects from; another machine by its IPv4 address or its /64 network.
 */
export function peerKey({ address, owner }: PeerFacts): string {
  if (owner !== undefined) return `user ${owner}`;
  if (isLoopbackAddress(address)) return 'loopback';
  const plain = plainAddress(address);
  if (!plain.includes(':')) return plain;
  const network = groupsOf(plain).slice(0, NETWORK_GROUPS);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}

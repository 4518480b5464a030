import type { Principal } from '../../core/access/principal.js';
import { type RateLimit, TokenBucket } from '../../core/access/token-bucket.js';
import { AdapterError } from '../../core/errors.js';

/** Bounds on what each token may use. Programs of the daemon's own user are exempt. */
export interface QuotaLimits {
  readonly requests: RateLimit;
  /** Maximum number of open sessions. */
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

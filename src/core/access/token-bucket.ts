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

/** How often something may happen: on the average, and at once after a pause. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** Counts what happens against a limit (a token bucket). Times are in milliseconds of any clock that does not go back. */
export class TokenBucket {
  #left: number;
  #countedAt: number;

  constructor({ burst }: RateLimit, now: number) {
    this.#left = burst;
    this.#countedAt = now;
  }

  /** Counts one. Gives 0 when it may happen, or in how many milliseconds it may. */
  take({ perSecond, burst }: RateLimit, now: number): number {
    this.#left = Math.min(burst, this.#left + ((now - this.#countedAt) * perSecond) / 1000);
    this.#countedAt = now;
    if (this.#left < 1) return Math.ceil(((1 - this.#left) * 1000) / perSecond);
    this.#left -= 1;
    return 0;
  }
}

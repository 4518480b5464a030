/** Wrong tokens that an address may send within the window, before it has to wait. */
const MAX_FAILURES = 5;
/** Length of the window, in milliseconds. */
const WINDOW_MS = 60_000;
/** Most addresses that are stored; beyond that, the oldest are dropped. */
const MAX_ADDRESSES = 10_000;

/**
 * Counts wrong tokens by address, to slow down guessing and flooding. Times are in milliseconds of one clock, of any
 * kind.
 */
export class FailedAttempts {
  /** Times of the latest failures, the oldest first. */
  readonly #failures = new Map<string, readonly number[]>();

  /** Counts a wrong token of an address. */
  note(address: string, now: number): void {
    const recent = [...(this.#failures.get(address) ?? []), now].slice(-MAX_FAILURES);
    this.#failures.delete(address);
    this.#failures.set(address, recent);
    for (const oldest of this.#failures.keys()) {
      if (this.#failures.size <= MAX_ADDRESSES) break;
      this.#failures.delete(oldest);
    }
  }

  /** Time until an address may try again, in milliseconds; 0 when it need not wait. */
  waitOf(address: string, now: number): number {
    const [first, ...others] = this.#failures.get(address) ?? [];
    if (first === undefined || others.length + 1 < MAX_FAILURES) return 0;
    return Math.max(0, Math.ceil(first + WINDOW_MS - now));
  }
}

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

/** A remembered failure. */
interface Remembered<Failure> {
  readonly failure: Failure;
  readonly failedAtMs: number;
  untilMs: number;
}

/** Most failures that are remembered; beyond that, the oldest is dropped. */
const MAX_FAILURES = 256;
/** Longest time for which a failure is remembered. The seven attempts of LangChain's client take up to 126 s. */
const MAX_AGE_MS = 150_000;

/**
 * Remembers for a short time which requests have failed, so that a client with automatic retries gets the same failure
 * and nothing is run again.
 *
 * Such clients double the delay before each attempt. A delay therefore exceeds twice the time since the first failure
 * by at most the first delay. A later request counts as a new one.
 */
export class FailureMemory<Failure> {
  readonly #windowMs: () => number;
  readonly #failures = new Map<string, Remembered<Failure>>();

  /** @param windowMs longest delay of the first retry, in milliseconds; 0 disables the memory */
  constructor(windowMs: () => number) {
    this.#windowMs = windowMs;
  }

  /** The failure of the same request, if this is a retry of it. */
  recall(key: string, nowMs: number): Failure | undefined {
    const known = this.#failures.get(key);
    if (!known) return undefined;
    if (nowMs < known.untilMs) {
      this.#extend(known, nowMs);
      return known.failure;
    }
    this.#failures.delete(key);
    return undefined;
  }

  /** Records a failed request. Of concurrent requests, the first failure counts. */
  remember(key: string, failure: Failure, nowMs: number): void {
    if (this.#windowMs() === 0) return;
    if (this.recall(key, nowMs) !== undefined) return;
    const remembered = { failure, failedAtMs: nowMs, untilMs: nowMs };
    this.#extend(remembered, nowMs);
    this.#failures.set(key, remembered);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MAX_FAILURES && oldest !== undefined) this.#failures.delete(oldest);
  }

  /** Drops the failure of a request that has succeeded. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  #extend(known: Remembered<Failure>, nowMs: number): void {
    const untilMs = nowMs + this.#windowMs() + 2 * (nowMs - known.failedAtMs);
    known.untilMs = Math.max(known.untilMs, Math.min(untilMs, known.failedAtMs + MAX_AGE_MS));
  }
}

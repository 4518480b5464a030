/** A failure that is remembered. */
interface Remembered<Failure> {
  readonly failure: Failure;
  readonly failedAtMs: number;
  untilMs: number;
}

/** Failures that are remembered at a time; beyond that the oldest one is forgotten. */
const MAX_FAILURES = 256;
/** Longest time that a failure is remembered. The seven attempts of LangChain's client take up to 126 s. */
const MAX_AGE_MS = 150_000;

/**
 * Remembers for a short time which requests have failed, so that a client which repeats a request by itself gets the same
 * failure and nothing is run again.
 *
 * Such clients wait twice as long before each attempt as before the last one, so that no pause is longer than twice the time
 * since the first failure, by more than the first pause. A request that comes later than that is a new one.
 */
export class FailureMemory<Failure> {
  readonly #windowMs: () => number;
  readonly #failures = new Map<string, Remembered<Failure>>();

  /** @param windowMs how soon the first repetition comes; 0 remembers nothing */
  constructor(windowMs: () => number) {
    this.#windowMs = windowMs;
  }

  /** The failure of the same request, if this is a repetition of it. */
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

  /** A request has failed. Of requests that ran at the same time, the first failure counts. */
  remember(key: string, failure: Failure, nowMs: number): void {
    if (this.#windowMs() === 0) return;
    if (this.recall(key, nowMs) !== undefined) return;
    const remembered = { failure, failedAtMs: nowMs, untilMs: nowMs };
    this.#extend(remembered, nowMs);
    this.#failures.set(key, remembered);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MAX_FAILURES && oldest !== undefined) this.#failures.delete(oldest);
  }

  /** A request has succeeded. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  #extend(known: Remembered<Failure>, nowMs: number): void {
    const untilMs = nowMs + this.#windowMs() + 2 * (nowMs - known.failedAtMs);
    known.untilMs = Math.max(known.untilMs, Math.min(untilMs, known.failedAtMs + MAX_AGE_MS));
  }
}

/** How long a result is kept, in milliseconds. */
const KEPT_MS = 30_000;

/** The result of expensive work, which is done once at a time, and not again while its result is recent. */
export class KeptResult<T> {
  readonly #work: () => Promise<T>;
  #result: Promise<T> | undefined;
  #endedAt = Infinity;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  /** The result: a recent one, that of the work under way, or a new one. A failure is not kept. */
  get(): Promise<T> {
    if (this.#result && performance.now() - this.#endedAt < KEPT_MS) return this.#result;
    this.#endedAt = Infinity;
    const result = this.#work();
    this.#result = result;
    result.then(
      () => {
        this.#endedAt = performance.now();
      },
      () => {
        this.#result = undefined;
      },
    );
    return result;
  }
}

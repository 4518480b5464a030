/** Background work that must be awaited at the end. */
export class PendingWork {
  readonly #promises = new Set<Promise<unknown>>();
  readonly #onError: (error: unknown) => void;

  /** @param onError takes the error of work that fails */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Work in progress; none of it rejects. */
  get all(): readonly Promise<unknown>[] {
    return [...this.#promises];
  }

  /** Adds work. */
  add(work: Promise<unknown>): void {
    const settled = work.catch(this.#onError);
    this.#promises.add(settled);
    void settled.then(() => this.#promises.delete(settled));
  }
}

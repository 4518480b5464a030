/** Background work that must be awaited at the end. */
export class PendingWork {
  readonly #promises = new Set<Promise<unknown>>();

  /** Work in progress. */
  get all(): readonly Promise<unknown>[] {
    return [...this.#promises];
  }

  /** Adds work that does not reject. */
  add(work: Promise<unknown>): void {
    this.#promises.add(work);
    void work.then(() => this.#promises.delete(work));
  }
}

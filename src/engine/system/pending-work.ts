/** Work that goes on by itself and that somebody has to wait for at the end. */
export class PendingWork {
  readonly #promises = new Set<Promise<unknown>>();

  /** What is under way. */
  get all(): readonly Promise<unknown>[] {
    return [...this.#promises];
  }

  /** Adds work that does not reject. */
  add(work: Promise<unknown>): void {
    this.#promises.add(work);
    void work.then(() => this.#promises.delete(work));
  }
}

/** Counts the open connections of a client, and signals when it has been disconnected for a while. */
export class OpenConnections implements Disposable {
  readonly #orphanMs: number;
  #orphan = new AbortController();
  #open = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param orphanMs longest time without a connection, in milliseconds */
  constructor(orphanMs: number) {
    this.#orphanMs = orphanMs;
  }

  /** Aborted when the client stays disconnected; a client that reconnects later gets a new signal. */
  get orphaned(): AbortSignal {
    return this.#orphan.signal;
  }

  /** Whether there is a connection now. */
  get isOpen(): boolean {
    return this.#open > 0;
  }

  /** Counts a connection until `over` resolves. */
  add(over: Promise<void>): void {
    this.#open += 1;
    clearTimeout(this.#timer);
    void over.then(() => {
      this.#open -= 1;
      if (this.#open === 0) this.#waitForAnother();
    });
  }

  [Symbol.dispose](): void {
    this.#open = Infinity;
    clearTimeout(this.#timer);
  }

  #waitForAnother(): void {
    this.#timer = setTimeout(() => {
      const orphan = this.#orphan;
      this.#orphan = new AbortController();
      orphan.abort();
    }, this.#orphanMs).unref();
  }
}

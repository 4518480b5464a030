/** What can give its bytes back for newer ones. */
interface Evictable {
  /** Drops what it keeps. */
  giveWay(): Promise<void>;
}

/** Bytes that the spools of one session may keep together. Outputs of ended commands are evicted for newer ones. */
export class SpoolBudget {
  readonly #maxBytes: number;
  #left: number;
  /** Outputs of ended commands, oldest first. */
  readonly #ended = new Set<Evictable>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#left = maxBytes;
  }

  /** Bytes that are kept, in memory and on disk. */
  get usedBytes(): number {
    return this.#maxBytes - this.#left;
  }

  /** Takes up to `bytes` from the budget and returns how many were granted. */
  take(bytes: number): number {
    for (const oldest of this.#ended) {
      if (this.#left >= bytes) break;
      this.#ended.delete(oldest);
      void oldest.giveWay();
    }
    const granted = Math.min(bytes, this.#left);
    this.#left -= granted;
    return granted;
  }

  /** Returns bytes that were taken. */
  give(bytes: number): void {
    this.#left += bytes;
  }

  /** Notes that a spool's command has ended. */
  noteEnd(spool: Evictable): void {
    this.#ended.add(spool);
  }

  /** Notes that a spool keeps nothing any more. */
  forget(spool: Evictable): void {
    this.#ended.delete(spool);
  }
}

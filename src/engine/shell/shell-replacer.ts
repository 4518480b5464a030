/** Notified of the results of shell replacements. */
export interface ShellReplacerListener {
  /** A new shell is in place, and no further replacement is pending. */
  onDone(): void;
  /** No new shell could be started. */
  onFailed(error: Error): void;
}

/** Replaces the shell of a session, one replacement after another. */
export class ShellReplacer {
  readonly #listener: ShellReplacerListener;
  /** The last requested replacement; never rejects. */
  #last: Promise<void> | undefined;

  constructor(listener: ShellReplacerListener) {
    this.#listener = listener;
  }

  /** Resolves when the replacements requested so far are complete; undefined when none is pending. */
  get settled(): Promise<void> | undefined {
    return this.#last;
  }

  /**
   * Replaces the shell, after the pending replacements.
   * @throws what `replace` throws
   */
  async run(replace: () => Promise<void>): Promise<void> {
    const earlier = this.#last;
    const replacing = (async () => {
      await earlier;
      await replace();
    })();
    const settled = replacing.catch(() => undefined);
    this.#last = settled;
    try {
      await replacing;
    } catch (error) {
      this.#end(settled);
      this.#listener.onFailed(error as Error);
      throw error;
    }
    if (this.#end(settled)) this.#listener.onDone();
  }

  /** Returns whether it was the last one. */
  #end(settled: Promise<void>): boolean {
    if (this.#last !== settled) return false;
    this.#last = undefined;
    return true;
  }
}

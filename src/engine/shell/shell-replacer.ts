/** Who is told how it goes with the shells of a session. */
export interface ShellReplacerListener {
  /** A new shell sits there, and no further one is on its way. */
  onDone(): void;
  /** No shell could be had. */
  onFailed(error: Error): void;
}

/** Replaces the shell of a session, one replacement after another. */
export class ShellReplacer {
  readonly #listener: ShellReplacerListener;
  /** The last replacement that was asked for; never rejects. */
  #last: Promise<void> | undefined;

  constructor(listener: ShellReplacerListener) {
    this.#listener = listener;
  }

  /** Resolves when the replacements that were asked for so far are over; undefined when none is under way. */
  get settled(): Promise<void> | undefined {
    return this.#last;
  }

  /**
   * Replaces the shell, after the replacements before.
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

  /** Gives whether it was the last one. */
  #end(settled: Promise<void>): boolean {
    if (this.#last !== settled) return false;
    this.#last = undefined;
    return true;
  }
}

/** Commands shorter than this, in milliseconds, get no streams, timers or watch: making them costs more than they take. */
const LINGER_MS = 5;

/** Tells of commands that have not ended a moment after their start; one timer serves all commands of a session. */
export class LingerTimer<Run> implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #run: Run | undefined;

  /** @param onLingering told of the newest command, whether it still runs or not */
  constructor(onLingering: (run: Run) => void) {
    this.#timer = setTimeout(() => {
      const run = this.#run;
      // First the reports that have come: where many commands run, most that seem to take their time have ended.
      setImmediate(() => {
        // Else another one has begun meanwhile, which has its own moment.
        if (run === undefined || run !== this.#run) return;
        this.#run = undefined;
        onLingering(run);
      });
    }, LINGER_MS).unref();
  }

  /** A command begins. The timer fires whether it still runs or not: clearing it would cost more. */
  begin(run: Run): void {
    this.#run = run;
    this.#timer.refresh();
  }

  [Symbol.dispose](): void {
    this.#run = undefined;
    clearTimeout(this.#timer);
  }
}

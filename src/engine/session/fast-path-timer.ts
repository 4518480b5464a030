import { NewProcesses } from '../process/start-marker.js';

/** Commands shorter than this, in milliseconds, get no streams, timers or watch: making them costs more than they take. */
const LINGER_MS = 5;

/** Tells of commands a moment after their start, if no other has begun since; one timer serves all commands of a session. */
export class FastPathTimer<Run> implements Disposable {
  readonly #timer: NodeJS.Timeout;
  readonly #newProcesses = new NewProcesses();
  #run: Run | undefined;

  /**
   * @param onLingering told of the newest command, whether it still runs or not, and whether it, or those before it, may have
   *   left something running
   */
  constructor(onLingering: (run: Run, mayHaveLeft: boolean) => void) {
    this.#timer = setTimeout(() => {
      const run = this.#run;
      // First the reports that have come: where many commands run, most that seem to take their time have ended.
      setImmediate(() => {
        // Else another one has begun meanwhile, which has its own moment.
        if (run === undefined || run !== this.#run) return;
        this.#run = undefined;
        onLingering(run, this.#newProcesses.hasAny);
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

import type { NewProcesses } from '../platform/contract/start-marker.js';

/**
 * Limit of the fast path, in milliseconds: for shorter commands streams, timers and monitoring cost more than the
 * command.
 */
const LINGER_MS = 5;

/**
 * Reports a command shortly after its start, if no other has started since; one timer serves all commands of a session.
 */
export class FastPathTimer<Run> implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #run: Run | undefined;

  /**
   * @param newProcesses called once there is a shell
   * @param onLingering called with the newest command, whether it still runs or not, and with a flag: whether this
   * command, or those before it, may have left processes running
   */
  constructor(newProcesses: () => NewProcesses, onLingering: (run: Run, mayHaveLeft: boolean) => void) {
    let started: NewProcesses | undefined;
    this.#timer = setTimeout(() => {
      const run = this.#run;
      // Pending reports are processed first: under load, most commands that seem long-running have already ended.
      setImmediate(() => {
        // Otherwise another command has started meanwhile, and has its own timer run.
        if (run === undefined || run !== this.#run) return;
        this.#run = undefined;
        onLingering(run, (started ??= newProcesses()).hasAny);
      });
    }, LINGER_MS).unref();
  }

  /**
   * Notes the start of a command. The timer fires whether the command still runs or not: clearing it would cost more.
   */
  begin(run: Run): void {
    this.#run = run;
    this.#timer.refresh();
  }

  [Symbol.dispose](): void {
    this.#run = undefined;
    clearTimeout(this.#timer);
  }
}

import type { ClusterPort } from '../../services/ports/cluster-port.js';

import type { HolderDirectory, HolderRecord } from './holder-directory.js';

/** How often a holder looks whether it is still needed, in milliseconds. */
const LOOK_MS = 100;
/** How long a holder with nothing to hold waits for a daemon, in milliseconds. */
const PATIENCE_MS = 2000;
/** The same when results may be asked for again, whose daemon has ended first: as long as clients try. */
const PATIENCE_WITH_RESULTS_MS = 30_000;

/** Dependencies of `HolderLife`. */
export interface HolderLifeOptions {
  readonly directory: HolderDirectory;
  readonly record: HolderRecord;
  readonly cluster: Pick<ClusterPort, 'isIdle' | 'load'>;
  /** Whether a command or an LLM call runs. */
  readonly isRunning: () => boolean;
  /** How many daemons are connected. */
  readonly daemons: () => number;
  /** Ends the process. */
  readonly end: () => void;
}

/**
 * The life of a process that holds sessions: it notes where it is reached, and ends when nothing runs in it and either
 * no daemon is connected or the daemon has another one for what is new.
 */
export class HolderLife implements Disposable {
  readonly #options: HolderLifeOptions;
  readonly #timer: NodeJS.Timeout;
  #neededAt = performance.now();
  #patienceMs = PATIENCE_MS;

  constructor(options: HolderLifeOptions) {
    this.#options = options;
    options.directory.write(options.record);
    this.#timer = setInterval(this.#look, LOOK_MS).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    const { directory, record } = this.#options;
    directory.remove(record.name);
  }

  readonly #look = (): void => {
    const { cluster, isRunning, daemons, end } = this.#options;
    const now = performance.now();
    const isRetired = cluster.load().is_draining;
    if (daemons() === 0 && isRunning()) this.#patienceMs = PATIENCE_WITH_RESULTS_MS;
    if (!cluster.isIdle || (daemons() > 0 && !isRetired)) this.#neededAt = now;
    if (now - this.#neededAt < this.#patienceMs) return;
    // Before the end, so that no daemon takes it for one that stays.
    this[Symbol.dispose]();
    end();
  };
}

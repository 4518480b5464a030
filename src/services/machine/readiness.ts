import { AdapterError, type ErrorBody } from '../../core/errors.js';
import type { Metrics } from '../../core/metrics/metrics.js';
import { settledWithin } from '../../core/time.js';
import type { ClusterPort, RegistryState } from '../ports/cluster-port.js';
import type { ShellPool } from '../../engine/shell/shell-pool.js';

/** Timeout of an answer, in milliseconds: most health checks time out after one second. */
const PATIENCE_MS = 900;

/** Dependencies of `Readiness`. */
export interface ReadinessOptions {
  readonly isClosing: () => boolean;
  readonly pool: Pick<ShellPool, 'assertCanStart'>;
  readonly cluster: Pick<ClusterPort, 'findObstacle' | 'runsSessions' | 'membership'>;
  readonly metrics: Metrics;
}

/** Errors that nothing has caught. The daemon goes on after one, but what waited for its cause may hang. */
export interface UncaughtErrors {
  readonly count: number;
  readonly lastAt: Date;
}

/** Reports whether the daemon would accept a command now. */
export class Readiness {
  readonly #options: ReadinessOptions;
  #uncaught: UncaughtErrors | undefined;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  /** Whether the registry of the cluster answers; undefined without one. What is open goes on without it. */
  get registry(): RegistryState | undefined {
    return this.#options.cluster.membership?.registry;
  }

  /** The uncaught errors of this process; undefined without one. Their texts may have secrets, and are in the log alone. */
  get uncaught(): UncaughtErrors | undefined {
    return this.#uncaught;
  }

  /** Counts an uncaught error. */
  countUncaught(): void {
    this.#uncaught = { count: (this.#uncaught?.count ?? 0) + 1, lastAt: new Date() };
    this.#options.metrics.errorUncaught();
  }

  /**
   * Returns why a command would be refused: `SHUTTING_DOWN`, `SHELL_FAILED` or `RESOURCE_EXHAUSTED`, with a message;
   * undefined when it would be accepted. Costs nothing while shells start; after a failed start, another one is tried.
   */
  async findObstacle(): Promise<ErrorBody | undefined> {
    if (this.#options.isClosing()) return { code: 'SHUTTING_DOWN', message: 'the daemon is being stopped' };
    const { cluster } = this.#options;
    const elsewhere = cluster.findObstacle();
    if (elsewhere || !cluster.runsSessions) return elsewhere;
    const obstacle = this.#findShellObstacle();
    if (await settledWithin(obstacle, PATIENCE_MS)) return obstacle;
    const message = 'the last shell did not start, and the one that is being tried has not come up yet';
    return { code: 'SHELL_FAILED', message };
  }

  async #findShellObstacle(): Promise<ErrorBody | undefined> {
    try {
      await this.#options.pool.assertCanStart();
      return undefined;
    } catch (error) {
      if (error instanceof AdapterError) return error.toBody();
      return { code: 'SHELL_FAILED', message: `a shell could not be started: ${(error as Error).message}` };
    }
  }
}

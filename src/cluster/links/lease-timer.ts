import type { LinkOptions } from './link-types.js';

/** How often in the time of a lease it is looked whether a worker that cannot be reached still has its own. */
const CHECKS_PER_LEASE = 3;

const AWAY_TOO_LONG = 'it has not come back within the lease';

/** Called when a worker has not come back within the lease. */
export interface LeaseListener {
  /** The worker has a lease in the registry: it runs, and its sessions with it. What waits for it has waited long enough. */
  onWaited(why: string): void;
  /** What ran on the worker counts as lost. */
  onExpired(why: string): void;
}

/** The time for which a worker may be away. */
export class LeaseTimer {
  readonly #options: Pick<LinkOptions, 'leaseMs' | 'hasLease'>;
  readonly #nodeId: () => string | undefined;
  readonly #listener: LeaseListener;
  #timer: NodeJS.Timeout | undefined;

  /** @param nodeId the run of the worker, once it is known */
  constructor(
    options: Pick<LinkOptions, 'leaseMs' | 'hasLease'>,
    nodeId: () => string | undefined,
    listener: LeaseListener,
  ) {
    this.#options = options;
    this.#nodeId = nodeId;
    this.#listener = listener;
  }

  /** Starts the time. */
  start(ms = this.#options.leaseMs): void {
    this.#timer = setTimeout(this.#onEnd, ms).unref();
  }

  /** Ends it: the worker is there, or lost. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  readonly #onEnd = (): void => {
    const { leaseMs, hasLease } = this.#options;
    const id = this.#nodeId();
    if (id === undefined || !hasLease(id)) {
      this.#listener.onExpired(AWAY_TOO_LONG);
      return;
    }
    this.#listener.onWaited(AWAY_TOO_LONG);
    this.start(leaseMs / CHECKS_PER_LEASE);
  };
}

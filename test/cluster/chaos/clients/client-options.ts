import type { Counts } from '../counts.js';
import type { Ledger } from '../ledger.js';
import type { ChaosNodes } from '../nodes.js';

/** What a client of a run is made with. */
export interface ClientOptions {
  /** Begins the ids of its commands. */
  readonly name: string;
  readonly nodes: ChaosNodes;
  readonly ledger: Ledger;
  readonly counts: Counts;
  readonly token: string;
  readonly random: () => number;
  /** No further work is begun when it is aborted. */
  readonly signal: AbortSignal;
  /** Takes what the model does not allow. */
  readonly fail: (what: string) => void;
}

import type { DaemonOptions } from '../connect/daemon-address.js';

/** Options of all commands about nodes. */
export interface NodesOptions extends DaemonOptions {
  readonly json?: boolean;
}

/** Options of `nodes drain`. */
export interface DrainOptions extends NodesOptions {
  readonly wait?: boolean;
  /** The node is the worker at the address itself. */
  readonly self?: boolean;
}

/** Options of `nodes register`. */
export interface RegisterOptions extends NodesOptions {
  readonly label?: Readonly<Record<string, string>>;
  readonly capacity?: string;
}

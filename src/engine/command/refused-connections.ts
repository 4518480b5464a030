import type { Refusal } from '../../core/egress/refusal.js';
import type { Warning } from './outcome.js';

/** Most different refusals that a result shows. */
const MAX_SHOWN = 20;

/** The connections of a command that the allow-list of its sandbox has refused. */
export class RefusedConnections {
  readonly #counts = new Map<string, number>();
  #others = 0;

  /** Counts a refusal; returns how often it has occurred now, or undefined when there are too many different ones. */
  add({ message }: Refusal): number | undefined {
    const count = (this.#counts.get(message) ?? 0) + 1;
    if (count === 1 && this.#counts.size === MAX_SHOWN) {
      this.#others += 1;
      return undefined;
    }
    this.#counts.set(message, count);
    return count;
  }

  /** A warning for each, with how often it has occurred. */
  get warnings(): Warning[] {
    const shown = [...this.#counts].map(([message, count]) =>
      refusalWarning(count === 1 ? message : `${message} This happened ${count} times.`),
    );
    return this.#others === 0
      ? shown
      : [...shown, refusalWarning(`${this.#others} more connections to other destinations were refused.`)];
  }
}

/** The warning of a refused connection. */
export const refusalWarning = (message: string): Warning => ({ code: 'EGRESS_REFUSED', message });

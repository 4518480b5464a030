import { constants } from 'node:os';

import type { Context } from '../console/context.js';

/** Time limit of the shutdown: half a second less than the 5 s that the documentation gives for supervisors. */
const DEADLINE_MS = 4500;
/** npm forwards the Ctrl-C that the terminal has already sent: one key press arrives as two signals. */
const SAME_KEY_PRESS_MS = 250;
const SIGNAL_EXIT_BASE = 128;

/**
 * Signals that end the daemon: the first starts a shutdown, the second ends the process at once. Of a worker, the first
 * SIGTERM drains it, and the shutdown follows when that is done, or with the next signal.
 */
export class StopSignals {
  /** Resolves with the first signal. */
  readonly requested: Promise<NodeJS.Signals>;
  /** Resolves when the time limit after the first signal has passed. */
  readonly deadline: Promise<undefined>;
  #abandon: () => void = () => undefined;
  #drain: (() => Promise<void>) | undefined;

  constructor(context: Pick<Context, 'onSignal' | 'exitNow'>) {
    let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
    this.requested = new Promise((resolve) => {
      const begin = (signal: NodeJS.Signals) => {
        first ??= { signal, at: performance.now() };
        resolve(first.signal);
      };
      context.onSignal(['SIGTERM', 'SIGINT'], (signal) => {
        const at = performance.now();
        const drain = this.#drain;
        this.#drain = undefined;
        if (!first && drain && signal === 'SIGTERM') {
          void drain().finally(() => {
            begin(signal);
          });
          return;
        }
        if (!first) {
          begin(signal);
          return;
        }
        const isSamePress = signal === 'SIGINT' && first.signal === 'SIGINT' && at - first.at < SAME_KEY_PRESS_MS;
        if (isSamePress) return;
        this.#abandon();
        context.exitNow(SIGNAL_EXIT_BASE + constants.signals[signal]);
      });
    });
    this.deadline = this.requested.then(
      () =>
        new Promise((resolve) => {
          setTimeout(resolve, DEADLINE_MS, undefined);
        }),
    );
  }

  /** What the first SIGTERM begins, and the shutdown waits for; it does not reject. */
  set onDrain(drain: () => Promise<void>) {
    this.#drain = drain;
  }

  /** Callback of the second signal, before the process exits; it must not wait for anything. */
  set onAbandon(abandon: () => void) {
    this.#abandon = abandon;
  }
}

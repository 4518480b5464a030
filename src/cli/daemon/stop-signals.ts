import { constants } from 'node:os';

import type { Context } from '../console/context.js';

/** How long the end may take. Half a second is left of what a supervisor gets told: 5 s. */
const DEADLINE_MS = 4500;
/** npm hands on the Ctrl-C that the terminal has sent already: one key press comes as two signals. */
const SAME_KEY_PRESS_MS = 250;
const SIGNAL_EXIT_BASE = 128;

/** The signals that end the daemon: the first one asks, the second one ends the process at once. */
export class StopSignals {
  /** Resolves with the first signal. */
  readonly requested: Promise<NodeJS.Signals>;
  /** Resolves when the time after the first signal is over. */
  readonly deadline: Promise<undefined>;
  #abandon: () => void = () => undefined;

  constructor(context: Pick<Context, 'onSignal' | 'exitNow'>) {
    let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
    this.requested = new Promise((resolve) => {
      context.onSignal(['SIGTERM', 'SIGINT'], (signal) => {
        const at = performance.now();
        if (!first) {
          first = { signal, at };
          resolve(signal);
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

  /** What the second signal does before the process ends; it must not wait for anything. */
  set onAbandon(abandon: () => void) {
    this.#abandon = abandon;
  }
}

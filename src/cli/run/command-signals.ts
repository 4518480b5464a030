import { constants } from 'node:os';

import type { ClientCommand } from '../../client/index.js';
import type { Context } from '../console/context.js';

const SIGNAL_EXIT_BASE = 128;
/** Number of signals that are forwarded to the command. The next one ends this program, whatever the command does. */
const MAX_FORWARDED = 2;

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Forwards the signals of this program to the command. Before a command is set, they end the program. */
export class CommandSignals {
  #command: ClientCommand | undefined;
  #forwarded = 0;

  constructor(context: Pick<Context, 'onSignal' | 'exitNow'>) {
    context.onSignal(FORWARDED, (signal) => {
      const name = FORWARDED.find((candidate) => candidate === signal);
      if (!this.#command || !name || this.#forwarded >= MAX_FORWARDED) {
        context.exitNow(SIGNAL_EXIT_BASE + constants.signals[signal]);
      }
      this.#forwarded += 1;
      // The command may have ended, or the connection may be lost: that is reported elsewhere.
      this.#command.signal(name).catch(() => undefined);
    });
  }

  /** Forwards signals to this command from now on. */
  sendTo(command: ClientCommand): void {
    this.#command = command;
  }
}

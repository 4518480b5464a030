import { constants } from 'node:os';

import type { ClientCommand } from '../../client/index.js';
import type { Context } from '../console/context.js';

const SIGNAL_EXIT_BASE = 128;
/** Signals that a command gets before the third of a kind ends this program, whatever the command does. */
const MAX_FORWARDED = 2;

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Hands the signals that this program gets on to the command. As long as there is none, they end the program. */
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
      // It may have ended meanwhile, or the connection be gone: what follows says so.
      this.#command.signal(name).catch(() => undefined);
    });
  }

  /** From now on the command gets them. */
  sendTo(command: ClientCommand): void {
    this.#command = command;
  }
}

import { constants } from 'node:os';

import type { ClientCommand, SignalName } from '../../client/index.js';
import { hasCode } from '../../client/contract/errors.js';
import { settledWithin } from '../../core/time.js';
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
      void deliver(this.#command, name);
    });
  }

  /** Forwards signals to this command from now on. */
  sendTo(command: ClientCommand): void {
    this.#command = command;
  }
}

/** Pause before a signal is sent again to a command that the daemon has not begun yet, in milliseconds. */
const RETRY_MS = 50;

/** Sends a signal; again, while the daemon prepares the command, such as by a checkpoint: it must not run after it was given up. */
async function deliver(command: ClientCommand, name: SignalName): Promise<void> {
  // The end of the command, or of the connection, is reported elsewhere.
  const ended = command.result.catch(() => undefined);
  do {
    try {
      await command.signal(name);
      return;
    } catch (error) {
      if (!hasCode(error, 'COMMAND_NOT_FOUND', 'NO_RUNNING_COMMAND')) return;
    }
  } while (!(await settledWithin(ended, RETRY_MS)));
}

/**
 * What is ended when a limit is exceeded, in this order: the running command, what earlier ones have left, the shell, which
 * is replaced, and at last the session.
 */
export type EscalationStep = 'command' | 'rest' | 'shell' | 'session';

/** How long a step gets to help before the next one is taken, in milliseconds: what was killed has to go first. */
const STEP_MS = 1000;

/** What there is to be ended. */
export interface Endable {
  /** Whether a command runs, and whether it is being ended already. */
  readonly command: 'runs' | 'is_ending' | 'none';
  /** Whether other processes than the shell run. */
  readonly hasRest: boolean;
  /** Whether that is why the limit is exceeded, and not the command: as far as is known of a second time. */
  readonly isRestToBlame: boolean;
  /** Whether ending the shell could help: not where a count of the past is exceeded. */
  readonly canEndShell: boolean;
}

/** Decides step by step what is ended while a limit stays exceeded. */
export class Escalation {
  #lastAt = -Infinity;
  #hasEndedRest = false;
  /** A command that was spared while the rest was ended, and was no better. */
  #hasEndedSpared = false;
  #hasEndedShell = false;
  /** The limit was exceeded while no command ran: the next command is not why. */
  #isPastCommands = false;

  /** What to end now; undefined to wait for the last step's effect, or when nothing is left to do. */
  next(now: number, { command, hasRest, isRestToBlame, canEndShell }: Endable): EscalationStep | undefined {
    if (command === 'none') this.#isPastCommands ||= hasRest || canEndShell;
    const isSpared = this.#isPastCommands || this.#hasEndedRest || isRestToBlame;
    if (command === 'runs' && !isSpared) return this.#take('command', now);
    if (now - this.#lastAt < STEP_MS) return undefined;
    // What a new command has started is not a rest.
    if (hasRest && !(this.#hasEndedRest && command !== 'none')) return this.#take('rest', now);
    if (command === 'runs' && this.#hasEndedRest && !this.#hasEndedSpared) return this.#endSpared(now);
    if (!canEndShell) return undefined;
    return this.#take(this.#hasEndedShell ? 'session' : 'shell', now);
  }

  /** No limit is exceeded any more: the next time begins with the command. */
  reset(): void {
    this.#lastAt = -Infinity;
    this.#hasEndedRest = false;
    this.#hasEndedSpared = false;
    this.#hasEndedShell = false;
    this.#isPastCommands = false;
  }

  #endSpared(now: number): EscalationStep {
    this.#hasEndedSpared = true;
    return this.#take('command', now);
  }

  #take(step: EscalationStep, now: number): EscalationStep {
    this.#lastAt = now;
    this.#hasEndedRest ||= step === 'rest';
    this.#hasEndedShell ||= step === 'shell';
    return step;
  }
}

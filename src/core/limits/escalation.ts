/**
 * Targets in the order in which they are ended when a limit is exceeded: the running command, the processes that
 * earlier commands left, the shell, which is replaced, and finally the session.
 */
export type EscalationStep = 'command' | 'rest' | 'shell' | 'session';

/** Time for a step to take effect before the next one, in milliseconds: killed processes have to disappear first. */
const STEP_MS = 1000;

/** Processes that can be ended. */
export interface Endable {
  /** State of the current command; `is_ending` when it is already being ended. */
  readonly command: 'runs' | 'is_ending' | 'none';
  /** Whether processes other than the shell run. */
  readonly hasRest: boolean;
  /** Whether those processes exceed the limit rather than the command; this is known only from the second time on. */
  readonly isRestToBlame: boolean;
  /** Whether ending the shell can help. False where the limit is on a count of the past. */
  readonly canEndShell: boolean;
}

/** Decides on the escalation steps while a limit stays exceeded. */
export class Escalation {
  #lastAt = -Infinity;
  #hasEndedRest = false;
  /** A command was spared while the leftovers were ended, and was ended afterwards, since the limit stayed exceeded. */
  #hasEndedSpared = false;
  #hasEndedShell = false;
  /** The limit was exceeded while no command ran, so the next command is not the cause. */
  #isPastCommands = false;

  /** The next step; undefined to wait for the effect of the last step, or when no step is left. */
  next(now: number, { command, hasRest, isRestToBlame, canEndShell }: Endable): EscalationStep | undefined {
    if (command === 'none') this.#isPastCommands ||= hasRest || canEndShell;
    const isSpared = this.#isPastCommands || this.#hasEndedRest || isRestToBlame;
    if (command === 'runs' && !isSpared) return this.#take('command', now);
    if (now - this.#lastAt < STEP_MS) return undefined;
    // Processes of a new command do not count as leftovers of earlier ones.
    if (hasRest && !(this.#hasEndedRest && command !== 'none')) return this.#take('rest', now);
    if (command === 'runs' && this.#hasEndedRest && !this.#hasEndedSpared) return this.#endSpared(now);
    if (!canEndShell) return undefined;
    return this.#take(this.#hasEndedShell ? 'session' : 'shell', now);
  }

  /** Resets the escalation when no limit is exceeded any more: the next one begins with the command. */
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

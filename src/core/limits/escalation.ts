/** Targets that are ended when a limit is exceeded; `rest` is what earlier commands have left running. */
export type EscalationStep = 'command' | 'rest' | 'shell' | 'session';

/** The ladder. After the background processes the command has its turn again: it was spared while they were ended. */
const RUNGS: readonly EscalationStep[] = ['command', 'rest', 'command', 'shell', 'session'];
const SHELL_RUNG = RUNGS.indexOf('shell');

/** Longest wait for a step to take effect, in milliseconds: killed processes have to disappear first. */
const STEP_MS = 1000;
/** Time without an exceeded limit after which the ladder starts over, in milliseconds. */
const RECOVERY_MS = 10_000;

/** Processes that can be ended. */
export interface Endable {
  /** State of the current command; `is_ending` when it is already being ended. */
  readonly command: 'runs' | 'is_ending' | 'none';
  /** Whether processes other than those of the shell and of the command run. */
  readonly hasRest: () => boolean;
  /** Whether ending the shell can help. False where the limit is on a count of the past. */
  readonly canEndShell: boolean;
}

/**
 * Decides what is ended while a limit stays exceeded, or is exceeded again soon: one rung of the ladder after another,
 * without rungs on which nothing can be ended. After the last possible rung the ladder starts over.
 */
export class Escalation {
  #rung = 0;
  #lastAt = -Infinity;
  #isPending = false;

  /**
   * The next step; undefined to wait for the effect of the last one, or when nothing can be ended.
   * @param now on a monotonic clock, in milliseconds
   */
  next(now: number, endable: Endable): EscalationStep | undefined {
    if (this.isWaiting(now)) return undefined;
    const rungs = [...RUNGS.keys()];
    const order = [...rungs.slice(this.#rung), ...rungs.slice(0, this.#rung)];
    const rung = order.find((index) => isPossible(RUNGS[index], endable));
    if (rung === undefined) return undefined;
    this.#rung = rung + 1;
    this.#lastAt = now;
    this.#isPending = true;
    return RUNGS[rung];
  }

  /** Whether the last step may still have to take effect. */
  isWaiting(now: number): boolean {
    return this.#isPending && now - this.#lastAt < STEP_MS;
  }

  /** Called when the last step has taken effect: the next one needs no wait. */
  settle(): void {
    this.#isPending = false;
  }

  /** Called while no limit is exceeded. */
  relax(now: number): void {
    if (now - this.#lastAt >= RECOVERY_MS) this.#rung = 0;
  }

  /** Called when a command has left nothing running: the next one is ended at once, unless the shell itself was. */
  startOver(): void {
    this.settle();
    if (this.#rung <= SHELL_RUNG) this.#rung = 0;
  }
}

function isPossible(step: EscalationStep | undefined, { command, hasRest, canEndShell }: Endable): boolean {
  if (step === 'command') return command === 'runs';
  return step === 'rest' ? hasRest() : canEndShell;
}

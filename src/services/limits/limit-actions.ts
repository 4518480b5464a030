import { type Endable, Escalation, type EscalationStep } from '../../core/limits/escalation.js';
import { type Finding, isHeld, type KernelActions } from '../../core/limits/judge.js';
import { KILLED_BY, MB } from '../../core/limits/limits.js';
import type { Command } from '../../engine/command/command.js';
import { type Breach, findEnded, type LimitTarget } from '../../engine/command/resource-use.js';
import type { LimitSampler, Observation } from './limit-sampler.js';

/** Called when processes were ended for a limit, or the kernel has enforced one; `command` is the one that exceeded it. */
type OnExceeded = (breach: Breach, command: Command | undefined) => void;

/** Ends what exceeds the limits of one session or one-shot, in steps. */
export class LimitActions {
  readonly #target: LimitTarget;
  readonly #sampler: LimitSampler;
  readonly #onExceeded: OnExceeded;
  readonly #escalation = new Escalation();
  /** The command whose end is awaited. */
  #command: Command | undefined;
  /** The command that was reported last. */
  #reported: Command | undefined;

  constructor(target: LimitTarget, sampler: LimitSampler, onExceeded: OnExceeded) {
    this.#target = target;
    this.#sampler = sampler;
    this.#onExceeded = onExceeded;
  }

  /**
   * Acts on a sample.
   * @param worst the limit that is exceeded most
   * @returns whether a limit may still be exceeded when no command runs
   */
  act(observation: Observation, worst: Finding | undefined): boolean {
    const { running } = observation;
    if (running && running !== this.#command) this.#followToEnd(running);
    if (worst) this.#enforce(observation, worst);
    // While a command is being ended, its processes start and end rapidly.
    else if (running?.endReason === undefined) this.#escalation.relax(performance.now());
    // The shell alone may exceed a limit, and so may the one that replaces it.
    return canEndShell(worst, observation) || this.#escalation.isWaiting(performance.now());
  }

  #enforce(observation: Observation, worst: Finding): void {
    const { sample, running, kernel } = observation;
    const { resource, limit, observed } = worst;
    const breach: Breach = { resource, limit, observed };
    const step = this.#nextStep(observation, worst);
    if (step === undefined && kernel.kills === 0) return;
    if (step === undefined && !running) this.#target.noteBreach(breach);
    // A command started meanwhile ends with its shell, although it did not cause the breach.
    const exceeding = step === 'rest' ? undefined : running;
    const mustCancel = step !== undefined && stateOf(exceeding) === 'runs';
    if (mustCancel && exceeding && !this.#cancel(exceeding, breach, kernel)) return;
    this.#report(breach, exceeding);
    notePeakMemory(observation, worst);
    this.#end(step, breach);
    this.#sampler.restart(sample);
  }

  #nextStep(observation: Observation, worst: Finding): EscalationStep | undefined {
    const { sample, running, kernel } = observation;
    return this.#escalation.next(performance.now(), {
      command: stateOf(running),
      // The kernel has already ended the excess.
      hasRest: () => kernel.kills === 0 && this.#sampler.hasOthers(sample.pids) && this.#target.hasRest(),
      canEndShell: canEndShell(worst, observation),
    });
  }

  #report(breach: Breach, exceeding: Command | undefined): void {
    this.#reported = exceeding ?? this.#reported;
    this.#onExceeded(breach, exceeding);
  }

  #end(step: EscalationStep | undefined, breach: Breach): void {
    // It fails where processes cannot be listed: then the next sample decides again.
    if (step === 'rest') void this.#target.endRest(breach).then(this.#settle, this.#settle);
    else if (step === 'shell') this.#target.endShell(breach);
    else if (step === 'session') this.#target.endSession(breach);
  }

  /** Called when processes were ended. */
  readonly #settle = (): void => {
    this.#escalation.settle();
    this.#sampler.restart('sample');
  };

  /** Ends a command; returns false when it has just ended on its own. */
  #cancel(command: Command, breach: Breach, kernel: KernelActions): boolean {
    const victims = kernel.kills > 0 ? findEnded(command, this.#target) : [];
    this.#target.cancel(command, { status: 'killed', killedBy: KILLED_BY[breach.resource], breach });
    if (command.endReason?.breach !== breach) return false;
    command.noteKilled(victims);
    return true;
  }

  #followToEnd(command: Command): void {
    this.#command = command;
    command.atEnd('limits', ({ breach }) => {
      // The kernel may act before the next sample.
      if (breach && this.#reported !== command) this.#onExceeded(breach, command);
      if (!this.#sampler.hasOthers()) {
        this.#sampler.startPeriod();
        this.#escalation.startOver();
        if (breach) this.#endFullShell(breach);
      } else if (breach) this.#settle();
    });
  }

  /** Ends the shell if it alone still exceeds the memory limit for which its command was ended: the next command would be ended for it, too. */
  #endFullShell({ resource, limit }: Breach): void {
    const observed = resource === 'memory_mb' ? this.#sampler.memoryNowMb() : 0;
    if (observed <= limit) return;
    this.#end(this.#escalation.next(performance.now(), ONLY_SHELL), { resource, limit, observed });
  }
}

const ONLY_SHELL: Endable = { command: 'none', hasRest: () => false, canEndShell: true };

/** State of the current command for the escalation. */
function stateOf(running: Command | undefined): Endable['command'] {
  if (!running) return 'none';
  return running.endReason === undefined ? 'runs' : 'is_ending';
}

/** Where the kernel has killed processes, the memory was in use, however much of it is left now. */
function notePeakMemory({ running, kernel }: Observation, { resource, limit }: Finding): void {
  if (kernel.kills > 0 && resource === 'memory_mb') running?.meter.notePeakMemory(limit * MB);
}

/** Whether ending the shell can help, where the kernel has not helped already. */
function canEndShell(worst: Finding | undefined, { kernel, sample }: Observation): boolean {
  if (worst === undefined || !isHeld(worst.resource) || kernel.kills > 0) return false;
  // Files in memory stay when the shell ends.
  return worst.resource !== 'memory_mb' || sample.memoryBytes - (sample.fileBytes ?? 0) > worst.limit * MB;
}

import {
  type Endable,
  Escalation,
  type EscalationStep,
  type Evidence,
  type Finding,
  isHeld,
  judge,
  judgeTimeout,
  type KernelActions,
  SamplePace,
  SHORTEST_MS,
  WARNING_SHARE,
} from '../../core/limit-judge.js';
import { KILLED_BY, MB, type WarnedResource } from '../../core/limits.js';
import type { Command } from '../../engine/command/command.js';
import { type Breach, findEnded, type LimitTarget } from '../../engine/command/resource-use.js';
import type { ProcessSnapshot } from '../../engine/process/process-snapshot.js';
import type { LimitListener, LiveUsage } from './resource-monitor.js';
import { LimitSampler, type Observation } from './limit-sampler.js';

/** Called when processes were ended for a limit, or the kernel has enforced one; `command` is the one that exceeded it. */
type OnExceeded = (breach: Breach, command: Command | undefined) => void;

/** Ends what exceeds the limits of one session or one-shot, in steps. */
class LimitActions {
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

/** Enforces the limits of one session or one-shot while its processes run: samples, judges, and acts. */
export class LimitMonitor {
  readonly watched: LimitTarget;
  readonly #listener: LimitListener;
  readonly #sampler: LimitSampler;
  readonly #actions: LimitActions;
  readonly #pace = new SamplePace();
  /** The command that ran when a limit was nearly reached last. */
  readonly #warnedOf = new Map<WarnedResource, Command | undefined>();
  /** Whether a command ran when the snapshot was begun: what it has left may be missing there. */
  #ranAtSnapshot = false;

  constructor(watched: LimitTarget, listener: LimitListener, cpuWindowMs: number) {
    this.watched = watched;
    this.#listener = listener;
    this.#sampler = new LimitSampler(watched, cpuWindowMs);
    this.#actions = new LimitActions(watched, this.#sampler, (breach, command) =>
      listener.onNear?.(breach, 'exceeded', command?.id ?? null),
    );
  }

  /** Notes that another command has become long-running. */
  beginCommand(): void {
    this.#pace.restart();
  }

  /**
   * Time until the next sample, in milliseconds.
   * @param isExpensive whether sampling costs so much that idle processes are sampled less often
   */
  takePause(isExpensive: boolean): number {
    const pauseMs = this.#pace.next(this.watched.running !== undefined, isExpensive);
    return Math.min(pauseMs, Math.max(SHORTEST_MS, this.#listener.wantedIntervalMs?.() ?? Infinity));
  }

  /** Called before the snapshot of a sample is taken. */
  beginSnapshot(): void {
    this.#ranAtSnapshot = this.watched.running !== undefined;
  }

  /**
   * Takes a sample, and acts on exceeded limits.
   * @param disk floor and free space of the workspace's disk; undefined without a floor
   * @returns whether processes run that have to be sampled again, and the time spent on ending some, in milliseconds
   */
  check(snapshot: ProcessSnapshot, disk: Evidence['disk']): { mustContinue: boolean; actedMs: number } {
    const observation = this.#sampler.observe(snapshot);
    const findings = this.#judge(observation, disk);
    this.#pace.note(findings, observation.isStill);
    this.#warn(observation.running, findings);
    this.#warnOfTimeout(observation.running);
    this.#listener.onUsage?.(liveUsage(observation));
    const begin = performance.now();
    const mayExceed = this.#actions.act(
      observation,
      findings.find(({ share }) => share > 1),
    );
    const actedMs = performance.now() - begin;
    const mustContinue = mayExceed || this.#mayRun(observation);
    if (!mustContinue) {
      this.#sampler.startPeriod();
      this.#listener.onIdle?.();
    }
    return { mustContinue, actedMs };
  }

  /** Whether processes may run that have to be sampled. */
  #mayRun({ running, sample }: Observation): boolean {
    return running !== undefined || this.#ranAtSnapshot || this.#sampler.hasOthers(sample.pids);
  }

  #judge({ running, usage, commandUsage, kernel, isWriting }: Observation, disk: Evidence['disk']): Finding[] {
    return judge({
      limits: this.watched.limits,
      usage,
      commandLimits: running?.spec.resourceLimits ?? {},
      commandUsage,
      kernel,
      disk: isWriting ? disk : undefined,
    });
  }

  /** Warns of each resource once for a command, and once while only background processes run. */
  #warn(running: Command | undefined, findings: readonly Finding[]): void {
    for (const { resource, limit, observed, share } of findings) {
      const warnedOf = this.#warnedOf.get(resource);
      const isNew = running ? running !== warnedOf : !this.#warnedOf.has(resource);
      if (share < WARNING_SHARE || share > 1 || !isNew) continue;
      this.#warnedOf.set(resource, running);
      this.#listener.onNear?.({ resource, limit, observed }, 'warning', running?.id ?? null);
    }
  }

  /** Warns once of a command that its time-out will end soon. */
  #warnOfTimeout(running: Command | undefined): void {
    const near = running && judgeTimeout(running.spec.timeoutMs, running.ageMs);
    if (!near || this.#warnedOf.get(near.resource) === running) return;
    this.#warnedOf.set(near.resource, running);
    this.#listener.onNear?.(near, 'warning', running.id);
  }
}

const liveUsage = ({ sample, running, usage, cpuPercent }: Observation): LiveUsage => ({
  cpuPercent,
  cpuMs: usage.cpuMs,
  memoryBytes: sample.memoryBytes,
  tasks: sample.tasks,
  writtenBytes: usage.writtenBytes,
  commandId: running?.id ?? null,
});

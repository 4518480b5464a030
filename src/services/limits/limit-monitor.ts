import { type Endable, Escalation, type EscalationStep } from '../../core/limits/escalation.js';
import { type Finding, isHeld, judge, type KernelActions, WARNING_SHARE } from '../../core/limits/judge.js';
import { KILLED_BY, MB, type Resource } from '../../core/limits/limits.js';
import { SamplePace, SHORTEST_MS } from '../../core/limits/pace.js';
import type { Command } from '../../engine/command/command.js';
import type { LimitTarget } from '../../engine/command/limit-target.js';
import { findEnded } from '../../engine/command/ended-processes.js';
import type { Breach } from '../../engine/command/resource-use.js';
import type { GroupSample } from '../../engine/limits/mechanism.js';
import type { ProcessSnapshot } from '../../engine/usage/process-snapshot.js';
import { LimitSampler, type Observation } from './limit-sampler.js';

/** Current resource usage of a session or one-shot. */
export interface LiveUsage {
  /** Percent of one core, since the last sample. */
  readonly cpuPercent: number;
  /** CPU time since the first process started, in milliseconds. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
  /** Bytes written since the first process started. */
  readonly writtenBytes: number;
  readonly commandId: string | null;
}

/** Receives the results of a limit monitor. */
export interface LimitListener {
  /**
   * Called when a limit is nearly reached (`warning`), or was exceeded and processes were ended for it (`exceeded`).
   */
  onNear(breach: Breach, level: 'warning' | 'exceeded', commandId: string | null): void;
  /** Called for every sample. */
  onUsage(usage: LiveUsage): void;
  /** Called when nothing runs any more that has to be sampled. */
  onIdle?(): void;
  /** Longest interval between two samples that a follower accepts, in milliseconds; undefined without followers. */
  wantedIntervalMs(): number | undefined;
}

/** Settings of a limit monitor. */
export interface LimitMonitorSettings {
  readonly cpuWindowMs: number;
  readonly diskFreeMbFloor: number | undefined;
}

/** Enforces the limits of one session or one-shot while its processes run: samples, judges, and acts. */
export class LimitMonitor {
  readonly watched: LimitTarget;
  readonly #listener: LimitListener;
  readonly #settings: LimitMonitorSettings;
  readonly #sampler: LimitSampler;
  readonly #escalation = new Escalation();
  readonly #pace = new SamplePace();
  readonly #warned = new Set<Resource>();
  /** The command that ran when a warning was given last. */
  #warnedOf: Command | undefined;
  /** Commands that were reported as having exceeded a limit. */
  readonly #reported = new WeakSet<Command>();
  /** The command whose end is awaited. */
  #command: Command | undefined;
  /** What the last sample has found, and whether it was the same before. */
  #lastSample: GroupSample | undefined;
  #isStill = false;
  /** Whether a command ran when the snapshot was begun: what it has left may be missing there. */
  #ranAtSnapshot = false;

  constructor(watched: LimitTarget, listener: LimitListener, settings: LimitMonitorSettings) {
    this.watched = watched;
    this.#listener = listener;
    this.#settings = settings;
    this.#sampler = new LimitSampler(watched, settings.cpuWindowMs);
  }

  /** Called before a command starts: what the kernel has killed before does not count against the command. */
  noteBackgroundKills(): void {
    const { memory_mb: limit } = this.watched.limits;
    if (limit === undefined || !this.#sampler.takeBackgroundKills()) return;
    this.watched.noteBreach({ resource: 'memory_mb', limit, observed: limit });
  }

  /** Notes that another command has become long-running. */
  beginCommand(): void {
    this.#command = undefined;
    this.#pace.restart();
    // A sample for what ran before may have been of this command already.
    if (this.#warnedOf === undefined || this.#warnedOf !== this.watched.running) this.#warned.clear();
  }

  /**
   * Time until the next sample, in milliseconds.
   * @param isExpensive whether sampling costs so much that idle processes are sampled less often
   */
  takePause(isExpensive: boolean): number {
    const pauseMs = this.#pace.next(this.watched.running !== undefined, isExpensive && this.#isStill);
    return Math.min(pauseMs, Math.max(SHORTEST_MS, this.#listener.wantedIntervalMs() ?? Infinity));
  }

  /** Called before the snapshot of a sample is taken. */
  beginSnapshot(): void {
    this.#ranAtSnapshot = this.watched.running !== undefined;
  }

  /**
   * Takes a sample, and acts on exceeded limits.
   * @param freeBytes free space of the workspace's disk, in bytes
   * @returns whether processes run that have to be sampled again, and the time spent on ending some, in milliseconds
   */
  check(snapshot: ProcessSnapshot, freeBytes: number | undefined): { mustContinue: boolean; actedMs: number } {
    const observation = this.#sampler.observe(snapshot);
    const { running, sample } = observation;
    this.#isStill = this.#lastSample !== undefined && isSame(sample, this.#lastSample);
    this.#lastSample = sample;
    if (running && running !== this.#command) this.#followToEnd(running);
    const findings = this.#judge(observation, freeBytes);
    this.#pace.note(findings);
    this.#notify(observation, findings);
    const worst = findings.find(({ share }) => share > 1);
    const begin = performance.now();
    if (worst) this.#act(observation, worst);
    // While a command is being ended, its processes start and end rapidly.
    else if (running?.endReason === undefined) this.#escalation.relax(begin);
    const end = performance.now();
    // The shell alone may exceed a limit, and so may the one that replaces it.
    const mayExceed = canEndShell(worst, observation) || this.#escalation.isWaiting(end);
    const mustContinue = mayExceed || this.#mayRun(observation);
    if (!mustContinue) this.#endPeriod();
    return { mustContinue, actedMs: end - begin };
  }

  /** Whether processes may run that have to be sampled. */
  #mayRun({ running, sample }: Observation): boolean {
    return running !== undefined || this.#ranAtSnapshot || this.#sampler.hasOthers(sample.pids);
  }

  #endPeriod(): void {
    this.#sampler.startPeriod();
    this.#listener.onIdle?.();
  }

  #judge({ running, usage, commandUsage, kernel, isWriting }: Observation, freeBytes: number | undefined): Finding[] {
    const { diskFreeMbFloor: floorMb } = this.#settings;
    return judge({
      limits: this.watched.limits,
      usage,
      commandLimits: running?.spec.resourceLimits ?? {},
      commandUsage,
      kernel,
      disk: isWriting && floorMb !== undefined && freeBytes !== undefined ? { floorMb, freeBytes } : undefined,
    });
  }

  #notify({ sample, running, usage, cpuPercent }: Observation, findings: readonly Finding[]): void {
    const commandId = running?.id ?? null;
    for (const { resource, limit, observed, share } of findings) {
      if (share < WARNING_SHARE || share > 1 || this.#warned.has(resource)) continue;
      this.#warned.add(resource);
      this.#warnedOf = running;
      this.#listener.onNear({ resource, limit, observed }, 'warning', commandId);
    }
    const { cpuMs, writtenBytes } = usage;
    const { memoryBytes, tasks } = sample;
    this.#listener.onUsage({ cpuPercent, cpuMs, memoryBytes, tasks, writtenBytes, commandId });
  }

  #act(observation: Observation, worst: Finding): void {
    const { sample, running, kernel } = observation;
    const { resource, limit, observed } = worst;
    const breach: Breach = { resource, limit, observed };
    const step = this.#nextStep(observation, worst);
    if (step === undefined && kernel.kills === 0) return;
    if (step === undefined && !running) this.watched.noteBreach(breach);
    // A command started meanwhile ends with its shell, although it did not cause the breach.
    const exceeding = step === 'rest' ? undefined : running;
    const mustCancel = step !== undefined && stateOf(exceeding) === 'runs';
    if (mustCancel && exceeding && !this.#cancel(exceeding, breach, kernel)) return;
    this.#report(breach, exceeding);
    notePeakMemory(observation, worst);
    this.#end(step, breach);
    this.#sampler.restart(sample);
  }

  #report(breach: Breach, exceeding: Command | undefined): void {
    if (exceeding) this.#reported.add(exceeding);
    this.#listener.onNear(breach, 'exceeded', exceeding?.id ?? null);
  }

  #nextStep(observation: Observation, worst: Finding): EscalationStep | undefined {
    const { sample, running, kernel } = observation;
    return this.#escalation.next(performance.now(), {
      command: stateOf(running),
      // The kernel has already ended the excess.
      hasRest: () => kernel.kills === 0 && this.#sampler.hasOthers(sample.pids) && this.watched.hasRest(),
      canEndShell: canEndShell(worst, observation),
    });
  }

  #end(step: EscalationStep | undefined, breach: Breach): void {
    if (step === 'rest') void this.watched.endRest(breach).then(this.#settle);
    else if (step === 'shell') this.watched.endShell(breach);
    else if (step === 'session') this.watched.endSession(breach);
  }

  /** Called when processes were ended. */
  readonly #settle = (): void => {
    this.#escalation.settle();
    this.#sampler.restart('sample');
  };

  /** Ends a command; returns false when it has just ended on its own. */
  #cancel(command: Command, breach: Breach, kernel: KernelActions): boolean {
    const { numbers, own, isEnding } = this.watched;
    const victims = kernel.kills > 0 ? findEnded(command, isEnding, own.slice(0, -1)) : [];
    this.watched.cancel(command, { status: 'killed', killedBy: KILLED_BY[breach.resource], breach });
    if (command.endReason?.breach !== breach) return false;
    command.noteKilled(victims.map((pid) => numbers.of(pid)));
    return true;
  }

  #followToEnd(command: Command): void {
    this.#command = command;
    command.atEnd('limits', ({ breach }) => {
      // The kernel may act before the next sample.
      if (breach && !this.#reported.has(command)) this.#listener.onNear(breach, 'exceeded', command.id);
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

/** Whether nothing has been used between two samples. */
const isSame = (a: GroupSample, b: GroupSample): boolean =>
  a.cpuMs === b.cpuMs && a.memoryBytes === b.memoryBytes && a.tasks === b.tasks && a.writtenBytes === b.writtenBytes;

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

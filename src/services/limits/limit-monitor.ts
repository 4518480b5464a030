import { type Evidence, type Finding, judge, judgeTimeout, WARNING_SHARE } from '../../core/limits/judge.js';
import type { WarnedResource } from '../../core/limits/limits.js';
import { SamplePace, SHORTEST_MS } from '../../core/limits/pace.js';
import type { Command } from '../../engine/command/command.js';
import type { LimitTarget } from '../../engine/command/resource-use.js';
import type { ProcessSnapshot } from '../../engine/usage/process-snapshot.js';
import { LimitActions } from './limit-actions.js';
import type { LimitListener, LiveUsage } from './limit-listener.js';
import { LimitSampler, type Observation } from './limit-sampler.js';

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

import type { Evidence } from '../../core/limit-judge.js';
import type { WarnedResource } from '../../core/limits.js';
import { LastingProblem, type Log } from '../../core/log.js';
import type { Breach, LimitTarget } from '../../engine/command/resource-use.js';
import type { LimitMechanism } from '../../engine/limits/mechanism.js';
import type { ListAge } from '../../engine/platform/platform.js';
import { diskSpaceOf } from '../../engine/platform/machine.js';
import type { ProcessSnapshot } from '../../engine/process/process-snapshot.js';
import { Slices } from '../../engine/system/promises.js';
import { LimitMonitor } from './limit-monitor.js';

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
   * Called when a limit or a time-out is nearly reached (`warning`), or a limit was exceeded and processes were ended for it (`exceeded`).
   */
  onNear?(breach: Breach<WarnedResource>, level: 'warning' | 'exceeded', commandId: string | null): void;
  onUsage?(usage: LiveUsage): void;
  /** Called when nothing runs any more that has to be sampled. */
  onIdle?(): void;
  /**
   * Longest interval between two samples that a follower accepts, in milliseconds; undefined without followers.
   * @default () => undefined
   */
  wantedIntervalMs?(): number | undefined;
}

/** Monitors due within this time of each other are sampled together, in milliseconds. */
const SLACK_MS = 4;
/**
 * Pause after sampling, as a multiple of the CPU time the sampling took: sampling takes at most a third of a core where
 * limits depend on it alone, and a tenth where the kernel enforces the limits that are exceeded quickly. On a machine
 * whose CPUs are busy it takes longer, and must not become rarer for that: it is needed most there.
 */
const REST = 2;
const REST_IF_ENFORCED = 9;
const US_PER_MS = 1000;

/** A monitor with the time of its next sample, on the monotonic clock. */
interface Watch {
  readonly monitor: LimitMonitor;
  dueAt: number;
  /** When the last sample was asked for, on the same clock. */
  sampledAt: number;
}

export interface ResourceMonitorSettings {
  readonly cpuWindowMs: number;
  readonly diskFreeMbFloor: number | undefined;
}

/**
 * Enforces limits on CPU, memory, processes and disks: samples all monitored processes, warns, and ends what has
 * exceeded a limit. Sessions and one-shots are added when a command becomes long-running, and removed when none of
 * their processes run; without monitored processes no timer is set.
 */
export class ResourceMonitor implements Disposable {
  /** Directory on the disk whose free space is monitored. */
  readonly #workspace: string;
  readonly #mechanism: LimitMechanism;
  readonly #settings: () => ResourceMonitorSettings;
  readonly #log: Log;
  readonly #watches = new Map<LimitTarget, Watch>();
  #timer: NodeJS.Timeout | undefined;
  #isSampling = false;
  /** CPU time of the previous sampling. A single expensive one, such as the first of a daemon, causes no pause. */
  #lastSampledMs = 0;
  /** No sampling before this time, on the monotonic clock. */
  #pausedUntil = 0;
  /** Out of file descriptors, or of processes. */
  readonly #blindness: LastingProblem;

  constructor(workspace: string, mechanism: LimitMechanism, settings: () => ResourceMonitorSettings, log: Log) {
    this.#workspace = workspace;
    this.#mechanism = mechanism;
    this.#settings = settings;
    this.#log = log;
    this.#blindness = new LastingProblem(log, {
      level: 'warn',
      begun: 'processes could not be looked at',
      over: 'processes can be looked at again',
    });
  }

  /** Monitors a long-running command from now on, and with it all processes of its session. */
  watch(watched: LimitTarget, listener: LimitListener): void {
    const watch = this.#watches.get(watched) ?? this.#add(watched, listener);
    watch.monitor.beginCommand();
    // Where sampling is expensive, most commands end before a sample is worth its cost.
    this.#sampleAt(watch, performance.now() + this.#restOf(this.#programMs));
  }

  #add(watched: LimitTarget, listener: LimitListener): Watch {
    const monitor = new LimitMonitor(watched, listener, this.#settings().cpuWindowMs);
    const watch = { monitor, dueAt: 0, sampledAt: -Infinity };
    watched.isMonitored = true;
    this.#watches.set(watched, watch);
    return watch;
  }

  /** Samples a session immediately, if it is monitored. */
  hasten(watched: LimitTarget): void {
    const watch = this.#watches.get(watched);
    if (watch) this.#sampleAt(watch, 0);
  }

  /** Stops monitoring a session that has ended. */
  forget(watched: LimitTarget): void {
    watched.isMonitored = false;
    this.#watches.delete(watched);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#watches.clear();
  }

  #sampleAt(watch: Watch, dueAt: number): void {
    watch.dueAt = dueAt;
    void this.#sampleDue();
  }

  /** CPU time that other programs use for a sample, in milliseconds. */
  get #programMs(): number {
    return this.#mechanism.programMs?.() ?? 0;
  }

  /** Returns the pause after a sampling that has taken so much CPU time. */
  #restOf(sampledMs: number): number {
    return sampledMs * (this.#mechanism.isEnforced ? REST_IF_ENFORCED : REST);
  }

  /** Samples what is due, never twice at a time, and sets the timer for the next due time. */
  async #sampleDue(): Promise<void> {
    if (this.#isSampling) return;
    const due = this.#due();
    if (due.length > 0) {
      this.#isSampling = true;
      const begin = process.cpuUsage();
      const actedMs = await this.#sampleAll(due);
      const { user, system } = process.cpuUsage(begin);
      const sampledMs = Math.max(0, (user + system) / US_PER_MS - actedMs);
      // Ending processes takes many times as long, and must not delay the sampling of others.
      this.#pausedUntil = performance.now() + this.#restOf(Math.min(sampledMs, this.#lastSampledMs) + this.#programMs);
      this.#lastSampledMs = sampledMs;
      this.#isSampling = false;
    }
    this.#schedule();
  }

  #due(): Watch[] {
    const now = performance.now();
    if (now < this.#pausedUntil) return [];
    // What could not be sampled before the rest after this one.
    const until = now + Math.max(SLACK_MS, this.#restOf(this.#programMs));
    const all = [...this.#watches.values()];
    return all.some(({ dueAt }) => dueAt <= now + SLACK_MS) ? all.filter(({ dueAt }) => dueAt <= until) : [];
  }

  /** Returns the time spent on ending processes, in milliseconds. */
  async #sampleAll(due: readonly Watch[]): Promise<number> {
    for (const { monitor } of due) monitor.beginSnapshot();
    const age = ageFor(due);
    const now = performance.now();
    for (const watch of due) watch.sampledAt = now;
    const snapshot = await this.#takeSnapshot(age);
    const disk = this.#disk();
    const slices = new Slices();
    let actedMs = 0;
    for (const watch of due) {
      if (slices.isOver) await slices.next();
      // The monitor may have been removed meanwhile.
      if (this.#watches.get(watch.monitor.watched) === watch) actedMs += this.#check(watch, snapshot, disk);
    }
    return actedMs;
  }

  async #takeSnapshot(age: ListAge): Promise<ProcessSnapshot | undefined> {
    try {
      const snapshot = await this.#mechanism.sample(age);
      this.#blindness.succeeded();
      return snapshot;
    } catch (error) {
      this.#blindness.failed(error);
      return undefined;
    }
  }

  #check(watch: Watch, snapshot: ProcessSnapshot | undefined, disk: Evidence['disk']): number {
    const { monitor } = watch;
    try {
      // A failed sample is repeated later.
      const { mustContinue, actedMs } = snapshot ? monitor.check(snapshot, disk) : { mustContinue: true, actedMs: 0 };
      if (mustContinue) watch.dueAt = performance.now() + monitor.takePause(this.#programMs > 0);
      else this.forget(monitor.watched);
      return actedMs;
    } catch (error) {
      // Its cgroup was removed, or the daemon is out of file descriptors.
      this.#log.warn('resources could not be looked at', { error: String(error) });
      this.forget(monitor.watched);
      return 0;
    }
  }

  #schedule(): void {
    const first = Math.min(Infinity, ...[...this.#watches.values()].map((watch) => watch.dueAt));
    clearTimeout(this.#timer);
    if (first === Infinity) return;
    const wait = Math.max(1, Math.max(first, this.#pausedUntil) - performance.now());
    this.#timer = setTimeout(() => void this.#sampleDue(), wait).unref();
  }

  #disk(): Evidence['disk'] {
    const { diskFreeMbFloor: floorMb } = this.#settings();
    const space = floorMb === undefined ? undefined : diskSpaceOf(this.#workspace);
    return floorMb === undefined || !space ? undefined : { floorMb, freeBytes: space.freeBytes };
  }
}

/**
 * Which list serves for a sample. What a command that has just ended has left must be in it, as it is in that of its end;
 * while commands run, the next sample finds what this one misses.
 */
function ageFor(due: readonly Watch[]): ListAge {
  const idle = due.filter(({ monitor }) => monitor.watched.running === undefined);
  if (idle.length === 0) return 'begun';
  return Math.max(
    ...idle.map(({ monitor: { watched }, sampledAt }) => {
      const { idleSince = Infinity } = watched;
      return idleSince > sampledAt ? idleSince : Infinity;
    }),
  );
}

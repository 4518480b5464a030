import { CpuWindow } from '../../core/limits/cpu-window.js';
import { Escalation } from '../../core/limits/escalation.js';
import { type Finding, judgeFreeSpace, judgeUsage, WARNING_SHARE } from '../../core/limits/judge.js';
import { KILLED_BY, type Limits, MB, type Resource, stricterLimits } from '../../core/limits/limits.js';
import { nextPauseMs, SHORTEST_MS } from '../../core/limits/pace.js';
import type { Command } from '../../engine/command/command.js';
import type { GroupSample, KernelActions } from '../../engine/limits/mechanism.js';
import type { ProcessSnapshot } from '../../engine/limits/process-snapshot.js';
import type { LimitTarget } from '../../engine/command/limit-target.js';
import { isEnding } from '../../engine/process/process-table.js';
import type { Breach } from '../../engine/command/resource-use.js';
import { RepeatOffenders } from './repeat-offenders.js';

/** Bytes written between two samples up to which a process is not considered the cause of a full disk. */
const WRITER_BYTES = MB;
/** Share that represents a limit enforced by the kernel: it was reached, and more was requested. */
const WANTED_MORE = 1.01;

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
  /** Longest interval between two samples that a follower accepts, in milliseconds; undefined without followers. */
  wantedIntervalMs(): number | undefined;
}

/** Settings of a limit monitor. */
export interface LimitMonitorSettings {
  readonly cpuWindowMs: number;
  readonly diskFreeMbFloor: number | undefined;
}

/** Starting counts of the limits on CPU time and bytes written. */
interface Baseline {
  readonly cpuMs: number;
  readonly writtenBytes: number;
}

/** Enforces the limits of one session or one-shot while its processes run. */
export class LimitMonitor {
  readonly watched: LimitTarget;
  /** Time of the next sample, on the monotonic clock. */
  dueAt = 0;
  /** Time that the last check spent on ending processes, in milliseconds. */
  actedMs = 0;
  readonly #listener: LimitListener;
  readonly #settings: LimitMonitorSettings;
  readonly #window: CpuWindow;
  readonly #escalation = new Escalation();
  readonly #offenders = new RepeatOffenders();
  readonly #warned = new Set<Resource>();
  #group: LimitTarget['group'];
  #command: Command | undefined;
  /** The last command reported as having exceeded a limit. */
  #exceededBy: Command | undefined;
  /** Baselines since the first process started, and since the command started. */
  #since: Baseline | undefined;
  #commandSince: Baseline | undefined;
  #last: GroupSample | undefined;
  #findings: readonly Finding[] = [];
  #earlierFindings: readonly Finding[] = [];
  /** A command was ended for a limit since the last sample, and has left processes running. */
  #hasEndedForLimit = false;
  #pauseMs: number | undefined;
  /** The shell alone exceeds a limit: sampling continues until that is resolved. */
  #mustContinue = false;

  constructor(watched: LimitTarget, listener: LimitListener, settings: LimitMonitorSettings) {
    this.watched = watched;
    this.#group = watched.group;
    this.#listener = listener;
    this.#settings = settings;
    this.#window = new CpuWindow(settings.cpuWindowMs);
  }

  /** Notes the start of another command. */
  beginCommand(): void {
    if (this.#last && this.#hasRest(this.#last)) this.#noteEarlierKills();
    this.#command = undefined;
    this.#pauseMs = undefined;
    this.#warned.clear();
  }

  /** Time until the next sample, in milliseconds. */
  takePause(): number {
    const hasCommand = this.watched.running !== undefined;
    const state = { lastPauseMs: this.#pauseMs, before: this.#earlierFindings, now: this.#findings, hasCommand };
    this.#pauseMs = nextPauseMs(state);
    return Math.min(this.#pauseMs, Math.max(SHORTEST_MS, this.#listener.wantedIntervalMs() ?? Infinity));
  }

  /**
   * Takes a sample, and acts on exceeded limits.
   * @param freeBytes free space of the workspace's disk, in bytes
   * @returns true while processes run that have to be sampled again
   */
  check(snapshot: ProcessSnapshot, freeBytes: number | undefined): boolean {
    const { watched } = this;
    if (this.#group !== watched.group) this.#resetCounts();
    const sample = this.#group.sample(snapshot);
    watched.numbers.note(sample.pids);
    const { running } = watched;
    this.#setBaselines(sample, running);
    this.#window.push(performance.now(), sample.cpuMs);
    running?.meter.note(sample, this.#commandSince?.writtenBytes ?? sample.writtenBytes);
    const kernel = this.#group.takeKernelActions();
    this.#earlierFindings = this.#findings;
    this.#findings = this.#judge(sample, kernel, freeBytes);
    this.#last = sample;
    this.#notify(sample, running);
    const begin = performance.now();
    this.#act(sample, running, kernel, snapshot);
    this.actedMs = performance.now() - begin;
    const mustContinue = running !== undefined || this.#hasRest(sample) || this.#mustContinue;
    // The next command starts with new counts, even if it ends before it is sampled.
    if (!mustContinue) this.#since = this.#last = undefined;
    return mustContinue;
  }

  /** Resets all counts after the shell was replaced: its processes are different ones. */
  #resetCounts(): void {
    this.#group = this.watched.group;
    this.#since = undefined;
    this.#commandSince = undefined;
    this.#last = undefined;
    this.#hasEndedForLimit = false;
    this.#window.clear();
    this.#offenders.forget();
  }

  #setBaselines(sample: GroupSample, running: Command | undefined): void {
    // Usage of a command between its breach and its end does not count against earlier background jobs.
    const isEnding = running?.endReason?.breach !== undefined;
    if (this.#hasEndedForLimit || isEnding) {
      this.#hasEndedForLimit = false;
      const ofNext = isEnding ? 0 : this.#bytesOfShell(running);
      this.#since = { cpuMs: sample.cpuMs, writtenBytes: sample.writtenBytes - ofNext };
    }
    if (!this.#since) {
      const cpuMs = running?.meter.cpuAtStart ?? sample.cpuMs;
      this.#since = { cpuMs, writtenBytes: this.#writtenBefore(sample, running) };
      if (running) this.#window.push(performance.now() - running.ageMs, cpuMs);
    }
    if (running && running !== this.#command) {
      this.#command = running;
      this.#followToEnd(running);
      const writtenBytes = this.#last?.writtenBytes ?? this.#since.writtenBytes;
      this.#commandSince = { cpuMs: running.meter.cpuAtStart ?? sample.cpuMs, writtenBytes };
    }
  }

  /**
   * Bytes written before the command started, when the session was idle: bytes written by processes other than the
   * shell, and by the shell since then, count for the command. All figures are of one sample: a moment later the shell
   * may have taken over the count of a process that has ended.
   */
  #writtenBefore({ writtenBytes }: GroupSample, running: Command | undefined): number {
    const byOthers = this.#group.seenWrittenBeyond(this.watched.own);
    return Math.max(0, writtenBytes - byOthers - this.#bytesOfShell(running));
  }

  /** Bytes that the shell has written for the command, if the count at its start is known. */
  #bytesOfShell(running: Command | undefined): number {
    const { pid, atStart = 0 } = running?.meter.writer ?? {};
    return pid === undefined ? 0 : Math.max(0, this.#group.seenWrittenBy(pid) - atStart);
  }

  /** Findings on the limits of the session and of the command, the largest share first. */
  #judge(sample: GroupSample, kernel: KernelActions, freeBytes: number | undefined): Finding[] {
    const { limits, running } = this.watched;
    const own = running?.spec.resourceLimits ?? {};
    const findings = [
      ...judgeUsage(limits, this.#usageSince(sample, this.#since)),
      ...judgeUsage(own, this.#usageSince(sample, this.#commandSince)),
      ...keptByKernel(stricterLimits(limits, own), kernel),
    ];
    const { diskFreeMbFloor } = this.#settings;
    const isWriting = sample.writtenBytes - (this.#last ?? this.#since ?? sample).writtenBytes > WRITER_BYTES;
    if (diskFreeMbFloor !== undefined && freeBytes !== undefined && isWriting) {
      findings.push(judgeFreeSpace(diskFreeMbFloor, freeBytes));
    }
    return findings.toSorted((a, b) => b.share - a.share);
  }

  /** Kills by the kernel while only background jobs ran do not count against the command started since. */
  #noteEarlierKills(): void {
    const { memory_mb: limit } = this.watched.limits;
    if (limit === undefined || this.#group.takeKernelActions().kills === 0) return;
    this.watched.noteBreach({ resource: 'memory_mb', limit, observed: limit });
  }

  #followToEnd(command: Command): void {
    command.atEnd('limits', ({ breach }) => {
      // The kernel may act before the next sample.
      if (breach && this.#exceededBy !== command) this.#listener.onNear(breach, 'exceeded', command.id);
      const isAlone = this.#group.members().every((pid) => this.watched.own.includes(pid));
      // The next command starts with new counts, even if it starts before the next sample.
      if (isAlone) this.#since = this.#last = undefined;
      else if (breach) {
        this.#last = undefined;
        this.#hasEndedForLimit = true;
      }
    });
  }

  #usageSince(sample: GroupSample, since: Baseline | undefined) {
    return {
      cpuMs: since && sample.cpuMs - since.cpuMs,
      cpuPercent: this.#window.percent,
      memoryBytes: sample.memoryBytes,
      processes: sample.tasks,
      writtenBytes: since && sample.writtenBytes - since.writtenBytes,
    };
  }

  #notify(sample: GroupSample, running: Command | undefined): void {
    for (const { resource, limit, observed, share } of this.#findings) {
      if (share < WARNING_SHARE || share > 1 || this.#warned.has(resource)) continue;
      this.#warned.add(resource);
      this.#listener.onNear({ resource, limit, observed }, 'warning', running?.id ?? null);
    }
    const { cpuMs, writtenBytes } = this.#since ?? sample;
    this.#listener.onUsage({
      cpuPercent: this.#window.latest ?? 0,
      cpuMs: sample.cpuMs - cpuMs,
      memoryBytes: sample.memoryBytes,
      tasks: sample.tasks,
      writtenBytes: sample.writtenBytes - writtenBytes,
      commandId: running?.id ?? null,
    });
  }

  #act(sample: GroupSample, running: Command | undefined, kernel: KernelActions, snapshot: ProcessSnapshot): void {
    const worst = this.#findings.find(({ share }) => share > 1);
    this.#mustContinue = worst !== undefined && canHelp(worst) && kernel.kills === 0;
    if (!worst) {
      // While a command is being ended, its processes start and end rapidly.
      if (running?.endReason === undefined) this.#escalation.reset();
      return;
    }
    const { resource, limit, observed } = worst;
    const breach: Breach = { resource, limit, observed };
    const mayCancel = running !== undefined && running.endReason === undefined;
    const step = this.#escalation.next(performance.now(), {
      command: running ? (mayCancel ? 'runs' : 'is_ending') : 'none',
      // The kernel has already ended the excess.
      hasRest: this.#hasRest(sample) && kernel.kills === 0,
      isRestToBlame: mayCancel && kernel.kills === 0 && this.#isRestToBlame(worst, sample, snapshot),
      canEndShell: canHelp(worst) && kernel.kills === 0,
    });
    if (step === undefined && kernel.kills > 0 && !running) this.watched.noteBreach(breach);
    if (step === undefined && kernel.kills === 0) return;
    // A command started meanwhile ends with its shell, although it did not cause the breach.
    const mustCancel = step !== undefined && step !== 'rest' && mayCancel;
    if (mustCancel && !this.#cancel(running, breach, kernel)) return;
    if (step === 'command') this.#offenders.note(snapshot, sample.pids);
    const exceeding = step === 'rest' ? undefined : running;
    this.#listener.onNear(breach, 'exceeded', exceeding?.id ?? null);
    this.#exceededBy = exceeding;
    // The memory was in use, however much of it is left now.
    if (kernel.kills > 0 && resource === 'memory_mb') running?.meter.notePeakMemory(limit * MB);
    if (step === 'rest') this.#endRest(breach);
    else if (step === 'shell') this.watched.endShell(breach);
    else if (step === 'session') this.watched.endSession(breach);
    // Counts restart, so that the usage of ended processes does not count against the remaining ones.
    this.#since = { cpuMs: sample.cpuMs, writtenBytes: sample.writtenBytes };
    this.#window.clear();
  }

  /** Processes that survive this have started later. */
  #endRest(breach: Breach): void {
    this.#offenders.forget();
    void this.watched.endRest(breach);
  }

  /**
   * True when processes left by the last ended command are the cause of the session's own limit being exceeded again.
   */
  #isRestToBlame({ resource, limit }: Finding, { pids }: GroupSample, snapshot: ProcessSnapshot): boolean {
    const { limits, own } = this.watched;
    const isSessions = resource === 'disk_free_mb' || limits[resource] === limit;
    return isSessions && this.#offenders.areToBlame({ snapshot, pids, own, resource });
  }

  /** Ends a command; returns false when it has just ended on its own. */
  #cancel(command: Command, breach: Breach, kernel: KernelActions): boolean {
    const victims = kernel.kills > 0 ? ended(command) : [];
    this.watched.cancel(command, { status: 'killed', killedBy: KILLED_BY[breach.resource], breach });
    if (command.endReason?.breach !== breach) return false;
    command.noteKilled(victims.map((pid) => this.watched.numbers.of(pid)));
    return true;
  }

  /** True when processes other than the shell run. */
  #hasRest({ pids }: GroupSample): boolean {
    return pids.some((pid) => !this.watched.own.includes(pid));
  }
}

/** False for limits on cumulative counts: ending a shell cannot lower them. */
const canHelp = ({ resource }: Finding): boolean => resource !== 'cpu_seconds' && KILLED_BY[resource] !== 'disk';

/** Limits that the kernel has enforced since the last sample: by killing, or by refusing forks. */
function keptByKernel(limits: Limits, { kills, refusedForks }: KernelActions): Finding[] {
  const { memory_mb: memory, processes } = limits;
  const kept = (resource: Resource, limit: number): Finding => ({
    resource,
    limit,
    observed: limit,
    share: WANTED_MORE,
  });
  return [
    ...(kills > 0 && memory !== undefined ? [kept('memory_mb', memory)] : []),
    ...(refusedForks > 0 && processes !== undefined ? [kept('processes', processes)] : []),
  ];
}

/**
 * Processes of the last two samples that are ending or have ended: the kernel does not report which ones it has killed.
 */
function ended({ meter }: Command): number[] {
  const pids = new Set([...meter.earlierPids, ...meter.lastPids]);
  return [...pids].filter((pid) => isEnding({ pid }));
}

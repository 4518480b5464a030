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

/** Who has not written more than this since the last look is not why a disk fills up, in bytes. */
const WRITER_BYTES = MB;
/** A share that stands for a limit which the kernel has kept: it was reached, and more was wanted. */
const WANTED_MORE = 1.01;

/** What a session or one-shot uses at a moment. */
export interface LiveUsage {
  /** Of one core, since the last look. */
  readonly cpuPercent: number;
  /** CPU time since something began to run there, in milliseconds. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
  /** Likewise. */
  readonly writtenBytes: number;
  readonly commandId: string | null;
}

/** Who is told what is seen. */
export interface LimitListener {
  /** A limit is near, or it was exceeded and something was ended for it. */
  onNear(breach: Breach, level: 'warning' | 'exceeded', commandId: string | null): void;
  /** Every look. */
  onUsage(usage: LiveUsage): void;
  /** How often somebody wants to be told at least; undefined when nobody does. */
  wantedIntervalMs(): number | undefined;
}

/** What a watch goes by. */
export interface LimitMonitorSettings {
  readonly cpuWindowMs: number;
  readonly diskFreeMbFloor: number | undefined;
}

/** The counts that limits on CPU time and bytes written begin at. */
interface Baseline {
  readonly cpuMs: number;
  readonly writtenBytes: number;
}

/** Keeps the limits of one session or one-shot while something of it runs. */
export class LimitMonitor {
  readonly watched: LimitTarget;
  /** When to look next, on the monotonic clock. */
  dueAt = 0;
  /** How much of the last look it took to end something, in milliseconds. */
  actedMs = 0;
  readonly #listener: LimitListener;
  readonly #settings: LimitMonitorSettings;
  readonly #window: CpuWindow;
  readonly #escalation = new Escalation();
  readonly #offenders = new RepeatOffenders();
  readonly #warned = new Set<Resource>();
  #group: LimitTarget['group'];
  #command: Command | undefined;
  /** The command of which it was told last that it has exceeded a limit. */
  #exceededBy: Command | undefined;
  /** Of everything, since something began to run; and of the command. */
  #since: Baseline | undefined;
  #commandSince: Baseline | undefined;
  #last: GroupSample | undefined;
  #findings: readonly Finding[] = [];
  #earlierFindings: readonly Finding[] = [];
  /** A command was ended for a limit since the last look, and has left others running. */
  #hasEndedForLimit = false;
  #pauseMs: number | undefined;
  /** The shell alone exceeds a limit: it is looked at until that was seen to. */
  #mustGoOn = false;

  constructor(watched: LimitTarget, listener: LimitListener, settings: LimitMonitorSettings) {
    this.watched = watched;
    this.#group = watched.group;
    this.#listener = listener;
    this.#settings = settings;
    this.#window = new CpuWindow(settings.cpuWindowMs);
  }

  /** Another command runs. */
  beginCommand(): void {
    if (this.#last && this.#hasRest(this.#last)) this.#noteEarlierKills();
    this.#command = undefined;
    this.#pauseMs = undefined;
    this.#warned.clear();
  }

  /** How long to wait before the next look, in milliseconds. */
  takePause(): number {
    const hasCommand = this.watched.running !== undefined;
    const state = { lastPauseMs: this.#pauseMs, before: this.#earlierFindings, now: this.#findings, hasCommand };
    this.#pauseMs = nextPauseMs(state);
    return Math.min(this.#pauseMs, Math.max(SHORTEST_MS, this.#listener.wantedIntervalMs() ?? Infinity));
  }

  /**
   * Looks, and does what is to be done.
   * @param freeBytes of the workspace's disk
   * @returns whether anything runs that will have to be looked at again
   */
  check(snapshot: ProcessSnapshot, freeBytes: number | undefined): boolean {
    const { watched } = this;
    if (this.#group !== watched.group) this.#beginAnew();
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
    this.#tell(sample, running);
    const begin = performance.now();
    this.#act(sample, running, kernel, snapshot);
    this.actedMs = performance.now() - begin;
    const goesOn = running !== undefined || this.#hasRest(sample) || this.#mustGoOn;
    // Counts begin anew with what begins next, though nobody looks at it before it has ended.
    if (!goesOn) this.#since = this.#last = undefined;
    return goesOn;
  }

  /** The shell was replaced, and its processes are others. */
  #beginAnew(): void {
    this.#group = this.watched.group;
    this.#since = undefined;
    this.#commandSince = undefined;
    this.#last = undefined;
    this.#hasEndedForLimit = false;
    this.#window.clear();
    this.#offenders.forget();
  }

  #setBaselines(sample: GroupSample, running: Command | undefined): void {
    // What a command uses until it has ended for its limit is no fault of what earlier ones have left.
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
   * Bytes written before the command began, when nothing ran: what others than the shell have written, and the shell since, they
   * have written for it. All figures are of one look: a moment later the shell may have taken over what another has written.
   */
  #writtenBefore({ writtenBytes }: GroupSample, running: Command | undefined): number {
    const theirs = this.#group.seenWrittenBeyond(this.watched.own);
    return Math.max(0, writtenBytes - theirs - this.#bytesOfShell(running));
  }

  /** What the shell has written for the command, as far as it is known when that began. */
  #bytesOfShell(running: Command | undefined): number {
    const { pid, atStart = 0 } = running?.meter.writer ?? {};
    return pid === undefined ? 0 : Math.max(0, this.#group.seenWrittenBy(pid) - atStart);
  }

  /** What of the session's limits, and the command's own, is near. */
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

  /** What the kernel has killed while only background processes ran is not for the command that has begun since. */
  #noteEarlierKills(): void {
    const { memory_mb: limit } = this.watched.limits;
    if (limit === undefined || this.#group.takeKernelActions().kills === 0) return;
    this.watched.noteBreach({ resource: 'memory_mb', limit, observed: limit });
  }

  #followToEnd(command: Command): void {
    void command.finished.then(({ breach }) => {
      // The kernel may be quicker than the next look.
      if (breach && this.#exceededBy !== command) this.#listener.onNear(breach, 'exceeded', command.id);
      const isAlone = this.#group.members().every((pid) => this.watched.own.includes(pid));
      // With the next command counts begin anew, even if it begins before the next look.
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

  #tell(sample: GroupSample, running: Command | undefined): void {
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
    this.#mustGoOn = worst !== undefined && canHelp(worst) && kernel.kills === 0;
    if (!worst) {
      // While a command is being ended, what it has started comes and goes.
      if (running?.endReason === undefined) this.#escalation.reset();
      return;
    }
    const { resource, limit, observed } = worst;
    const breach: Breach = { resource, limit, observed };
    const mayCancel = running !== undefined && running.endReason === undefined;
    const step = this.#escalation.next(performance.now(), {
      command: running ? (mayCancel ? 'runs' : 'is_ending') : 'none',
      // The kernel has ended what was too much already.
      hasRest: this.#hasRest(sample) && kernel.kills === 0,
      isRestToBlame: mayCancel && kernel.kills === 0 && this.#isRestToBlame(worst, sample, snapshot),
      canEndShell: canHelp(worst) && kernel.kills === 0,
    });
    if (step === undefined && kernel.kills > 0 && !running) this.watched.noteBreach(breach);
    if (step === undefined && kernel.kills === 0) return;
    // A command that has begun in the meantime ends with its shell, though that is not its fault.
    const mustCancel = step !== undefined && step !== 'rest' && mayCancel;
    if (mustCancel && !this.#cancel(running, breach, kernel)) return;
    if (step === 'command') this.#offenders.note(snapshot, sample.pids);
    const exceeding = step === 'rest' ? undefined : running;
    this.#listener.onNear(breach, 'exceeded', exceeding?.id ?? null);
    this.#exceededBy = exceeding;
    // It was held, however much of it is still there now.
    if (kernel.kills > 0 && resource === 'memory_mb') running?.meter.notePeakMemory(limit * MB);
    if (step === 'rest') this.#endRest(breach);
    else if (step === 'shell') this.watched.endShell(breach);
    else if (step === 'session') this.watched.endSession(breach);
    // Counts begin anew, so that what was ended for them does not count against what goes on.
    this.#since = { cpuMs: sample.cpuMs, writtenBytes: sample.writtenBytes };
    this.#window.clear();
  }

  /** What outlives this has begun since. */
  #endRest(breach: Breach): void {
    this.#offenders.forget();
    void this.watched.endRest(breach);
  }

  /** Whether what the last command that was ended has left alone is why the session's own limit is exceeded again. */
  #isRestToBlame({ resource, limit }: Finding, { pids }: GroupSample, snapshot: ProcessSnapshot): boolean {
    const { limits, own } = this.watched;
    const isSessions = resource === 'disk_free_mb' || limits[resource] === limit;
    return isSessions && this.#offenders.areToBlame({ snapshot, pids, own, resource });
  }

  /** Ends a command; gives false when it has just ended by itself. */
  #cancel(command: Command, breach: Breach, kernel: KernelActions): boolean {
    const victims = kernel.kills > 0 ? ended(command) : [];
    this.watched.cancel(command, { status: 'killed', killedBy: KILLED_BY[breach.resource], breach });
    if (command.endReason?.breach !== breach) return false;
    command.noteKilled(victims.map((pid) => this.watched.numbers.of(pid)));
    return true;
  }

  /** Whether other processes than the shell run. */
  #hasRest({ pids }: GroupSample): boolean {
    return pids.some((pid) => !this.watched.own.includes(pid));
  }
}

/** Whether ending a shell could help: not where a count of the past is exceeded. */
const canHelp = ({ resource }: Finding): boolean => resource !== 'cpu_seconds' && KILLED_BY[resource] !== 'disk';

/** Limits that the kernel has kept by itself since the last look: by killing, or by letting nothing more be started. */
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

/** Processes that were there at the last two looks, and end or have ended: the kernel does not tell whom it has killed. */
function ended({ meter }: Command): number[] {
  const pids = new Set([...meter.earlierPids, ...meter.lastPids]);
  return [...pids].filter((pid) => isEnding({ pid }));
}

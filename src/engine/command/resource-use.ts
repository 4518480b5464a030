import { judgeUsage, type KernelActions, type Usage } from '../../core/limit-judge.js';
import { type Limits, MB, type Resource, stricterLimits, type WarnedResource } from '../../core/limits.js';
import type { GroupSample, ProcessGroup } from '../limits/mechanism.js';
import type { Processes } from '../platform/platform.js';
import type { NamespacePids } from '../process/find-processes.js';
import type { Command } from './command.js';
import type { EndReason, Warning } from './outcome.js';

/** Resource use of a command, including everything else that ran in its session meanwhile. Null: not measured. */
export interface ResourceUse {
  readonly cpuMs: number | null;
  /** Highest sampled value, in bytes. Null for a command that had ended before the first sample. */
  readonly peakMemoryBytes: number | null;
  /** Highest sampled number of processes and threads, including the shell. Null as above. */
  readonly peakTasks: number | null;
  /** Bytes written, approximately: as of the samples, which a short command may lack. Null: not known. */
  readonly writtenBytes: number | null;
}

/** Use of a command that has not started. */
export const NOTHING_USED: ResourceUse = { cpuMs: 0, peakMemoryBytes: null, peakTasks: null, writtenBytes: null };

/** A limit that was exceeded, in the unit of its name. */
export interface Breach<R extends WarnedResource = Resource> {
  readonly resource: R;
  readonly limit: number;
  /** The value on which the decision was based. */
  readonly observed: number;
}

/** The processes ended for a limit. */
export interface Kill {
  readonly breach: Breach;
  /** Highest use, in the unit of the limit's name. */
  readonly peak: number;
  /** Processes that were killed for the limit; processes killed by the kernel are included as far as they are known. */
  readonly killedPids: readonly number[];
}

/** Returns a command's highest use of the resource whose limit was exceeded; never less than the observed value. */
export function peakOf({ resource, observed }: Breach, use: ResourceUse): number {
  const used: Partial<Record<Resource, number>> = {
    cpu_seconds: (use.cpuMs ?? 0) / 1000,
    memory_mb: (use.peakMemoryBytes ?? 0) / MB,
    processes: use.peakTasks ?? 0,
    disk_mb: (use.writtenBytes ?? 0) / MB,
  };
  return Math.max(observed, used[resource] ?? 0);
}

/** Counters of a process group that only grow. */
export interface Counts {
  /** CPU time, in milliseconds. */
  readonly cpuMs: number;
  readonly writtenBytes: number;
}

/** Counts at the start of a command, as far as they are known. */
interface StartCounts {
  readonly cpuMs: number | undefined;
  readonly writtenBytes: number | undefined;
}

/** Group and limits of a command to measure. */
interface Measured {
  readonly group: ProcessGroup;
  /** Limits of the command. */
  readonly limits: Limits;
  /** Counts of the group before the command; those that are not known are taken from the first sample. */
  readonly atStart: StartCounts;
  /** The shell, which waits for the command's children: tells the bytes written by a command without any sample. */
  readonly waiter?: number | undefined;
}

/** Measures the resource use of a command: CPU time from the start, everything else by samples. */
export class UseMeter {
  #measured: Measured | undefined;
  #start: StartCounts = { cpuMs: undefined, writtenBytes: undefined };
  #use: ResourceUse = { ...NOTHING_USED, cpuMs: null };
  #lastPids: readonly number[] = [];
  #earlierPids: readonly number[] = [];
  #kernel: KernelActions = { kills: 0, refusedForks: 0 };

  /** Use so far. */
  get use(): ResourceUse {
    return this.#use;
  }

  /** Processes in the last sample. */
  get lastPids(): readonly number[] {
    return this.#lastPids;
  }

  /** Processes in the sample before the last. */
  get earlierPids(): readonly number[] {
    return this.#earlierPids;
  }

  /** What the kernel has done for limits, as far as samples have shown it: not all of it makes a command end. */
  get kernel(): KernelActions {
    return this.#kernel;
  }

  /** Starts measuring. */
  begin(measured: Measured): void {
    this.#measured = measured;
    this.#start = measured.atStart;
  }

  /** Takes a sample of the group; returns the group's counts at the start of the command. */
  note({ cpuMs, memoryBytes, tasks, writtenBytes, pids }: GroupSample): Counts {
    const start = { cpuMs: this.#start.cpuMs ?? cpuMs, writtenBytes: this.#start.writtenBytes ?? writtenBytes };
    this.#start = start;
    // A shared sample may have been started before the command.
    this.#use = {
      cpuMs: Math.max(0, cpuMs - start.cpuMs),
      peakMemoryBytes: Math.max(this.#use.peakMemoryBytes ?? 0, memoryBytes),
      peakTasks: Math.max(this.#use.peakTasks ?? 0, tasks),
      writtenBytes: Math.max(this.#use.writtenBytes ?? 0, writtenBytes - start.writtenBytes),
    };
    this.#earlierPids = this.#lastPids;
    this.#lastPids = pids;
    return start;
  }

  /** Records what the kernel has done since the last sample. */
  noteKernel({ kills, refusedForks }: KernelActions): void {
    const { kernel } = this;
    this.#kernel = { kills: kernel.kills + kills, refusedForks: kernel.refusedForks + refusedForks };
  }

  /** Records that the kernel has enforced a memory limit at this use. */
  notePeakMemory(bytes: number): void {
    this.#use = { ...this.#use, peakMemoryBytes: Math.max(this.#use.peakMemoryBytes ?? 0, bytes) };
  }

  /** Stops measuring; returns the limits that the command has exceeded, as far as known. */
  end(): readonly Breach[] {
    const measured = this.#measured;
    if (!measured) return [];
    this.#measured = undefined;
    try {
      this.#measureEnd(measured);
    } catch {
      // Expected without a free file descriptor: no process can be read, and the last sample stands.
    }
    return judgeUsage(measured.limits, asUsage(this.#use)).filter(({ share }) => share > 1);
  }

  #measureEnd(measured: Measured): void {
    const { group } = measured;
    // A command that was sampled before is sampled once more: the last sample may be old.
    if (this.#use.peakTasks !== null || hasWrittenTooMuch(measured)) this.note(group.sample());
    const [cpuMs, cpuAtStart] = [group.cpuMs(), this.#start.cpuMs];
    if (cpuMs !== undefined && cpuAtStart !== undefined) {
      this.#use = { ...this.#use, cpuMs: Math.max(0, cpuMs - cpuAtStart) };
    }
  }
}

/** Whether a command without any sample seems to have exceeded its limit on bytes written. */
function hasWrittenTooMuch({ group, limits, atStart, waiter }: Measured): boolean {
  if (waiter === undefined || limits.disk_mb === undefined || atStart.writtenBytes === undefined) return false;
  return group.writtenBytes(waiter) - atStart.writtenBytes > limits.disk_mb * MB;
}

const asUsage = ({ cpuMs, peakMemoryBytes, peakTasks, writtenBytes }: ResourceUse): Usage => ({
  cpuMs: cpuMs ?? undefined,
  cpuPercent: undefined,
  memoryBytes: peakMemoryBytes ?? undefined,
  processes: peakTasks ?? undefined,
  writtenBytes: writtenBytes ?? undefined,
});

/** What limits apply to: a session, or a one-shot. */
export interface LimitTarget {
  /** The current process group; replaced when the shell is replaced. */
  readonly group: ProcessGroup;
  /** Limits of the whole target. */
  readonly limits: Limits;
  /** Process ids of the shell or program, including its sandbox; empty before the start and after the end. */
  readonly own: readonly number[];
  /** The running command. */
  readonly running: Command | undefined;
  /** Since when no command runs, on the monotonic clock, in milliseconds; Infinity or undefined where that is not known. */
  readonly idleSince?: number;
  /** Namespace pids, as reported to clients. */
  readonly numbers: NamespacePids;
  readonly isEnding: Processes['isEnding'];
  /** Whether its processes are sampled: set by its monitor. */
  isMonitored?: boolean;
  /** Ends a command with all processes that it has started. */
  cancel(command: Command, reason: EndReason): void;
  /** Whether processes other than those of the shell and of the running command run. */
  hasRest(): boolean;
  /** Ends these processes; resolves when they have ended. */
  endRest(breach: Breach): Promise<void>;
  /** Ends the shell; a session starts another one. */
  endShell(breach: Breach): void;
  /** Ends the whole target. */
  endSession(breach: Breach): void;
  /** Records a breach that was enforced while no command ran whose result could report it. */
  noteBreach(breach: Breach): void;
}

/**
 * Returns the pids, as reported to clients, of the processes of a command's last two samples that are ending or have ended:
 * the kernel does not report which ones it has killed.
 * @param unharmed processes that were not killed; by default the processes around the shell
 */
export function findEnded(
  { meter }: Command,
  { own, numbers, isEnding }: Pick<LimitTarget, 'own' | 'numbers' | 'isEnding'>,
  unharmed: readonly number[] = own.slice(0, -1),
): number[] {
  const pids = new Set([...meter.earlierPids, ...meter.lastPids]);
  return [...pids].filter((pid) => !unharmed.includes(pid) && isEnding({ pid })).map((pid) => numbers.of(pid));
}

const warning = (message: string): Warning => ({ code: 'LIMIT_EXCEEDED', message });

/** Rounds a measured value to one decimal place. */
const round = (value: number): number => Math.round(value * 10) / 10;

const seen = ({ resource, observed, limit }: Breach): string =>
  `${resource} was ${round(observed)}, and the limit is ${limit}`;

/** Returns the warning that processes were ended for a limit, in the result of a command that did not cause it. */
export const breachWarning = (breach: Breach): Warning =>
  warning(`Processes that earlier commands have left in this session were ended: ${seen(breach)}.`);

/** Returns the warning that the kernel has enforced a limit of a command that has completed anyway. */
const keptWarning = (what: 'ended' | 'not started', resource: Resource, limit: number): Warning =>
  warning(`Processes of this command were ${what}: ${resource} is limited to ${limit}.`);

/**
 * Returns the warning that a command has completed before it was ended for a limit, or was spared because it did not
 * cause the breach.
 */
export const exceededWarning = (breach: Breach): Warning =>
  warning(`A limit was exceeded while this command ran, and it came to its end all the same: ${seen(breach)}.`);

/** Limits that apply while a command runs: its own, and those of its session. */
export const limitsOf = ({ spec: { resourceLimits } }: Command, sessionLimits: Limits): Limits =>
  resourceLimits ? stricterLimits(sessionLimits, resourceLimits) : sessionLimits;

/** A shorter command, in milliseconds, starts no processes: the kernel cannot have enforced anything. */
const TOO_SHORT_MS = 1;

/**
 * Finds out what the kernel has done to enforce a command's limits since its start, so that it does not count for
 * the next command. When a process was killed and the command has failed, the command counts as ended for that limit:
 * otherwise its result would show a signal or an exit code without the reason. Must be called before the command is
 * finished.
 * @param unharmed processes that have ended, but were not killed; by default the processes around the shell
 * @returns warnings for the result in all other cases
 */
export function noteKernelActions(
  command: Command,
  watched: Pick<LimitTarget, 'group' | 'limits' | 'numbers' | 'own' | 'isEnding'>,
  exitCode: number,
  unharmed?: readonly number[],
): readonly Warning[] {
  const limits = limitsOf(command, watched.limits);
  if (!mayHaveActed(limits, command, exitCode)) return [];
  command.meter.noteKernel(watched.group.takeKernelActions());
  const { kills, refusedForks } = command.meter.kernel;
  // The command is already being ended for a limit, and its result reports that.
  if (command.endReason?.breach) return [];
  const { memory_mb: limitMb, processes } = limits;
  if (kills > 0 && limitMb !== undefined) {
    notePeakMemory(command, watched.group, limitMb);
    // A command that was not affected has completed normally.
    if (exitCode === 0) return [keptWarning('ended', 'memory_mb', limitMb)];
    command.noteKilled(findEnded(command, watched, unharmed));
    const breach = { resource: 'memory_mb', limit: limitMb, observed: limitMb } as const;
    command.requestEnd({ status: 'killed', killedBy: 'memory', breach });
    return [];
  }
  return refusedForks > 0 && processes !== undefined ? [keptWarning('not started', 'processes', processes)] : [];
}

/** Whether the kernel enforces one of the limits, and the command could be affected. */
function mayHaveActed({ memory_mb, processes }: Limits, command: Command, exitCode: number): boolean {
  if (memory_mb === undefined && processes === undefined) return false;
  return exitCode !== 0 || command.ageMs >= TOO_SHORT_MS;
}

function notePeakMemory({ meter }: Command, group: ProcessGroup, limitMb: number): void {
  meter.notePeakMemory(Math.min(group.peakMemoryBytes() ?? Infinity, limitMb * MB));
}

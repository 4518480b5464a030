import type { LimitMechanismName, Limits } from '../../core/limits/limits.js';
import type { PidNamespace } from '../sandbox/pid-namespace.js';
import type { ProcessSnapshot } from './process-snapshot.js';

/** What the processes of a group use. */
export interface GroupSample {
  /** CPU time since the group began, in milliseconds; never falls. */
  readonly cpuMs: number;
  /** Without what the kernel could take back, such as cached files. */
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
  /** Bytes written to disks since the group began; never falls. Files in memory (tmpfs) are memory. 0 where nobody counts. */
  readonly writtenBytes: number;
  readonly pids: readonly number[];
}

/** What the kernel has done by itself to keep a limit. */
export interface KernelActions {
  /** Processes that were killed for want of memory. */
  readonly kills: number;
  /** Processes that could not be started, for there were too many. */
  readonly refusedForks: number;
}

/** The processes of one shell or one-shot command: their shell and everything that comes of it. */
export interface ProcessGroup extends Disposable {
  /** Whether `members` is complete and cheap, because the kernel keeps the list. */
  readonly isKeptByKernel: boolean;
  /**
   * Files that a thread writes "0" to in order to enter the group, so that what it forks is born there; none where
   * belonging to the group is only observed.
   */
  readonly joinFiles: readonly string[];
  /** Files through which one that has entered leaves again, to where the daemon is. */
  readonly leaveFiles: readonly string[];
  /**
   * The group's first process has begun.
   * @param hasEntered whether it has entered by itself; else it and all its descendants are moved, and must be at rest
   */
  begin(pid: number, hasEntered: boolean): Promise<void>;
  /** Has the kernel keep those of the limits that it can. */
  setLimits(limits: Limits): void;
  /** CPU time so far, in milliseconds: a cheap look. Undefined when it is not known. */
  cpuMs(): number | undefined;
  /** Bytes written that were seen so far, without another look. */
  readonly seenWrittenBytes: number;
  /** How much of that was a process's, with the children that it had waited for. */
  seenWrittenBy(pid: number): number;
  /** How much of that was that of others than these, and than what is there for the sake of the group. */
  seenWrittenBeyond(pids: readonly number[]): number;
  /** Processes that belong to the group, as far as the mechanism knows by itself. */
  members(): readonly number[];
  /** @param snapshot of its mechanism */
  sample(snapshot: ProcessSnapshot): GroupSample;
  /** The same without waiting for a look, and exactly; undefined where that is not to be had. */
  sampleNow(): GroupSample | undefined;
  /** What the kernel has done since the last call. */
  takeKernelActions(): KernelActions;
  /** Most memory that it ever held, in bytes, where the kernel tells. */
  peakMemoryBytes(): number | undefined;
  /** Lets no member start another process, or lets them again. */
  holdForks(isHeld: boolean): void;
}

/** Figures of everything that the daemon runs. */
export interface TotalUsage {
  readonly memoryBytes: number;
  readonly tasks: number;
}

/** One way to keep limits. */
export interface LimitMechanism extends Disposable {
  readonly name: LimitMechanismName;
  /** By what processes without any limit are kept together: `name`, but for namespaces that only limits ask for. */
  readonly nameWithoutLimits: LimitMechanismName;
  /** Whether the kernel itself keeps the limits on memory and processes: they are then never exceeded. */
  readonly isEnforced: boolean;
  /** Directories that are to be removed when the daemon could not do so itself. */
  readonly directories: readonly string[];
  /** What processes have to be started in, unless they have no limit and it is for limits only; without, in nothing. */
  readonly namespace?: PidNamespace;
  /**
   * @param tag of the group's processes, `instance.session`
   * @param isInNamespace whether they are in a namespace of process ids, a sandbox's included. Default: no
   */
  createGroup(tag: string, isInNamespace?: boolean): ProcessGroup;
  /** Looks at what all its groups need; others get the event loop in between. */
  sample(): Promise<ProcessSnapshot>;
  totals(): Promise<TotalUsage>;
}

import type { KernelActions } from '../../core/limit-judge.js';
import {
  type LimitMechanismName,
  type LimitName,
  type Limits,
  LimitsInForce,
  NO_LIMITS,
  safetyNetFor,
} from '../../core/limits.js';
import type { ListAge, Platform } from '../platform/platform.js';
import type { PidNamespace } from '../sandbox/launcher.js';
import { machineSize } from '../platform/machine.js';
import type { ProcessSnapshot } from '../process/process-snapshot.js';

/** Resource use of the processes of a group. */
export interface GroupSample {
  /** CPU time since the group began, in milliseconds; monotonic. */
  readonly cpuMs: number;
  /** Without reclaimable memory, such as cached files. */
  readonly memoryBytes: number;
  /** Part of it that is in files, which stay when the processes end. Undefined where the kernel counts the memory. */
  readonly fileBytes?: number;
  /** Processes and threads. */
  readonly tasks: number;
  /**
   * Bytes written to disks since the group began; monotonic. Files in memory (tmpfs) count as memory. 0 where the
   * kernel does not count.
   */
  readonly writtenBytes: number;
  readonly pids: readonly number[];
}

/** The processes of one shell or one-shot: the first process and its descendants. */
export interface ProcessGroup extends Disposable {
  /** Whether `members` is complete and cheap, because the kernel keeps the list. */
  readonly isKeptByKernel: boolean;
  /**
   * Files to which a thread writes "0" to enter the group, so that its children start in it; empty where membership is
   * only observed.
   */
  readonly joinFiles: readonly string[];
  /** Files through which a thread leaves the group again, to the daemon's group. */
  readonly leaveFiles: readonly string[];
  /**
   * Notes that the group's first process has started.
   * @param hasEntered whether the process has entered the group already; otherwise it and all its descendants are
   * moved, and must be idle
   */
  begin(pid: number, hasEntered: boolean): Promise<void>;
  /** Applies those limits that the kernel can enforce. */
  setLimits(limits: Limits): void;
  /** CPU time so far, in milliseconds; cheap. Undefined when it is not known. */
  cpuMs(): number | undefined;
  /**
   * Bytes written so far, approximately and without a sample: those of the last sample, and what a process and the
   * children it has waited for have written since.
   * @param waiter the process that waits for the others: the shell
   */
  writtenBytes(waiter: number): number;
  /** Returns the processes of the group, as far as the mechanism knows them without a sample. */
  members(): readonly number[];
  /** @param snapshot of its mechanism; by default processes are read as they are now */
  sample(snapshot?: ProcessSnapshot): GroupSample;
  /** Returns the actions of the kernel since the last call. */
  takeKernelActions(): KernelActions;
  /** Highest memory use of the group, in bytes, where the kernel reports it. */
  peakMemoryBytes(): number | undefined;
  /** Blocks or unblocks fork(2) for all members. */
  holdForks(isHeld: boolean): void;
}

/** Resource use of everything that the daemon runs. */
export interface TotalUsage {
  readonly memoryBytes: number;
  readonly tasks: number;
}

/** A mechanism to enforce limits. */
export interface LimitMechanism extends Disposable {
  readonly name: LimitMechanismName;
  /** Whether the kernel itself enforces the limits on memory and processes: they are then never exceeded. */
  readonly isEnforced: boolean;
  /** Directories to remove when the daemon could not remove them itself. */
  readonly directories: readonly string[];
  /**
   * PID namespace in which processes have to be started; processes without limits are exempt if it is for limits only.
   * Undefined: no namespace.
   */
  readonly namespace?: PidNamespace;
  /**
   * Creates a process group.
   * @param tag of the group's processes, `instance.session`
   * @param isInNamespace whether they are in a PID namespace, including that of a sandbox; by default they are not
   * @param isHeld whether they may not be able to raise their own limits though they are root; by default they are not
   */
  createGroup(tag: string, isInNamespace?: boolean, isHeld?: boolean): ProcessGroup;
  /**
   * Samples all processes that its groups need; yields to the event loop in between.
   * @param age which list of processes serves, where they are listed aside; by default 'new'
   */
  sample(age?: ListAge): Promise<ProcessSnapshot>;
  /** CPU time of the programs that are run for a sample, in milliseconds; by default there are none. */
  programMs?(): number;
  totals(): Promise<TotalUsage>;
}

/** Returns the mechanism for processes without any limit: the same, except for namespaces that are used for limits only. */
export const nameWithoutLimits = ({ name, namespace }: LimitMechanism): LimitMechanismName =>
  namespace?.isForLimitsOnly ? 'polling' : name;

/** Settings from which the limits in force follow. */
export interface LimitSettings {
  readonly resourceLimits: Limits;
  readonly diskFreeMbFloor: number | undefined;
  /** Whether limits that are not set are those of the safety net. */
  readonly safetyNet: boolean;
  /** Directory on the disk that is kept from filling up; absolute. */
  readonly workspaceDirectory: string;
}

/** Returns the limits in force. Those of the safety net depend on the size of the machine, which is measured here. */
export const measureLimits = ({
  resourceLimits: resources,
  diskFreeMbFloor,
  safetyNet,
  workspaceDirectory,
}: LimitSettings): LimitsInForce =>
  new LimitsInForce(
    { resources, diskFreeMbFloor },
    safetyNet ? safetyNetFor(machineSize(workspaceDirectory)) : NO_LIMITS,
  );

/** Returns the limits that a platform cannot enforce. */
export const unenforceableOn = ({ can }: Platform): readonly LimitName[] => (can.countWrites ? [] : ['disk_mb']);

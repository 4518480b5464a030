import type { KernelActions } from '../../core/limit-judge.js';
import { type LimitMechanismName, type Limits, MB } from '../../core/limits.js';
import { InheritedCounter } from '../../core/usage-counters.js';
import {
  isListedByProgram,
  type ListAge,
  type Platform,
  type ProcessEntry,
  type Processes,
  MS_PER_TICK,
} from '../platform/platform.js';
import type { PidNamespace } from '../sandbox/launcher.js';
import { MemoryFiles, privateBytesOf, type Writers } from '../system/memory-files.js';
import {
  heldBytesOf,
  ProcessSnapshot,
  residentBytes,
  takeSnapshot,
  unmappedBytes,
  withFirstOrigins,
} from '../process/process-snapshot.js';
import { type Membership, namespaceMembers, observedMembers, type Root } from './control-group.js';
import type { GroupSample, LimitMechanism, ProcessGroup, TotalUsage } from './mechanism.js';

const NOTHING_DONE: KernelActions = { kills: 0, refusedForks: 0 };
/** From this share of its limit on, memory is measured more exactly, and at twice the cost. */
const EXACT_SHARE = 0.5;

/** A process group determined by sampling: the kernel bounds nothing. */
class ObservedGroup implements ProcessGroup {
  readonly isKeptByKernel = false;
  readonly joinFiles = [];
  readonly leaveFiles = [];
  readonly #processes: Processes;
  readonly #membership: Membership;
  readonly #fileBytes: (group: ProcessGroup, writers: Writers) => number;
  readonly #onDispose: (group: ObservedGroup) => void;
  readonly #cpu = new InheritedCounter();
  readonly #written = new InheritedCounter();
  /** Members of the last sample: they stay members wherever they move. */
  #known = new Map<number, ProcessEntry>();
  #root: Root | undefined;
  /** Before any of its processes was started: on the monotonic clock, in milliseconds. */
  readonly #madeAt = performance.now();
  /** Bytes that the processes of the last sample have written to anything. */
  #allBytes = 0;
  #memoryMb = Infinity;

  /** @param fileBytes returns the bytes in files in memory that belong to the processes of the group */
  constructor(
    processes: Processes,
    membership: Membership,
    fileBytes: (group: ProcessGroup, writers: Writers) => number,
    onDispose: (group: ObservedGroup) => void,
  ) {
    this.#processes = processes;
    this.#membership = membership;
    this.#fileBytes = fileBytes;
    this.#onDispose = onDispose;
  }

  begin(pid: number): Promise<void> {
    const processes = this.#processes;
    // A list for this alone would cost more than it tells: the next sample tells it as well.
    const entry = isListedByProgram(processes) ? undefined : processes.read(pid);
    this.#root = { pid, startTicks: entry?.startTicks };
    for (const member of entry ? [entry, ...processes.childrenOf(pid)] : []) this.#known.set(member.pid, member);
    return Promise.resolve();
  }

  setLimits({ memory_mb: memoryMb = Infinity }: Limits): void {
    this.#memoryMb = memoryMb;
  }

  /** In steps of 10 ms: the last sample, plus the use of the shell and its ended children since. */
  cpuMs(): number | undefined {
    const waiter = this.#root && this.#membership.reaperOf(this.#root);
    const ticks = waiter === undefined ? undefined : this.#processes.readCheaply(waiter, this.#madeAt)?.cpuTicks;
    return waiter === undefined || ticks === undefined ? undefined : this.#cpu.totalWith(waiter, ticks) * MS_PER_TICK;
  }

  writtenBytes(waiter: number): number {
    return this.#written.totalWith(waiter, this.#processes.writesOf(waiter).diskBytes);
  }

  members(): readonly number[] {
    return this.#membership.now(this.#known, this.#root);
  }

  sample(snapshot = new ProcessSnapshot(this.#processes)): GroupSample {
    const [membership, processes] = [this.#membership, this.#processes];
    const found = membership.find(snapshot, this.#known, this.#root);
    this.#known = new Map(found.map((entry) => [entry.pid, entry]));
    this.#noteStart();
    const frame = membership.frameOf(this.#root);
    // The innermost frame process is the reaper of all orphans.
    const reaper = frame.at(-1);
    const members = found.filter((entry) => hasNotEnded(entry) && !frame.includes(entry.pid));
    const writes = found.map((entry) => ({ writes: processes.writesOf(entry.pid), ...entry }));
    const cpuTicks = this.#cpu.update(
      found.map((entry) => ({ value: entry.cpuTicks, ...entry })),
      reaper,
    );
    const allBytes = writes.reduce((sum, entry) => sum + entry.writes.allBytes, 0);
    const pids = members.map(({ pid }) => pid);
    const writers = { pids, writtenBytes: Math.max(0, allBytes - this.#allBytes) };
    this.#allBytes = allBytes;
    const fileBytes = unmappedBytes(this.#fileBytes(this, writers), members, processes);
    return {
      cpuMs: cpuTicks * MS_PER_TICK,
      memoryBytes: fileBytes + this.#processBytes(members, this.#memoryMb * MB - fileBytes),
      fileBytes,
      tasks: members.reduce((sum, entry) => sum + entry.threads, 0),
      writtenBytes: this.#written.update(
        writes.map((entry) => ({ value: entry.writes.diskBytes, ...entry })),
        reaper,
      ),
      pids,
    };
  }

  takeKernelActions(): KernelActions {
    return NOTHING_DONE;
  }

  peakMemoryBytes(): undefined {
    return undefined;
  }

  /** Not supported: a caller that kills the members has to repeat it until there are no new ones. */
  holdForks(): void {
    return undefined;
  }

  [Symbol.dispose](): void {
    this.#known.clear();
    this.#onDispose(this);
  }

  /** The start time is not available immediately on every system. */
  #noteStart(): void {
    const startTicks = this.#root && this.#known.get(this.#root.pid)?.startTicks;
    if (this.#root && startTicks !== undefined) this.#root = { ...this.#root, startTicks };
  }

  /** Memory of processes, in bytes; near its limit it is measured more exactly. */
  #processBytes(members: readonly ProcessEntry[], limitBytes: number): number {
    const upper = residentBytes(members);
    return upper > limitBytes * EXACT_SHARE ? heldBytesOf(members, this.#processes) : upper;
  }
}

/** Ended members without a wait(2) stay in the list: their parents do not have their counters yet. */
const hasNotEnded = ({ state }: ProcessEntry): boolean => state !== 'Z' && state !== 'X';

/**
 * Enforces limits by sampling, without help of the kernel. With a PID namespace, processes in it cannot escape, and end
 * with it.
 */
export class Polling implements LimitMechanism {
  readonly name: LimitMechanismName;
  readonly isEnforced = false;
  readonly directories = [];
  readonly namespace?: PidNamespace;
  readonly #processes: Processes;
  readonly #groups = new Set<ObservedGroup>();
  readonly #files: MemoryFiles | undefined;

  constructor(platform: Platform, namespace?: PidNamespace) {
    this.#processes = withFirstOrigins(platform.processes);
    if (platform.can.openFiles) this.#files = new MemoryFiles();
    this.name = namespace ? 'pid_namespace' : 'polling';
    if (namespace) this.namespace = namespace;
  }

  createGroup(tag: string, isInNamespace = false): ProcessGroup {
    const processes = this.#processes;
    const isOwn = isInNamespace && this.namespace !== undefined;
    const membership = isOwn ? namespaceMembers(processes) : observedMembers(processes, tag);
    const fileBytes = (owner: ProcessGroup, writers: Writers) => {
      const sharedBytes = this.#files?.bytesOf(owner, writers) ?? 0;
      return isInNamespace ? sharedBytes + privateBytesOf(writers.pids) : sharedBytes;
    };
    const group = new ObservedGroup(processes, membership, fileBytes, (disposed) => {
      this.#groups.delete(disposed);
      this.#files?.forget(disposed);
    });
    this.#groups.add(group);
    return group;
  }

  sample(age: ListAge = 'new'): Promise<ProcessSnapshot> {
    return takeSnapshot(this.#processes, age);
  }

  programMs(): number {
    return this.#processes.listMs();
  }

  async totals(): Promise<TotalUsage> {
    const snapshot = await this.sample();
    const samples = [...this.#groups].map((group) => group.sample(snapshot));
    return {
      memoryBytes: samples.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
      tasks: samples.reduce((sum, { tasks }) => sum + tasks, 0),
    };
  }

  [Symbol.dispose](): void {
    this.#groups.clear();
  }
}

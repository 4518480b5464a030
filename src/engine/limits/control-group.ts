import { closeSync, mkdirSync, openSync, readdirSync, rmdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { KernelActions } from '../../core/limit-judge.js';
import { type Limits, MB } from '../../core/limits.js';
import { InheritedCounter } from '../../core/usage-counters.js';
import type { ProcessEntry, Processes } from '../platform/platform.js';
import { linux } from '../platform/linux/linux.js';
import { listChildren, parseField } from '../platform/linux/process-table.js';
import { type ProcessRoot, sandboxRoot } from '../process/find-processes.js';
import { isOriginIn } from '../process/session-mark.js';
import { readSmallDescriptor, readSmallFile } from '../system/local-files.js';
import { ProcessSnapshot } from '../process/process-snapshot.js';
import type { GroupSample, ProcessGroup } from './mechanism.js';

/** File through which processes enter a group, and which lists them. */
export const PROCS = 'cgroup.procs';
/**
 * File of version 1 through which single threads enter. A thread that moves itself does not need the lock that delays a
 * move of a process by up to 14 ms, and every fork and exit on the machine with it. Its children start in the group of
 * the thread.
 */
export const TASKS = 'tasks';

/** Reads the number in a control file; undefined when the file is missing, or contains `max`. */
export function readControlNumber(directory: string, file: string): number | undefined {
  const text = readSmallFile(join(directory, file));
  const value = text === undefined ? NaN : Number(text);
  return Number.isNaN(value) ? undefined : value;
}

/** Returns the sum of values in a control file of `key value` lines; missing keys count as 0. */
export function readControlSum(directory: string, file: string, ...keys: readonly string[]): number {
  const text = readSmallFile(join(directory, file)) ?? '';
  return keys.reduce((sum, key) => sum + parseField(text, key), 0);
}

/** Returns the process ids in a group. */
function readMembers(directory: string): number[] {
  const text = readSmallFile(join(directory, PROCS)) ?? '';
  return text === '' ? [] : text.trimEnd().split('\n').map(Number);
}

/**
 * Returns the directory that the processes of a group enter: a subgroup, if they could write to the files of their group.
 * Root can: with a user namespace and a cgroup namespace, it may mount its group and what is below, but nothing above
 * (cgroup_namespaces(7)). The limits are above then.
 */
export const homeIn = (directory: string, isHeld: boolean): string => (isHeld ? join(directory, 'held') : directory);

/** Creates a group and those around it; idempotent. */
export const makeGroup = (directory: string): unknown => mkdirSync(directory, { recursive: true });

/** Removes a group and its subgroups. Returns false when they still contain processes. */
export function removeGroup(directory: string): boolean {
  // Subgroups are rare: searching for them first would take longer than the removal.
  if (tryRemove(directory)) return true;
  try {
    const groups = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return groups.length > 0 && groups.every(({ name }) => removeGroup(join(directory, name))) && tryRemove(directory);
  } catch (error) {
    return isGone(error);
  }
}

function tryRemove(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    return isGone(error);
  }
}

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Returns every process in a group and its subgroups. */
export function membersBelow(directory: string): number[] {
  try {
    const groups = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [...readMembers(directory), ...groups.flatMap(({ name }) => membersBelow(join(directory, name)))];
  } catch {
    // The group has been removed.
    return [];
  }
}

/**
 * Moves a process and its descendants into groups. A pool thread writes the files: the first move after a pause takes
 * the kernel up to 14 ms.
 */
async function moveTree(pid: number, joinFiles: readonly string[]): Promise<void> {
  await Promise.all(joinFiles.map((file) => writeFile(file, String(pid)).catch(ignoreGone)));
  await Promise.all(listChildren(pid).map((child) => moveTree(child.pid, joinFiles)));
}

function ignoreGone(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
}

const { writesOf } = linux.processes;

/** The control files of one group; their places and contents depend on the version of control groups. */
export interface Controls {
  /** Directories whose files have the limits and counters. */
  readonly directories: readonly string[];
  /** Those that the processes are in, the same or subgroups; one that bounds processes is the last. */
  readonly homes: readonly string[];
  /** File with the CPU time, and the conversion of its text to milliseconds. */
  readonly cpuFile: string;
  cpuMs(text: string): number;
  /** @param bytes undefined for no limit */
  limitMemory(bytes: number | undefined): void;
  /** @param max 0 blocks fork(2) in the group */
  limitTasks(max: number | 'max'): void;
  memoryBytes(pids: readonly number[]): number;
  /** Undefined when the kernel does not count them. */
  tasks(): number | undefined;
  peakMemoryBytes(): number | undefined;
  /** Counters since the creation of the group; undefined when the kernel does not count. */
  kills(): number | undefined;
  refusedForks(): number | undefined;
}

/** Processes in a control group of the kernel. */
export class ControlGroup implements ProcessGroup {
  readonly isKeptByKernel = true;
  readonly joinFiles: readonly string[];
  readonly leaveFiles: readonly string[];
  readonly #controls: Controls;
  /** Read with every command: an open descriptor saves two thirds of the time. */
  readonly #cpu: number;
  readonly #written = new InheritedCounter();
  /** CPU time when bytes written were read last. */
  #cpuMsAtRead: number | undefined;
  #maxTasks: number | 'max' = 'max';
  #memoryMb: number | undefined;
  /** What the kernel had done when it was asked last. */
  #actions: KernelActions = { kills: 0, refusedForks: 0 };
  #isRemoved = false;

  /** @param files `joinFiles` and `leaveFiles` of `ProcessGroup` */
  constructor(controls: Controls, files: Pick<ProcessGroup, 'joinFiles' | 'leaveFiles'>) {
    this.#controls = controls;
    this.joinFiles = files.joinFiles;
    this.leaveFiles = files.leaveFiles;
    for (const directory of controls.homes) makeGroup(directory);
    this.#cpu = openSync(controls.cpuFile, 'r');
  }

  async begin(pid: number, hasEntered: boolean): Promise<void> {
    if (hasEntered) return;
    const files = this.#controls.homes.map((directory) => join(directory, PROCS));
    await moveTree(pid, files);
  }

  setLimits({ memory_mb: memoryMb, processes }: Limits): void {
    const maxTasks = processes ?? 'max';
    if (maxTasks !== this.#maxTasks) this.#controls.limitTasks(maxTasks);
    this.#maxTasks = maxTasks;
    if (memoryMb === this.#memoryMb) return;
    this.#memoryMb = memoryMb;
    this.#controls.limitMemory(memoryMb === undefined ? undefined : Math.ceil(memoryMb * MB));
  }

  cpuMs(): number | undefined {
    return this.#isRemoved ? undefined : this.#controls.cpuMs(readSmallDescriptor(this.#cpu));
  }

  writtenBytes(waiter: number): number {
    return this.#written.totalWith(waiter, writesOf(waiter).diskBytes);
  }

  members(): readonly number[] {
    const { directories, homes } = this.#controls;
    const home = homes.at(-1) ?? '';
    // Only in a subgroup can commands make further ones.
    return home === directories.at(-1) ? readMembers(home) : membersBelow(home);
  }

  sample(snapshot = new ProcessSnapshot(linux.processes)): GroupSample {
    const pids = this.members();
    const cpuMs = this.cpuMs() ?? 0;
    const threads = () => snapshot.of(pids).reduce((sum, entry) => sum + entry.threads, 0);
    return {
      cpuMs,
      memoryBytes: this.#controls.memoryBytes(pids),
      tasks: this.#controls.tasks() ?? threads(),
      writtenBytes: this.#countWritten(snapshot, pids, cpuMs),
      pids,
    };
  }

  #countWritten(snapshot: ProcessSnapshot, pids: readonly number[], cpuMs: number): number {
    const { known, total } = this.#written;
    // What uses no CPU time does not write.
    if (cpuMs === this.#cpuMsAtRead) return total;
    this.#cpuMsAtRead = cpuMs;
    const members = new Set(pids);
    // Former members without a wait(2): their counters have not been added to their parents' yet.
    const ended = snapshot.of([...known.keys()].filter((pid) => !members.has(pid)));
    const unwaited = ended.filter(({ pid, startTicks }) => known.get(pid)?.startTicks === startTicks);
    const counted = [...snapshot.of(pids), ...unwaited];
    return this.#written.update(counted.map((entry) => ({ value: writesOf(entry.pid).diskBytes, ...entry })));
  }

  takeKernelActions(): KernelActions {
    const before = this.#actions;
    const kills = (this.#memoryMb !== undefined ? this.#controls.kills() : undefined) ?? before.kills;
    const refusedForks = (this.#maxTasks === 'max' ? undefined : this.#controls.refusedForks()) ?? before.refusedForks;
    this.#actions = { kills, refusedForks };
    return { kills: kills - before.kills, refusedForks: refusedForks - before.refusedForks };
  }

  peakMemoryBytes(): number | undefined {
    return this.#controls.peakMemoryBytes();
  }

  holdForks(isHeld: boolean): void {
    this.#controls.limitTasks(isHeld ? 0 : this.#maxTasks);
    // Forks refused meanwhile were not refused for the limit.
    if (!isHeld)
      this.#actions = { ...this.#actions, refusedForks: this.#controls.refusedForks() ?? this.#actions.refusedForks };
  }

  [Symbol.dispose](): void {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    closeSync(this.#cpu);
    // A group that still has a process is removed later, with the mechanism.
    for (const directory of this.#controls.directories) removeGroup(directory);
  }
}

/**
 * The first process of a group. Its start time, where known, distinguishes it from a later process with the same pid.
 */
export interface Root {
  readonly pid: number;
  readonly startTicks: number | undefined;
}

/** Determines which processes belong to a group. */
export interface Membership {
  /**
   * Returns all members.
   * @param known members in the last sample
   * @param root first process; undefined before it has started
   */
  find(snapshot: ProcessSnapshot, known: ReadonlyMap<number, ProcessEntry>, root: Root | undefined): ProcessEntry[];
  /** Returns those members that only frame the group, and are not counted. */
  frameOf(root: Root | undefined): readonly number[];
  /** Returns the process that waits for the children of commands. */
  reaperOf(root: Root): number | undefined;
  /** Returns the current members, as far as known without a full sample. */
  now(known: ReadonlyMap<number, ProcessEntry>, root: Root | undefined): readonly number[];
}

/**
 * The processes of a session, found by sampling: those with its tag or mark, on its terminal, or descended from a
 * member. Once found, a process stays a member wherever it moves.
 * @param tag `instance.session`
 */
export function observedMembers({ isAlive }: Processes, tag: string): Membership {
  const isWithin = isOriginIn(tag);
  return {
    find: (snapshot, known, root) => {
      // Called for each process of the machine and each group: the cheapest check comes first.
      const isMember = (entry: ProcessEntry) =>
        entry.session === root?.pid ||
        known.get(entry.pid)?.startTicks === entry.startTicks ||
        isWithin(snapshot.originOf(entry)) ||
        stillThere(root, entry) === entry.pid;
      const seeds: number[] = [];
      for (const entry of snapshot.all()) if (isMember(entry)) seeds.push(entry.pid);
      return snapshot.of(snapshot.descendantsOf(seeds));
    },
    frameOf: () => [],
    reaperOf: (root) => root.pid,
    now: (known) => [...known.values()].filter(isAlive).map(({ pid }) => pid),
  };
}

/** The processes of a PID namespace: all of them descend from its first process (pid_namespaces(7)). */
export function namespaceMembers(processes: Processes): Membership {
  // Searched for until it exists; then it stays the same as long as the namespace does.
  let own: ProcessRoot | undefined;
  const ownOf = ({ pid }: Root) => (own ??= sandboxRoot(pid, processes));
  return {
    find: (snapshot, _known, root) => {
      const leader = root && stillThere(root, snapshot.of([root.pid])[0]);
      return leader === undefined ? [] : snapshot.of(snapshot.descendantsOf([leader]));
    },
    frameOf: (root) => {
      const { sessionLeader, reaper } = (root && ownOf(root)) ?? {};
      return [sessionLeader, reaper].filter((pid) => pid !== undefined);
    },
    reaperOf: (root) => ownOf(root)?.main,
    now: (_known, root) => {
      const leader = root && stillThere(root, processes.read(root.pid));
      if (leader === undefined) return [];
      // The lists of children are not sufficient: they are kept per thread, and any thread may start a process.
      return [...new ProcessSnapshot(processes).descendantsOf([leader])];
    },
  };
}

/** Returns the pid of the first process if it still exists in a snapshot or now; undefined otherwise. */
const stillThere = (root: Root | undefined, entry: ProcessEntry | undefined): number | undefined =>
  root && entry && (root.startTicks ?? entry.startTicks) === entry.startTicks ? root.pid : undefined;

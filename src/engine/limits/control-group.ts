import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

import { InheritedCounter } from '../../core/usage/inherited-counter.js';
import type { KernelActions } from '../../core/limits/judge.js';
import { type Limits, MB } from '../../core/limits/limits.js';
import { readSmallDescriptor } from '../system/small-file.js';
import { makeGroup, membersBelow, moveTree, PROCS, readMembers, removeGroup } from './control-files.js';
import type { GroupSample, ProcessGroup } from './mechanism.js';
import { linux } from '../platform/linux/linux.js';
import { ProcessSnapshot } from '../usage/process-snapshot.js';

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

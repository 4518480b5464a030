import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

import { type Limits, MB } from '../../core/limits/limits.js';
import { readNumber, readSmallFile, tryWrite } from '../small-file.js';
import { ownGroupOf } from './cgroup-paths.js';
import {
  makeGroup,
  moveTree,
  PROCS,
  readControlKey,
  readControlNumber,
  readMembers,
  removeGroup,
} from './control-files.js';
import type { GroupSample, KernelActions, LimitMechanism, ProcessGroup, TotalUsage } from './mechanism.js';
import { WrittenBytes } from './written-bytes.js';

/** The controllers that are needed, each with a hierarchy of its own. */
const CONTROLLERS = ['cpuacct', 'memory', 'pids'] as const;
type Directories = Readonly<Record<(typeof CONTROLLERS)[number], string>>;

/** No limit, for the memory controller. */
const UNLIMITED = -1;
const NS_PER_MS = 1e6;

/**
 * Control groups of version 1 (cgroups(7), Documentation/admin-guide/cgroup-v1). The groups are made inside of the
 * daemon's own, so that limits on that hold for what it starts.
 */
export class ControlGroups1 implements LimitMechanism {
  readonly name = 'cgroup1';
  readonly isEnforced = true;
  readonly #roots: Directories;
  #made = 0;

  /**
   * @param instance names the daemon's own groups
   * @throws Error that says why they cannot be made
   */
  constructor(instance: string) {
    const mounts = readSmallFile('/proc/self/mountinfo') ?? '';
    const membership = readSmallFile('/proc/self/cgroup') ?? '';
    const roots = CONTROLLERS.map((controller) => {
      const own = ownGroupOf(controller, mounts, membership);
      if (own === undefined) throw new Error(`the controller ${controller} is not mounted`);
      return [controller, join(own, `shell-adapter-${instance}`)];
    });
    this.#roots = Object.fromEntries(roots) as Directories;
    try {
      for (const directory of this.directories) makeGroup(directory);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  get directories(): readonly string[] {
    return Object.values(this.#roots);
  }

  createGroup(): ProcessGroup {
    const name = `g${this.#made++}`;
    const { cpuacct, memory, pids } = this.#roots;
    const exits = this.directories.map((directory) => join(directory, '..', PROCS));
    return new Group1({ cpuacct: join(cpuacct, name), memory: join(memory, name), pids: join(pids, name) }, exits);
  }

  totals(): TotalUsage {
    return {
      memoryBytes: heldBytes(this.#roots.memory),
      tasks: readControlNumber(this.#roots.pids, 'pids.current') ?? 0,
    };
  }

  [Symbol.dispose](): void {
    for (const directory of this.directories) removeGroup(directory);
  }
}

/** What processes hold: file caches can be taken back and do not count, files in memory cannot. */
const heldBytes = (directory: string): number =>
  readControlKey(directory, 'memory.stat', 'total_rss') + readControlKey(directory, 'memory.stat', 'total_shmem');

class Group1 implements ProcessGroup {
  readonly exits: readonly string[];
  readonly #directories: Directories;
  readonly #cpu: number;
  readonly #written = new WrittenBytes();
  #maxTasks: number | 'max' = 'max';
  #hasMemoryLimit = false;
  #kills = 0;
  #refusedForks = 0;
  #isRemoved = false;

  constructor(directories: Directories, exits: readonly string[]) {
    this.#directories = directories;
    this.exits = exits;
    for (const directory of Object.values(directories)) makeGroup(directory);
    // Read with every command: an open descriptor saves two thirds of the time.
    this.#cpu = openSync(join(directories.cpuacct, 'cpuacct.usage'), 'r');
  }

  get entrances(): readonly string[] {
    return Object.values(this.#directories).map((directory) => join(directory, PROCS));
  }

  async begin(pid: number, hasEntered: boolean): Promise<void> {
    if (!hasEntered) await moveTree(pid, this.entrances);
  }

  setLimits({ memory_mb: memoryMb, processes }: Limits): void {
    const { memory, pids } = this.#directories;
    const maxTasks = processes ?? 'max';
    if (maxTasks !== this.#maxTasks) tryWrite(join(pids, 'pids.max'), maxTasks);
    this.#maxTasks = maxTasks;
    if (memoryMb === undefined && !this.#hasMemoryLimit) return;
    this.#hasMemoryLimit = memoryMb !== undefined;
    const bytes = memoryMb === undefined ? UNLIMITED : Math.ceil(memoryMb * MB);
    // With swap it may not be less than without: first it goes out of the way. Kernels without swap have no such file.
    tryWrite(join(memory, 'memory.memsw.limit_in_bytes'), UNLIMITED);
    tryWrite(join(memory, 'memory.limit_in_bytes'), bytes);
    tryWrite(join(memory, 'memory.memsw.limit_in_bytes'), bytes);
  }

  cpuMs(): number | undefined {
    return this.#isRemoved ? undefined : readNumber(this.#cpu) / NS_PER_MS;
  }

  members(): readonly number[] {
    return readMembers(this.#directories.pids);
  }

  sample(): GroupSample {
    const pids = this.members();
    return {
      cpuMs: this.cpuMs() ?? 0,
      memoryBytes: heldBytes(this.#directories.memory),
      tasks: readControlNumber(this.#directories.pids, 'pids.current') ?? 0,
      writtenBytes: this.#written.update(pids),
      pids,
    };
  }

  takeKernelActions(): KernelActions {
    const { memory, pids } = this.#directories;
    const kills = this.#hasMemoryLimit ? readControlKey(memory, 'memory.oom_control', 'oom_kill') : this.#kills;
    const refusedForks = this.#maxTasks === 'max' ? this.#refusedForks : readControlKey(pids, 'pids.events', 'max');
    const actions = { kills: kills - this.#kills, refusedForks: refusedForks - this.#refusedForks };
    this.#kills = kills;
    this.#refusedForks = refusedForks;
    return actions;
  }

  peakMemoryBytes(): number | undefined {
    return readControlNumber(this.#directories.memory, 'memory.max_usage_in_bytes');
  }

  holdForks(isHeld: boolean): void {
    tryWrite(join(this.#directories.pids, 'pids.max'), isHeld ? 0 : this.#maxTasks);
    // What was refused meanwhile was not refused for its limit.
    if (!isHeld) this.takeKernelActions();
  }

  [Symbol.dispose](): void {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    closeSync(this.#cpu);
    // What cannot be removed yet, because a process has still to go, goes with the mechanism.
    for (const directory of Object.values(this.#directories)) removeGroup(directory);
  }
}

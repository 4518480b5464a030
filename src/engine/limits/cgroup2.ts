import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';

import { type Limits, MB } from '../../core/limits/limits.js';
import { readSmallFile, tryWrite } from '../small-file.js';
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
import { residentBytesOf } from './memory-of.js';
import type { GroupSample, KernelActions, LimitMechanism, ProcessGroup, TotalUsage } from './mechanism.js';
import type { ProcessSnapshot } from './process-snapshot.js';
import { WrittenBytes } from './written-bytes.js';

/** The controllers that keep limits by themselves. CPU time is told without one. */
const CONTROLLERS = ['memory', 'pids'] as const;
type Controller = (typeof CONTROLLERS)[number];

/** Group of the daemon itself: a group with controllers for others may hold no processes (cgroups(7)). */
const OWN_LEAF = 'shell-adapter-daemon';
const CONTROL = 'cgroup.subtree_control';
const US_PER_MS = 1000;

/** What a mechanism of version 2 is made of. */
export interface ControlGroups2Options {
  /** Names the daemon's own groups. */
  readonly instance: string;
  /** The group that the daemon is in; by default it is found. */
  readonly own?: string;
  /** Whether to go on without controllers: then memory and processes are looked at, and not bounded. */
  readonly mayLackControllers: boolean;
}

/**
 * Control groups of version 2 (Documentation/admin-guide/cgroup-v2.rst), in a subtree that was delegated to the daemon
 * (`Delegate=yes` of systemd) or belongs to it.
 */
export class ControlGroups2 implements LimitMechanism {
  readonly name = 'cgroup2';
  readonly isEnforced: boolean;
  readonly #own: string;
  readonly #root: string;
  readonly #controllers: ReadonlySet<Controller>;
  #made = 0;
  #hasMoved = false;

  /** @throws Error that says why groups cannot be made */
  constructor({ instance, own, mayLackControllers }: ControlGroups2Options) {
    const found =
      own ??
      ownGroupOf(undefined, readSmallFile('/proc/self/mountinfo') ?? '', readSmallFile('/proc/self/cgroup') ?? '');
    if (found === undefined) throw new Error('cgroup v2 is not mounted');
    this.#own = found;
    this.#root = join(found, `shell-adapter-${instance}`);
    const available = (readSmallFile(join(found, 'cgroup.controllers')) ?? '').trim().split(' ');
    const missing = CONTROLLERS.filter((controller) => !available.includes(controller));
    if (missing.length > 0 && !mayLackControllers)
      throw new Error(`the controllers ${missing.join(', ')} are not there`);
    this.isEnforced = missing.length === 0;
    this.#controllers = new Set(CONTROLLERS.filter((controller) => !missing.includes(controller)));
    try {
      makeGroup(this.#root);
      this.#enableControllers();
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  get directories(): readonly string[] {
    return [this.#root];
  }

  createGroup(): ProcessGroup {
    const home = this.#hasMoved ? join(this.#own, OWN_LEAF) : this.#own;
    return new Group2(join(this.#root, `g${this.#made++}`), [join(home, PROCS)], this.#controllers);
  }

  totals(): TotalUsage {
    const pids = readMembersOfAll(this.#root, this.#made);
    return {
      memoryBytes: this.#controllers.has('memory') ? heldBytes(this.#root) : residentBytesOf(pids),
      tasks: readControlNumber(this.#root, 'pids.current') ?? pids.length,
    };
  }

  [Symbol.dispose](): void {
    removeGroup(this.#root);
    if (!this.#hasMoved) return;
    tryWrite(join(this.#own, CONTROL), [...this.#controllers].map((controller) => `-${controller}`).join(' '));
    if (tryWrite(join(this.#own, PROCS), process.pid)) removeGroup(join(this.#own, OWN_LEAF));
  }

  /** @throws Error when other processes than the daemon are in its group */
  #enableControllers(): void {
    if (this.#controllers.size === 0) return;
    const wanted = [...this.#controllers].map((controller) => `+${controller}`).join(' ');
    if (!tryWrite(join(this.#own, CONTROL), wanted)) {
      const leaf = join(this.#own, OWN_LEAF);
      makeGroup(leaf);
      this.#hasMoved = tryWrite(join(leaf, PROCS), process.pid);
      if (!tryWrite(join(this.#own, CONTROL), wanted)) {
        throw new Error(`${this.#own} cannot be divided: it is not delegated, or holds other processes`);
      }
    }
    if (!tryWrite(join(this.#root, CONTROL), wanted)) throw new Error(`${this.#root} cannot be divided`);
  }
}

const readMembersOfAll = (root: string, made: number): number[] =>
  Array.from({ length: made }, (_, number) => readMembers(join(root, `g${number}`))).flat();

const heldBytes = (directory: string): number =>
  readControlKey(directory, 'memory.stat', 'anon') + readControlKey(directory, 'memory.stat', 'shmem');

class Group2 implements ProcessGroup {
  readonly exits: readonly string[];
  readonly #directory: string;
  readonly #controllers: ReadonlySet<Controller>;
  readonly #cpu: number;
  readonly #buffer = Buffer.alloc(64);
  readonly #written = new WrittenBytes();
  #maxTasks: number | 'max' = 'max';
  #kills = 0;
  #refusedForks = 0;
  #isRemoved = false;

  constructor(directory: string, exits: readonly string[], controllers: ReadonlySet<Controller>) {
    this.#directory = directory;
    this.exits = exits;
    this.#controllers = controllers;
    makeGroup(directory);
    this.#cpu = openSync(join(directory, 'cpu.stat'), 'r');
  }

  get entrances(): readonly string[] {
    return [join(this.#directory, PROCS)];
  }

  async begin(pid: number, hasEntered: boolean): Promise<void> {
    if (!hasEntered) await moveTree(pid, this.entrances);
  }

  setLimits({ memory_mb: memoryMb, processes }: Limits): void {
    this.#maxTasks = processes ?? 'max';
    if (this.#controllers.has('pids')) tryWrite(join(this.#directory, 'pids.max'), this.#maxTasks);
    if (!this.#controllers.has('memory')) return;
    tryWrite(join(this.#directory, 'memory.max'), memoryMb === undefined ? 'max' : Math.ceil(memoryMb * MB));
    // Swapping would only put the end off.
    tryWrite(join(this.#directory, 'memory.swap.max'), memoryMb === undefined ? 'max' : 0);
  }

  cpuMs(): number | undefined {
    if (this.#isRemoved) return undefined;
    // The first line is `usage_usec N`.
    const length = readSync(this.#cpu, this.#buffer, 0, this.#buffer.length, 0);
    const [, microseconds] = this.#buffer.toString('latin1', 0, length).split(/[ \n]/, 2);
    return Number(microseconds) / US_PER_MS;
  }

  members(): readonly number[] {
    return readMembers(this.#directory);
  }

  sample(snapshot: ProcessSnapshot): GroupSample {
    const pids = this.members();
    const threads = () => snapshot.of(pids).reduce((sum, entry) => sum + entry.threads, 0);
    return {
      cpuMs: this.cpuMs() ?? 0,
      memoryBytes: this.#controllers.has('memory') ? heldBytes(this.#directory) : residentBytesOf(pids),
      tasks: readControlNumber(this.#directory, 'pids.current') ?? threads(),
      writtenBytes: this.#written.update(pids),
      pids,
    };
  }

  takeKernelActions(): KernelActions {
    const kills = this.#controllers.has('memory')
      ? readControlKey(this.#directory, 'memory.events', 'oom_kill')
      : this.#kills;
    const refusedForks =
      this.#maxTasks === 'max' ? this.#refusedForks : readControlKey(this.#directory, 'pids.events', 'max');
    const actions = { kills: kills - this.#kills, refusedForks: refusedForks - this.#refusedForks };
    this.#kills = kills;
    this.#refusedForks = refusedForks;
    return actions;
  }

  peakMemoryBytes(): number | undefined {
    return readControlNumber(this.#directory, 'memory.peak');
  }

  holdForks(isHeld: boolean): void {
    // Without the controller they are stopped altogether; SIGKILL ends them all the same.
    if (this.#controllers.has('pids')) tryWrite(join(this.#directory, 'pids.max'), isHeld ? 0 : this.#maxTasks);
    else tryWrite(join(this.#directory, 'cgroup.freeze'), isHeld ? 1 : 0);
    if (!isHeld) this.takeKernelActions();
  }

  [Symbol.dispose](): void {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    closeSync(this.#cpu);
    removeGroup(this.#directory);
  }
}

import { join } from 'node:path';

import { readSmallFile, tryWrite } from '../system/local-files.js';
import { ownGroupOf } from '../platform/linux/own-group.js';
import {
  ControlGroup,
  type Controls,
  homeIn,
  makeGroup,
  membersBelow,
  PROCS,
  readControlNumber,
  readControlSum,
  removeGroup,
} from './control-group.js';
import { ProcessSnapshot, residentBytesOf } from '../process/process-snapshot.js';
import type { LimitMechanism, ProcessGroup, TotalUsage } from './mechanism.js';
import { linux } from '../platform/linux/linux.js';

/** Controllers that enforce limits in the kernel. CPU time is reported without a controller. */
const CONTROLLERS = ['memory', 'pids'] as const;
type Controller = (typeof CONTROLLERS)[number];

/** Group of the daemon itself: a group that enables controllers for others may hold no processes (cgroups(7)). */
const OWN_LEAF = 'shell-adapter-daemon';
const CONTROL = 'cgroup.subtree_control';
const US_PER_MS = 1000;

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

  /**
   * @param instance part of the names of the daemon's groups
   * @param mayLackControllers whether to continue without controllers: memory and processes are then measured, but not bounded
   * @param own the daemon's own group
   * @throws Error with the reason why groups cannot be created
   */
  constructor(instance: string, mayLackControllers: boolean, own = ownGroupOf(undefined)) {
    if (own === undefined) throw new Error('cgroup v2 is not mounted');
    this.#own = own;
    this.#root = join(own, `shell-adapter-${instance}`);
    const available = (readSmallFile(join(own, 'cgroup.controllers')) ?? '').trim().split(' ');
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

  createGroup(_tag?: string, _isInNamespace?: boolean, isHeld = false): ProcessGroup {
    const home = this.#hasMoved ? join(this.#own, OWN_LEAF) : this.#own;
    const directory = join(this.#root, `g${this.#made++}`);
    const files = { joinFiles: [join(homeIn(directory, isHeld), PROCS)], leaveFiles: [join(home, PROCS)] };
    return new ControlGroup(controlsOf(directory, this.#controllers, isHeld), files);
  }

  sample(): Promise<ProcessSnapshot> {
    return Promise.resolve(new ProcessSnapshot(linux.processes));
  }

  totals(): Promise<TotalUsage> {
    const pids = membersBelow(this.#root);
    return Promise.resolve({
      memoryBytes: this.#controllers.has('memory') ? heldBytes(this.#root) : residentBytesOf(pids, linux.processes),
      tasks: readControlNumber(this.#root, 'pids.current') ?? pids.length,
    });
  }

  [Symbol.dispose](): void {
    removeGroup(this.#root);
    if (!this.#hasMoved) return;
    tryWrite(join(this.#own, CONTROL), [...this.#controllers].map((controller) => `-${controller}`).join(' '));
    if (tryWrite(join(this.#own, PROCS), process.pid)) removeGroup(join(this.#own, OWN_LEAF));
  }

  /** @throws Error when the group holds other processes than the daemon */
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

const heldBytes = (directory: string): number => readControlSum(directory, 'memory.stat', 'anon', 'shmem');

/**
 * @param directory that of one group
 * @param controllers those that are enabled in it
 * @param isHeld whether its processes are in a subgroup
 */
function controlsOf(directory: string, controllers: ReadonlySet<Controller>, isHeld: boolean): Controls {
  const hasMemory = controllers.has('memory');
  const hasTasks = controllers.has('pids');
  return {
    directories: [directory],
    homes: [homeIn(directory, isHeld)],
    cpuFile: join(directory, 'cpu.stat'),
    // The first line is `usage_usec N`.
    cpuMs: (text) => Number(text.split(/[ \n]/, 2)[1]) / US_PER_MS,
    limitMemory: (bytes) => {
      if (!hasMemory) return;
      tryWrite(join(directory, 'memory.max'), bytes ?? 'max');
      // Swapping would only delay the OOM kill.
      tryWrite(join(directory, 'memory.swap.max'), bytes === undefined ? 'max' : 0);
    },
    limitTasks: (max) => {
      // Without the controller the processes are frozen; SIGKILL ends frozen processes as well.
      if (hasTasks) tryWrite(join(directory, 'pids.max'), max);
      else tryWrite(join(directory, 'cgroup.freeze'), max === 0 ? 1 : 0);
    },
    memoryBytes: (pids) => (hasMemory ? heldBytes(directory) : residentBytesOf(pids, linux.processes)),
    tasks: () => readControlNumber(directory, 'pids.current'),
    peakMemoryBytes: () => readControlNumber(directory, 'memory.peak'),
    kills: () => (hasMemory ? readControlSum(directory, 'memory.events', 'oom_kill') : undefined),
    refusedForks: () => (hasTasks ? readControlSum(directory, 'pids.events', 'max') : undefined),
  };
}

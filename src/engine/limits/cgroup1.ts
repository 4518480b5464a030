import { join } from 'node:path';

import { tryWrite } from '../system/local-files.js';
import { ownGroupOf } from '../platform/linux/own-group.js';
import {
  ControlGroup,
  type Controls,
  homeIn,
  makeGroup,
  readControlNumber,
  readControlSum,
  removeGroup,
  TASKS,
} from './control-group.js';
import type { LimitMechanism, ProcessGroup, TotalUsage } from './mechanism.js';
import { linux } from '../platform/linux/linux.js';
import { ProcessSnapshot } from '../process/process-snapshot.js';

/** The required controllers, each with its own hierarchy. */
const CONTROLLERS = ['cpuacct', 'memory', 'pids'] as const;
type Directories = Readonly<Record<(typeof CONTROLLERS)[number], string>>;

/** No limit, for the memory controller. */
const UNLIMITED = -1;
const NS_PER_MS = 1e6;

/**
 * Control groups of version 1 (cgroups(7), Documentation/admin-guide/cgroup-v1). The groups are created inside the
 * daemon's own group, so that limits on that group also apply to everything the daemon starts.
 */
export class ControlGroups1 implements LimitMechanism {
  readonly name = 'cgroup1';
  readonly isEnforced = true;
  readonly #roots: Directories;
  #made = 0;

  /**
   * @param instance part of the names of the daemon's groups
   * @throws Error with the reason why they cannot be created
   */
  constructor(instance: string) {
    const roots = CONTROLLERS.map((controller) => {
      const own = ownGroupOf(controller);
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

  createGroup(_tag?: string, _isInNamespace?: boolean, isHeld = false): ProcessGroup {
    const name = `g${this.#made++}`;
    const { cpuacct, memory, pids } = this.#roots;
    const groups = { cpuacct: join(cpuacct, name), memory: join(memory, name), pids: join(pids, name) };
    const controls = controlsOf(groups, isHeld);
    const joinFiles = controls.homes.map((directory) => join(directory, TASKS));
    const leaveFiles = this.directories.map((directory) => join(directory, '..', TASKS));
    return new ControlGroup(controls, { joinFiles, leaveFiles });
  }

  sample(): Promise<ProcessSnapshot> {
    return Promise.resolve(new ProcessSnapshot(linux.processes));
  }

  totals(): Promise<TotalUsage> {
    return Promise.resolve({
      memoryBytes: heldBytes(this.#roots.memory),
      tasks: readControlNumber(this.#roots.pids, 'pids.current') ?? 0,
    });
  }

  [Symbol.dispose](): void {
    for (const directory of this.directories) removeGroup(directory);
  }
}

/** Memory held by processes: file caches are reclaimable and do not count, files in memory are not. */
const heldBytes = (directory: string): number => readControlSum(directory, 'memory.stat', 'total_rss', 'total_shmem');

/**
 * @param directories those of one group
 * @param isHeld whether its processes are in subgroups
 */
function controlsOf({ cpuacct, memory, pids }: Directories, isHeld: boolean): Controls {
  const directories = [cpuacct, memory, pids];
  return {
    directories,
    homes: directories.map((directory) => homeIn(directory, isHeld)),
    cpuFile: join(cpuacct, 'cpuacct.usage'),
    cpuMs: (text) => Number(text) / NS_PER_MS,
    limitMemory: (bytes = UNLIMITED) => {
      // The limit with swap must not be less than the one without: it is removed first. Kernels without swap have no
      // such file.
      tryWrite(join(memory, 'memory.memsw.limit_in_bytes'), UNLIMITED);
      tryWrite(join(memory, 'memory.limit_in_bytes'), bytes);
      tryWrite(join(memory, 'memory.memsw.limit_in_bytes'), bytes);
    },
    limitTasks: (max) => {
      tryWrite(join(pids, 'pids.max'), max);
    },
    memoryBytes: () => heldBytes(memory),
    tasks: () => readControlNumber(pids, 'pids.current'),
    peakMemoryBytes: () => readControlNumber(memory, 'memory.max_usage_in_bytes'),
    // Counted where the process is, unlike with version 2.
    kills: () => readControlSum(homeIn(memory, isHeld), 'memory.oom_control', 'oom_kill'),
    refusedForks: () => readControlSum(homeIn(pids, isHeld), 'pids.events', 'max'),
  };
}

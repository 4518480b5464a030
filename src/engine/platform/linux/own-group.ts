import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { type Mount, parseMounts } from '../../system/mounts.js';
import { readSmallFile } from '../../system/local-files.js';
import { listProcesses, parseField } from './process-table.js';

/**
 * Maps a path in the hierarchy to a path below the mount: a container may have only a part of the hierarchy mounted.
 */
function below({ root, point }: Mount, path: string): string {
  const isWithin = root !== '/' && (path === root || path.startsWith(`${root}/`));
  return join(point, isWithin ? path.slice(root.length) : path);
}

/**
 * Returns the directory of a process's group, by default that of the daemon.
 * @param controller of cgroup v1; undefined for cgroup v2
 * @param mountinfo text of /proc/self/mountinfo
 * @param membership text of /proc/self/cgroup
 */
export function ownGroupOf(
  controller: string | undefined,
  mountinfo = readSmallFile('/proc/self/mountinfo') ?? '',
  membership = readSmallFile('/proc/self/cgroup') ?? '',
): string | undefined {
  const isWanted = ({ type, options }: Mount) =>
    controller === undefined ? type === 'cgroup2' : type === 'cgroup' && options.includes(controller);
  const mount = parseMounts(mountinfo).find(isWanted);
  const line = membership.split('\n').find((text) => {
    const [number, controllers = ''] = text.split(':');
    return controller === undefined
      ? number === '0' && controllers === ''
      : controllers.split(',').includes(controller);
  });
  const path = line?.split(':').slice(2).join(':');
  return mount && path !== undefined ? below(mount, path) : undefined;
}

const US_PER_MS = 1000;

/** The control groups whose limits apply to the daemon and to what it runs; undefined for one without a limit. */
interface OwnGroups {
  /** Directory of the group that limits the memory, and the names of its files. */
  readonly memory: { readonly directory: string; readonly files: MemoryFiles } | undefined;
  /** Directory of the group that limits the CPU time; of cgroup v2 only. */
  readonly cpu: string | undefined;
}

/** Names of the files of a memory group. */
interface MemoryFiles {
  readonly limit: string;
  readonly used: string;
  readonly cached: string;
}

const VERSION_2: MemoryFiles = { limit: 'memory.max', used: 'memory.current', cached: 'inactive_file' };
const VERSION_1: MemoryFiles = {
  limit: 'memory.limit_in_bytes',
  used: 'memory.usage_in_bytes',
  cached: 'total_inactive_file',
};

/**
 * Finds the control groups that limit the daemon: its own ones, or the nearest ones above them.
 * @param machineBytes memory of the machine: a higher limit is none
 */
export function findOwnGroups(machineBytes: number): OwnGroups {
  const unified = ownGroupOf(undefined);
  const legacy = ownGroupOf('memory');
  const hasLimit = (files: MemoryFiles) => (directory: string) => limitIn(directory, files) < machineBytes;
  const [memory2, memory1] = [nearest(unified, hasLimit(VERSION_2)), nearest(legacy, hasLimit(VERSION_1))];
  return {
    memory:
      memory2 !== undefined
        ? { directory: memory2, files: VERSION_2 }
        : memory1 === undefined
          ? undefined
          : { directory: memory1, files: VERSION_1 },
    cpu: nearest(unified, (directory) => cpusOf(directory) !== undefined),
  };
}

/** Limit and use of a memory group, in bytes; undefined when it is gone. Cached files do not count. */
export function memoryOf({ directory, files }: NonNullable<OwnGroups['memory']>) {
  const used = Number(readSmallFile(`${directory}/${files.used}`) ?? NaN);
  if (Number.isNaN(used)) return undefined;
  const cached = parseField(readSmallFile(`${directory}/memory.stat`) ?? '', files.cached);
  return { total: limitIn(directory, files), used: Math.max(0, used - cached) };
}

/** The CPUs that a group may use at a time, which may be a fraction; undefined without a limit. */
export function cpusOf(directory: string): number | undefined {
  const [quota, period] = (readSmallFile(`${directory}/cpu.max`) ?? '').split(' ').map(Number);
  return quota !== undefined && period !== undefined && quota > 0 && period > 0 ? quota / period : undefined;
}

/** CPU time of a group, in milliseconds. */
export const cpuMsOf = (directory: string): number =>
  parseField(readSmallFile(`${directory}/cpu.stat`) ?? '', 'usage_usec') / US_PER_MS;

/** Bits of CAP_SYS_ADMIN and CAP_SYS_RESOURCE, to which RLIMIT_NPROC does not apply. */
const EXEMPT = (1n << 21n) | (1n << 24n);

/**
 * Returns the processes and threads that RLIMIT_NPROC still allows the user of the daemon; Infinity without a limit. See
 * getrlimit(2).
 * @param limits text of /proc/self/limits
 * @param status text of /proc/self/status
 * @param tasks processes and threads of the machine, as in /proc/loadavg: at least as many as the user has
 * @param countOwn counts those of the user, which takes long
 */
export function tasksLeftByUser(
  limits: string,
  status: string,
  tasks: number,
  countOwn: (uid: number) => number,
): number {
  const most = Number(/^Max processes +(\d+)/m.exec(limits)?.[1] ?? Infinity);
  const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  const capabilities = BigInt(`0x${/^CapEff:\s+([0-9a-f]+)/m.exec(status)?.[1] ?? '0'}`);
  if (most === Infinity || uid === 0 || (capabilities & EXEMPT) !== 0n) return Infinity;
  return most - tasks >= PLENTY ? most - tasks : most - countOwn(uid);
}

/** Tasks that are left in any case: then nothing has to be counted exactly. */
const PLENTY = 100;

const countTasksOf = (uid: number): number =>
  listProcesses()
    .filter(({ pid }) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid)
    .reduce((sum, { threads }) => sum + threads, 0);

/** Processes and threads that the daemon may still start, by its control groups and its user; Infinity where nothing limits them. */
export function tasksLeft(): number {
  const [limits = '', status = '', load = ''] = ['self/limits', 'self/status', 'loadavg'].map((file) =>
    readSmallFile(`/proc/${file}`),
  );
  let left = tasksLeftByUser(limits, status, Number(/\/(\d+) /.exec(load)?.[1] ?? Infinity), countTasksOf);
  const read = (directory: string, file: string) => Number(readSmallFile(`${directory}/${file}`) ?? NaN);
  for (let at = ownGroupOf('pids') ?? ownGroupOf(undefined); at !== undefined && at !== '/'; at = dirname(at)) {
    const [most, used] = [read(at, 'pids.max'), read(at, 'pids.current')];
    if (most >= 0 && used >= 0) left = Math.min(left, most - used);
  }
  return left;
}

const limitIn = (directory: string, { limit }: MemoryFiles): number => {
  const bytes = Number(readSmallFile(`${directory}/${limit}`) ?? NaN);
  // `max` in cgroup v2.
  return Number.isNaN(bytes) ? Infinity : bytes;
};

/** The directory itself or the nearest one above it that fits. */
function nearest(directory: string | undefined, fits: (directory: string) => boolean): string | undefined {
  for (let at = directory; at !== undefined && at !== '/'; at = dirname(at)) if (fits(at)) return at;
  return undefined;
}

import { lstatSync, readdirSync, readlinkSync, type Stats, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { parseMounts } from '../../system/mount-table.js';
import { readSmallFile } from '../../system/small-file.js';

/** Most entries of a file system that are looked at: reading them takes about 20 ms. */
const MAX_ENTRIES = 5000;
/** Permission of all users to write. */
const WRITABLE_BY_ALL = 0o002;

/** Returns where file systems in memory are mounted that all users, or this one, may write to. */
export function memoryFileSystems(uid: number): readonly string[] {
  const isWritable = (point: string) => {
    const stats = attempt(() => statSync(point));
    return stats !== undefined && ((stats.mode & WRITABLE_BY_ALL) !== 0 || (uid !== 0 && stats.uid === uid));
  };
  const mounts = mountsOf('self').filter(({ type }) => type === 'tmpfs');
  const byDevice = new Map(mounts.map(({ device, point }) => [device, point]));
  return [...byDevice.values()].filter(isWritable);
}

/** Type of a tmpfs in statfs(2): TMPFS_MAGIC of linux/magic.h. */
const TMPFS = 0x01021994;

/**
 * Returns the bytes that a file system in memory holds; 0 when it cannot be read, or is not in memory: while a sandbox is
 * being made, another one may be at the same path.
 */
export function usedBytesOf(point: string): number {
  const stats = attempt(() => statfsSync(point));
  return stats?.type === TMPFS ? (stats.blocks - stats.bfree) * stats.bsize : 0;
}

/**
 * Returns the bytes in file systems in memory that these processes see and the daemon does not: those of a sandbox.
 * @param pids of processes, the sandbox's own included, which is outside of it
 */
export function privateBytesOf(pids: readonly number[]): number {
  const namespaceOf = (process: number | 'self') => attempt(() => readlinkSync(`/proc/${process}/ns/mnt`));
  const here = namespaceOf('self');
  const inside = pids.find((pid) => ![undefined, here].includes(namespaceOf(pid)));
  if (inside === undefined) return 0;
  const shared = new Set(mountsOf('self').map(({ device }) => device));
  const own = mountsOf(inside).filter(({ type, device }) => type === 'tmpfs' && !shared.has(device));
  const points = new Map(own.map(({ device, point }) => [device, point])).values();
  return [...points].reduce((sum, point) => sum + usedBytesOf(`/proc/${inside}/root${point}`), 0);
}

const mountsOf = (process: number | 'self') => parseMounts(readSmallFile(`/proc/${process}/mountinfo`) ?? '');

/** Returns the files below a mount point, on the same file system. */
export function filesBelow(point: string): readonly Stats[] {
  const device = attempt(() => statSync(point))?.dev;
  const files: Stats[] = [];
  const folders = [point];
  let entries = 0;
  // An array iterates over elements that are added during the iteration.
  for (const folder of folders) {
    const found = entriesOf(folder).filter(({ stats }) => stats.dev === device);
    folders.push(...found.filter(({ stats }) => stats.isDirectory()).map(({ path }) => path));
    files.push(...found.filter(({ stats }) => stats.isFile()).map(({ stats }) => stats));
    entries += found.length;
    if (entries > MAX_ENTRIES) break;
  }
  return files;
}

const entriesOf = (folder: string): { readonly path: string; readonly stats: Stats }[] =>
  (attempt(() => readdirSync(folder)) ?? []).flatMap((name) => {
    const path = join(folder, name);
    const stats = attempt(() => lstatSync(path));
    return stats ? [{ path, stats }] : [];
  });

/** Returns the files below one of these mount points that a process has open. */
export function openFilesOf(pid: number, points: readonly string[]): readonly Stats[] {
  const folder = `/proc/${pid}/fd`;
  const isWithin = (target = '') => points.some((point) => target.startsWith(`${point}/`));
  return (attempt(() => readdirSync(folder)) ?? []).flatMap((fd) => {
    const link = join(folder, fd);
    const stats = isWithin(attempt(() => readlinkSync(link))) ? attempt(() => statSync(link)) : undefined;
    return stats?.isFile() ? [stats] : [];
  });
}

/** Returns undefined when something has just disappeared, or belongs to another user. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    // ENOENT, EACCES, ESRCH.
    return undefined;
  }
}

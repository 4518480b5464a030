import { lstatSync, readdirSync, statfsSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';

import { MB } from '../../core/limits.js';
import { readLink, readSmallFile } from './local-files.js';
import { parseMounts, TMPFS_MAGIC } from './mounts.js';
import { ownUid } from './own-user.js';

/** Most entries of a file system that are looked at: reading them takes about 20 ms. */
const MAX_ENTRIES = 5000;
/** Permission of all users to write. */
const WRITABLE_BY_ALL = 0o002;

/** Returns where file systems in memory are mounted that all users, or this one, may write to. */
function memoryFileSystems(uid: number): readonly string[] {
  const isWritable = (point: string) => {
    const stats = attempt(() => statSync(point));
    return stats !== undefined && ((stats.mode & WRITABLE_BY_ALL) !== 0 || (uid !== 0 && stats.uid === uid));
  };
  const mounts = mountsOf('self').filter(({ type }) => type === 'tmpfs');
  const byDevice = new Map(mounts.map(({ device, point }) => [device, point]));
  return [...byDevice.values()].filter(isWritable);
}

/**
 * Returns the bytes that a file system in memory holds; 0 when it cannot be read, or is not in memory: while a sandbox is
 * being made, another one may be at the same path.
 */
function usedBytesOf(point: string): number {
  const stats = attempt(() => statfsSync(point));
  return stats?.type === TMPFS_MAGIC ? (stats.blocks - stats.bfree) * stats.bsize : 0;
}

/**
 * Returns the bytes in file systems in memory that these processes see and the daemon does not: those of a sandbox.
 * @param pids of processes, the sandbox's own included, which is outside of it
 */
export function privateBytesOf(pids: readonly number[]): number {
  const here = readLink('/proc/self/ns/mnt');
  const inside = pids.find((pid) => ![undefined, here].includes(readLink(`/proc/${pid}/ns/mnt`)));
  if (inside === undefined) return 0;
  const shared = new Set(mountsOf('self').map(({ device }) => device));
  const own = mountsOf(inside).filter(({ type, device }) => type === 'tmpfs' && !shared.has(device));
  const points = new Map(own.map(({ device, point }) => [device, point])).values();
  return [...points].reduce((sum, point) => sum + usedBytesOf(`/proc/${inside}/root${point}`), 0);
}

const mountsOf = (process: number | 'self') => parseMounts(readSmallFile(`/proc/${process}/mountinfo`) ?? '');

/** Returns the files below a mount point, on the same file system. */
function filesBelow(point: string): readonly Stats[] {
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
function openFilesOf(pid: number, points: readonly string[]): readonly Stats[] {
  const folder = `/proc/${pid}/fd`;
  const isWithin = (target = '') => points.some((point) => target.startsWith(`${point}/`));
  return (attempt(() => readdirSync(folder)) ?? []).flatMap((fd) => {
    const link = join(folder, fd);
    const stats = isWithin(readLink(link)) ? attempt(() => statSync(link)) : undefined;
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

/** Smaller changes of what a file system holds are not looked at, in bytes: they are frequent and harmless. */
const MIN_CHANGE_BYTES = MB;
/** Time after which growth that no group has claimed counts as that of other programs, in milliseconds. */
const UNCLAIMED_MS = 2000;
/** Unit of `blocks` in stat(2), in bytes, on every file system. */
const BLOCK_BYTES = 512;

/** What is known of the processes of a group. */
export interface Writers {
  readonly pids: readonly number[];
  /** Bytes that they have written since the last call, to files of all kinds. */
  readonly writtenBytes: number;
}

/** A file in memory that has a name. */
interface MemoryFile {
  bytes: number;
  /** Bytes that belong to no group. */
  foreignBytes: number;
  uid: number;
  /** When it began to grow without belonging to a group, in milliseconds; undefined if it has not grown. */
  grownAt: number | undefined;
  owner: object | undefined;
  /** Whether a process of its owner had it open: otherwise the owner has only written as much meanwhile. */
  isCertain: boolean;
}

/**
 * Tells which group of processes has filled the file systems in memory, such as /dev/shm. A file belongs to the group that
 * has it open. One that was closed before it was seen belongs to a group that has written as much in the meantime.
 */
export class MemoryFiles {
  readonly #points: readonly string[];
  readonly #usedBytes = new Map<string, number>();
  #files = new Map<string, MemoryFile>();
  /** Bytes that the file systems held at the beginning. */
  readonly #usedAtStart: number;

  /** @param points where the file systems are mounted; by default those that commands may write to */
  constructor(points = memoryFileSystems(ownUid())) {
    this.#points = points;
    this.#refresh(performance.now());
    for (const file of this.#files.values()) giveUp(file);
    this.#usedAtStart = this.#used;
  }

  /**
   * Returns the bytes in files that belong to a group.
   * @param group identifies it
   */
  bytesOf(group: object, { pids, writtenBytes }: Writers): number {
    this.#refresh(performance.now());
    const isUsed = this.#used - this.#usedAtStart >= MIN_CHANGE_BYTES;
    if (!isUsed && ![...this.#files.values()].some(({ owner }) => owner === group)) return 0;
    const open = new Map(pids.flatMap((pid) => openFilesOf(pid, this.#points)).map((stats) => [keyOf(stats), stats]));
    this.#claimOpen(group, open);
    this.#claimWritten(group, writtenBytes);
    const owned = [...this.#files.values()].filter(({ owner }) => owner === group);
    // A file without a name takes memory as long as it is open.
    const nameless = [...open.values()].filter(({ nlink }) => nlink === 0);
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    return sum(owned.map(growthOf)) + sum(nameless.map(bytesOf));
  }

  /** Forgets a group: what it has left belongs to none. */
  forget(group: object): void {
    for (const file of this.#files.values()) if (file.owner === group) giveUp(file);
  }

  get #used(): number {
    return [...this.#usedBytes.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Reads the sizes of all files again if much has changed. */
  #refresh(now: number): void {
    for (const file of this.#files.values()) {
      if (file.grownAt !== undefined && now - file.grownAt > UNCLAIMED_MS) giveUp(file);
    }
    const changed = this.#points.filter((point) => this.#hasChanged(point));
    if (changed.length === 0) return;
    const files = this.#points.flatMap((point) => filesBelow(point));
    this.#files = new Map(files.map((stats) => [keyOf(stats), this.#updated(stats, now)]));
  }

  #hasChanged(point: string): boolean {
    const bytes = usedBytesOf(point);
    if (Math.abs(bytes - (this.#usedBytes.get(point) ?? 0)) < MIN_CHANGE_BYTES) return false;
    this.#usedBytes.set(point, bytes);
    return true;
  }

  #updated(stats: Stats, now: number): MemoryFile {
    const bytes = bytesOf(stats);
    const file = this.#files.get(keyOf(stats)) ?? { ...NEW_FILE, uid: stats.uid };
    file.bytes = bytes;
    file.foreignBytes = Math.min(file.foreignBytes, bytes);
    if (!file.owner && growthOf(file) > 0) file.grownAt ??= now;
    return file;
  }

  #claimOpen(group: object, open: ReadonlyMap<string, Stats>): void {
    for (const key of open.keys()) {
      const file = this.#files.get(key);
      if (file && !file.isCertain && growthOf(file) > 0) {
        Object.assign(file, { owner: group, isCertain: true, grownAt: undefined });
      }
    }
  }

  #claimWritten(group: object, writtenBytes: number): void {
    let left = writtenBytes;
    for (const file of this.#files.values()) {
      const growth = growthOf(file);
      if (file.grownAt === undefined || file.uid !== ownUid() || growth > left) continue;
      Object.assign(file, { owner: group, grownAt: undefined });
      left -= growth;
    }
  }
}

const NEW_FILE = { bytes: 0, foreignBytes: 0, grownAt: undefined, owner: undefined, isCertain: false };

const keyOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;
const bytesOf = ({ blocks }: Stats): number => blocks * BLOCK_BYTES;
const growthOf = ({ bytes, foreignBytes }: MemoryFile): number => bytes - foreignBytes;

function giveUp(file: MemoryFile): void {
  Object.assign(file, { ...NEW_FILE, bytes: file.bytes, foreignBytes: file.bytes });
}

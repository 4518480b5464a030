import type { Stats } from 'node:fs';

import { MB } from '../../../core/limits/limits.js';
import { ownUid } from '../../system/own-user.js';
import { filesBelow, memoryFileSystems, openFilesOf, usedBytesOf } from './file-systems.js';

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

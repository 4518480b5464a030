import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';

import type { Platform } from '../platform/platform.js';

/**
 * A lock is named by its owner right after it is created. One that is empty for longer, in milliseconds, has none: its owner
 * was killed in between.
 */
const NAMED_WITHIN_MS = 1000;

/**
 * Holder of a lock that could not be taken: a live process, or `gone` when the lock of a dead one has just been
 * removed.
 */
export type LockHolder = { readonly pid: number | undefined } | 'gone';

/**
 * Takes a lock: a file that names its owner. The lock of a dead process is removed, and can be tried again.
 * @returns undefined when the lock is taken
 */
export function tryLock(file: string, platform: Pick<Platform, 'name' | 'processes'>): LockHolder | undefined {
  const { startTicks } = platform.processes.read(process.pid) ?? { startTicks: 0 };
  if (create(file, `${process.pid} ${startTicks} ${platform.name}`)) return undefined;
  const owner = ownerOf(file);
  if (owner === undefined) return 'gone';
  const pid = owner === '' ? undefined : livingOwner(owner, platform);
  if (pid !== undefined || (owner === '' && isNew(file))) return { pid };
  breakLock(file, owner);
  return 'gone';
}

/** Returns the pid of the live process that has a lock; undefined when none has it. */
export function lockedBy(file: string, platform: Pick<Platform, 'name' | 'processes'>): number | undefined {
  const owner = ownerOf(file);
  return owner === undefined || owner === '' ? undefined : livingOwner(owner, platform);
}

/** Returns the pid of a lock's owner; undefined if that has ended. */
function livingOwner(owner: string, { name, processes }: Pick<Platform, 'name' | 'processes'>): number | undefined {
  const [pid = 0, startTicks = -1] = owner.split(' ').map(Number);
  const [, , platform = 'linux'] = owner.split(' ');
  // A start time means nothing on another platform's clock: then any process with the pid counts as the owner.
  const start = platform === name ? startTicks : (processes.read(pid)?.startTicks ?? -1);
  return processes.isAlive({ pid, startTicks: start }) ? pid : undefined;
}

/** Releases a lock. */
export function unlock(file: string): void {
  rmSync(file, { force: true });
}

/** Creates a lock, or nothing: one that could not be written, on a full disk, would be in the way of everybody. */
function create(file: string, own: string): boolean {
  let fd: number;
  try {
    fd = openSync(file, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(fd, own);
    return true;
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Whether a lock was created just now. A clock that was set back tells nothing: then it is not. */
function isNew(file: string): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) < NAMED_WITHIN_MS;
}

function ownerOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // It has just been released.
    return undefined;
  }
}

/** Removes a dead lock; if another process has replaced it meanwhile, its lock is put back. */
function breakLock(file: string, owner: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    // ENOENT: another process was faster.
    return;
  }
  if (ownerOf(aside) === owner) rmSync(aside, { force: true });
  else renameSync(aside, file);
}

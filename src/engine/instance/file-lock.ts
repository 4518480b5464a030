import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Platform } from '../platform/platform.js';

/**
 * A lock is named by its owner right after it is created. One that is empty for longer, in milliseconds, has none: its owner
 * was killed in between.
 */
const NAMED_WITHIN_MS = 1000;
/** Time between two attempts at a lock, in milliseconds. */
const POLL_MS = 25;

/** Live process that holds a lock; its pid is undefined until it has named itself. */
interface LockHolder {
  readonly pid: number | undefined;
}

/**
 * Takes a lock: a file that names its owner. The lock of a dead process is removed.
 * @returns undefined when the lock is taken
 * @throws the system's error when the file cannot be created, read or removed
 */
export function tryLock(file: string, platform: Platform): LockHolder | undefined {
  const { startTicks } = platform.processes.read(process.pid) ?? { startTicks: 0 };
  for (;;) {
    if (create(file, `${process.pid} ${startTicks} ${platform.name}`)) return undefined;
    const owner = ownerOf(file);
    if (owner === undefined) continue;
    const pid = owner === '' ? undefined : livingOwner(owner, platform);
    if (pid !== undefined || (owner === '' && isNew(file))) return { pid };
    breakLock(file, owner);
  }
}

/**
 * Runs work under a lock, for which it waits.
 * @param busy returns the error for a lock that another process has held for all of `waitMs`
 */
export async function withLock<T>(
  file: string,
  platform: Platform,
  work: () => Promise<T> | T,
  { waitMs, busy }: { readonly waitMs: number; readonly busy: (pid: number | undefined) => Error },
): Promise<T> {
  const deadline = performance.now() + waitMs;
  for (let holder = tryLock(file, platform); holder; holder = tryLock(file, platform)) {
    if (performance.now() > deadline) throw busy(holder.pid);
    await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    unlock(file);
  }
}

/** Returns the pid of the live process that has a lock; undefined when none has it. */
export function lockedBy(file: string, platform: Platform): number | undefined {
  const owner = ownerOf(file);
  return owner === undefined || owner === '' ? undefined : livingOwner(owner, platform);
}

/** Returns the pid of a lock's owner; undefined if that has ended. */
function livingOwner(owner: string, { name, processes }: Platform): number | undefined {
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

/** Returns what is written in a lock; undefined when it has just been released. */
function ownerOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Removes a dead lock; if another process has replaced it meanwhile, its lock is put back. */
function breakLock(file: string, owner: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (ownerOf(aside) === owner) rmSync(aside, { force: true });
  else renameSync(aside, file);
}

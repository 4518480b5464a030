import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';

import { isAlive } from '../process/process-state.js';
import { readProcess } from '../process/process-table.js';

/**
 * Holder of a lock that could not be taken: a live process, or `gone` when the lock of a dead one has just been
 * removed.
 */
export type LockHolder = { readonly pid: number | undefined } | 'gone';

/**
 * Takes a lock: a file that names its owner. The lock of a dead process is removed, and can be tried again.
 * @returns undefined when the lock is taken
 */
export function tryLock(file: string): LockHolder | undefined {
  if (create(file, `${process.pid} ${readProcess(process.pid)?.startTicks ?? 0}`)) return undefined;
  const owner = ownerOf(file);
  if (owner === undefined) return 'gone';
  const [pid = 0, startTicks = -1] = owner.split(' ').map(Number);
  // Created but not written yet: its owner is about to write it.
  if (owner === '') return { pid: undefined };
  if (isAlive({ pid, startTicks })) return { pid };
  breakLock(file, owner);
  return 'gone';
}

/** Releases a lock. */
export function unlock(file: string): void {
  rmSync(file, { force: true });
}

function create(file: string, own: string): boolean {
  try {
    const fd = openSync(file, 'wx', 0o600);
    writeSync(fd, own);
    closeSync(fd);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
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

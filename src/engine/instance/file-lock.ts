import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';

import { isAlive, readProcess } from '../process/process-table.js';

/** How a lock that could not be taken is held: by a process that lives, or by one that has ended and lost it just now. */
export type LockHolder = { readonly pid: number | undefined } | 'gone';

/**
 * Takes a lock: a file that names its owner. One whose owner has ended is removed, and can be tried again.
 * @returns undefined when it is taken now
 */
export function tryLock(file: string): LockHolder | undefined {
  if (create(file, `${process.pid} ${readProcess(process.pid)?.startTicks ?? 0}`)) return undefined;
  const owner = ownerOf(file);
  if (owner === undefined) return 'gone';
  const [pid = 0, startTicks = -1] = owner.split(' ').map(Number);
  // Made and not written to yet: by somebody who is about to.
  if (owner === '') return { pid: undefined };
  if (isAlive({ pid, startTicks })) return { pid };
  breakLock(file, owner);
  return 'gone';
}

/** Gives up a lock. */
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
    // It has just been given up.
    return undefined;
  }
}

/** Takes a dead lock away; should it be somebody's by now who did the same, it is given back. */
function breakLock(file: string, owner: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    // ENOENT: somebody else was faster.
    return;
  }
  if (ownerOf(aside) === owner) rmSync(aside, { force: true });
  else renameSync(aside, file);
}

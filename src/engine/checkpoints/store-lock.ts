import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { AdapterError } from '../../core/errors.js';
import { isAlive, readProcess } from '../process-table.js';

/** How long another process may hold the lock before giving up, in milliseconds: tidying takes the longest. */
const WAIT_MS = 120_000;
const POLL_MS = 25;

/**
 * Does something with a store while every other process is kept away from it: a second daemon, or what a killed one has
 * left to finish. A lock whose owner has ended counts for nothing.
 * @throws AdapterError CHECKPOINT_FAILED when somebody else keeps it for too long
 */
export async function withLock<T>(file: string, work: () => Promise<T> | T, waitMs = WAIT_MS): Promise<T> {
  await acquire(file, waitMs);
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

async function acquire(file: string, waitMs: number): Promise<void> {
  const own = `${process.pid} ${readProcess(process.pid)?.startTicks ?? 0}`;
  const deadline = performance.now() + waitMs;
  while (!tryLock(file, own)) {
    const owner = ownerOf(file);
    if (owner !== undefined && !isOwnerAlive(owner)) {
      breakLock(file, owner);
      continue;
    }
    if (performance.now() > deadline) {
      const message = `another process (${owner?.split(' ', 1)[0] ?? 'unknown'}) works on the checkpoints of this workspace`;
      throw new AdapterError('CHECKPOINT_FAILED', message, { details: { lock: file } });
    }
    await sleep(POLL_MS);
  }
}

function tryLock(file: string, own: string): boolean {
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

function isOwnerAlive(owner: string): boolean {
  const [pid = 0, startTicks = -1] = owner.split(' ').map(Number);
  // Made and not written to yet: by somebody who is about to.
  if (owner === '') return true;
  return isAlive({ pid, startTicks });
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

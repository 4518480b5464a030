import { setTimeout as sleep } from 'node:timers/promises';

import { AdapterError } from '../../core/errors.js';
import { tryLock, unlock } from '../instance/file-lock.js';
import type { Platform } from '../platform/platform.js';

/** Longest wait for the lock, in milliseconds: tidying takes the longest. */
export const LOCK_WAIT_MS = 120_000;
const POLL_MS = 25;

/**
 * Runs an operation on a store under an exclusive lock against other processes: a second daemon, or a worker that a
 * killed one has left. A lock whose owner has ended is ignored.
 * @throws AdapterError CHECKPOINT_FAILED when another process holds the lock for too long
 */
export async function withLock<T>(
  file: string,
  platform: Platform,
  work: () => Promise<T> | T,
  waitMs = LOCK_WAIT_MS,
): Promise<T> {
  await acquire(file, platform, waitMs);
  try {
    return await work();
  } finally {
    unlock(file);
  }
}

async function acquire(file: string, platform: Platform, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const holder = tryLock(file, platform);
    if (!holder) return;
    if (holder === 'gone') continue;
    if (performance.now() > deadline) {
      const message = `another process (${holder.pid ?? 'unknown'}) works on the checkpoints of this workspace`;
      throw new AdapterError('CHECKPOINT_FAILED', message, { details: { lock: file } });
    }
    await sleep(POLL_MS);
  }
}

import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';

import type { Log } from '../../core/logging/log.js';

/** A process that is just ending may still create files: the removal is tried again, 50 ms apart. */
const RETRY = { maxRetries: 5, retryDelay: 50 };

/**
 * Removes a directory with everything in it, also directories whose permissions a command has removed. A missing path is
 * no error.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, ...RETRY });
  } catch (error) {
    if (!isRefused(error)) throw error;
    unlock(path);
    await rm(path, { recursive: true, force: true, ...RETRY });
  }
}

/** `removeTree` for small directories, and for the start and the end of the daemon, when no other work is delayed. */
export function removeTreeSync(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (!isRefused(error)) throw error;
    unlock(path);
    rmSync(path, { recursive: true, force: true });
  }
}

/**
 * `removeTreeSync` for what commands could write to: they may have left what cannot be removed, such as a mount or an
 * immutable file. That must not stop the rest of a cleanup.
 */
export function tryRemoveTree(path: string, log: Pick<Log, 'warn'>): void {
  try {
    removeTreeSync(path);
  } catch (error) {
    log.warn('a directory could not be removed', { path, error: String(error) });
  }
}

const isRefused = (error: unknown): boolean =>
  ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Makes every directory accessible to its owner; symbolic links are not followed. Names are bytes. */
function unlock(path: string | Buffer): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  chmodSync(path, 0o700);
  for (const name of readdirSync(path, 'buffer')) unlock(Buffer.concat([Buffer.from(path), Buffer.from('/'), name]));
}

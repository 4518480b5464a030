import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { promisify } from 'node:util';

import { type FileOwner, giveFile } from './own-user.js';

const run = promisify(execFile);

/** Size of one read: the capacity of a Linux pipe. */
const READ_BYTES = 64 * 1024;

/**
 * Most bytes of one `drain`: several times what an ordinary user can make a pipe hold (1 MiB, pipe(7)), so that more has been
 * written meanwhile. Writers that are faster than the daemon would otherwise keep it reading for ever.
 */
const MAX_DRAIN_BYTES = 4 * 1024 * 1024;

/**
 * Read buffer of all pipes of the daemon. One buffer is enough: reads and their consumers are synchronous, and a
 * consumer copies what it keeps.
 */
export const sharedReadBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

/**
 * Creates FIFOs (named pipes) that only this user may open. Node has no mkfifo(3), so this takes a process: create many
 * at once.
 * @param owner user that may open them instead
 */
export async function makeFifos(paths: readonly string[], owner?: FileOwner): Promise<void> {
  await run('mkfifo', ['-m', '600', '--', ...paths]);
  for (const path of paths) giveFile(path, owner);
}

/** Opens the read end without waiting for a writer. */
export const openReader = (path: string): number => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);

/** Opens both ends, so that neither EOF nor EPIPE ever occurs (Linux, macOS; not in POSIX). */
export const openBoth = (path: string): number => openSync(path, constants.O_RDWR | constants.O_NONBLOCK);

const isErrno = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException).code === code;

/**
 * Reads everything that a FIFO holds at this moment.
 * @returns `free` when no process has it open for writing, `held` when one does, or when it never was empty
 */
export function drain(fd: number, consume: (chunk: Buffer) => void): 'free' | 'held' {
  for (let bytes = 0; bytes < MAX_DRAIN_BYTES;) {
    let length: number;
    try {
      length = readSync(fd, sharedReadBuffer, 0, READ_BYTES, null);
    } catch (error) {
      if (isErrno(error, 'EAGAIN')) return 'held';
      throw error;
    }
    if (length === 0) return 'free';
    consume(sharedReadBuffer.subarray(0, length));
    bytes += length;
  }
  return 'held';
}

/** Closes descriptors, some of which may never have been opened. */
export function closeAll(fds: readonly (number | undefined)[]): void {
  for (const fd of fds) if (fd !== undefined) closeSync(fd);
}

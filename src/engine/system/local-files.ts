import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

import type { Log } from '../../core/log.js';

/** Most files of /proc and of control groups are smaller; larger ones are read in pieces. */
const BUFFER_BYTES = 16 * 1024;

/** One buffer is enough: reads are synchronous. */
const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);

/**
 * Reads a kernel file, whose size is unknown: 7 µs, where readFileSync takes 50. Latin-1, so that no byte is lost.
 * @returns undefined when it cannot be read: ENOENT and ESRCH, because the process has ended; EACCES, because it
 * belongs to another user
 */
export function readSmallFile(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    return readWhole(fd);
  } catch {
    // ESRCH: the process has ended between the two.
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/**
 * Reads the first 16 KiB of a kernel file, and passes the bytes on before they are overwritten.
 * @returns undefined when it cannot be read, as above
 */
export function readBytes<T>(path: string, take: (bytes: Buffer, length: number) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return undefined;
  }
  let length: number;
  try {
    length = readSync(fd, buffer, 0, BUFFER_BYTES, null);
  } catch {
    // ESRCH: the process has ended between the two.
    return undefined;
  } finally {
    closeSync(fd);
  }
  return length === 0 ? undefined : take(buffer, length);
}

function readWhole(fd: number): string {
  let text = '';
  for (;;) {
    const length = readSync(fd, buffer, 0, BUFFER_BYTES, null);
    if (length === 0) return text;
    text += buffer.toString('latin1', 0, length);
  }
}

/** Reads an open file of a few lines from its beginning; 2 µs. */
export const readSmallDescriptor = (fd: number): string =>
  buffer.toString('latin1', 0, readSync(fd, buffer, 0, BUFFER_BYTES, 0));

/** Writes a kernel file; returns false when that fails. */
export function tryWrite(path: string, value: string | number): boolean {
  try {
    writeFileSync(path, String(value));
    return true;
  } catch {
    // Missing, not permitted, or a value that is not accepted now.
    return false;
  }
}

/**
 * Writes a file that only this user can read; it appears complete or not at all.
 * @param isSynced whether it is on the disk when this returns; otherwise a crash of the machine may lose it
 * @throws Error of the file system, for example ENOSPC: an earlier file is then as it was
 */
export function writePrivateFile(file: string, content: string, isSynced = true): void {
  const unfinished = `${file}.${randomBytes(6).toString('hex')}.new`;
  try {
    writeFileSync(unfinished, content, { flag: 'wx', mode: 0o600, flush: isSynced });
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/**
 * Reads the beginning of a file that others may have prepared: a pipe would block the daemon, and a device has no end.
 * @param maxBytes of a larger file, no more than this is read
 * @returns undefined when it is no regular file, or cannot be read
 */
export function readRegularFile(path: string, maxBytes: number): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const stat = fstatSync(fd);
    if (!stat.isFile()) return undefined;
    const buffer = Buffer.alloc(Math.min(stat.size, maxBytes));
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, 0));
  } catch {
    // ENOENT; EACCES; ENXIO: a socket.
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Largest file whose content is compared, in bytes; of a larger one, size and time of change are. */
const MAX_BYTES = 1024 * 1024;

/** Identifies the content of a regular file; empty for one that cannot be read, and for a pipe, which would block. */
export function contentOf(path: string): string {
  try {
    const { size, mtimeMs } = statSync(path);
    if (size > MAX_BYTES) return `${size} ${mtimeMs}`;
    const content = readRegularFile(path, MAX_BYTES);
    return content ? createHash('sha256').update(content).digest('hex') : '';
  } catch {
    // ENOENT, EACCES: there is nothing to compare.
    return '';
  }
}

/** Whether a path is a directory, or leads to one. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // ENOENT: it has been removed. EACCES: it cannot be reached.
    return false;
  }
}

/** Resolves all links of an absolute path; for a missing file, those of its existing part. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // ENOENT, ENOTDIR, EACCES, or a dangling link.
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}

/** Returns what a path leads to; undefined where there is nothing that the daemon can get to. */
export function statOf(path: string): Stats | undefined {
  try {
    // A missing file is no exception: those are slow.
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // ENOTDIR: a file stands where a directory should. EACCES, ELOOP: it cannot be reached.
    return undefined;
  }
}

/** Most links on the way to one file; the kernel follows as many. Source: path_resolution(7). */
const MAX_LINKS = 40;

/**
 * Resolves all links of an absolute path, without a call on a file system that may not answer. What does not exist or may
 * not be searched is left as it is.
 * @param slow directories of such file systems
 * @param root where the path begins, and absolute links do: the root directory of another process
 * @returns undefined if the path leads there, or through too many links
 */
export function followLinks(path: string, slow: readonly string[], root = ''): string | undefined {
  const isSlow = (place: string) => slow.some((point) => place === point || place.startsWith(`${point}/`));
  const rest = namesIn(path);
  let place = '/';
  let links = 0;
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const next = join(place, name);
    if (isSlow(next)) return undefined;
    const link = linkAt(`${root}${next}`);
    if (link === undefined) place = next;
    else {
      links += 1;
      if (links > MAX_LINKS) return undefined;
      rest.unshift(...namesIn(resolve(place, link)));
      place = '/';
    }
  }
  return place;
}

const namesIn = (path: string): string[] => path.split('/').filter((name) => name !== '');

/** The text of a symbolic link where one may be; undefined for anything else. Cheaper than `readLink` where there is none. */
function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readLink(path) : undefined;
  } catch {
    // EACCES, ENOTDIR, ENAMETOOLONG: there is nothing to follow.
    return undefined;
  }
}

/** The text of a symbolic link; undefined where there is none now, or it may not be read. */
export function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // ENOENT: removed, or in /proc closed or ended. EACCES, ENOTDIR, EINVAL.
    return undefined;
  }
}

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

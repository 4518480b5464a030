import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, rename, stat, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';

import { makeDirectory } from './make-directory.js';

/** Lines contain commands: only the owner may read them. The default folder is the state directory. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** O_NONBLOCK: opening a named pipe without a reader must fail and not block. It has no effect on regular files. */
const OPEN_FLAGS =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOCTTY | constants.O_NONBLOCK;

/** Path and rotation of a file. */
export interface RotationOptions {
  /** Absolute path; its folder is created. */
  readonly path: string;
  /** Size limit of the file, in bytes: a line that would exceed it causes a rotation first. */
  readonly maxBytes: number;
  /** Number of rotated files that are kept: `path.1` is the newest. With 0, a full file is truncated. */
  readonly backupCount: number;
  /**
   * Whether the path may be a symbolic link.
   * @default false
   */
  readonly mayBeLink?: boolean;
}

/** What another process has done to the file: removed or renamed it, or changed its size, in bytes. */
export type ForeignChange =
  | { readonly reason: 'replaced' }
  | { readonly reason: 'changed'; readonly expectedBytes: number; readonly bytes: number };

/** Result of writing: the number of whole lines that are in the file now, and the error that prevented the others. */
export interface Appended {
  readonly count: number;
  readonly error?: Error;
}

/**
 * A file of lines with the rotation of Python's RotatingFileHandler. Every line in the file is whole. A file that
 * another process has removed or renamed is created again.
 */
export class RotatingFile {
  readonly #options: RotationOptions;
  #handle: FileHandle | undefined;
  /** Expected state of the file; undefined before the first line, and after a rotation. */
  #known: { readonly identity: string; readonly isRegular: boolean; size: number } | undefined;

  constructor(options: RotationOptions) {
    this.#options = options;
  }

  /** Opens the file, or checks that the path still refers to it; returns what another process has done to it. */
  async open(): Promise<ForeignChange | undefined> {
    const { path, mayBeLink = false } = this.#options;
    const change = await this.#check();
    if (change?.reason === 'replaced') await this.close();
    if (!this.#handle) {
      await makeDirectory(dirname(path), FOLDER_MODE);
      this.#handle = await open(path, mayBeLink ? OPEN_FLAGS : OPEN_FLAGS | constants.O_NOFOLLOW, FILE_MODE);
      const stats = await this.#handle.stat();
      const isRegular = stats.isFile();
      this.#known = { identity: identityOf(stats), isRegular, size: isRegular ? stats.size : 0 };
    }
    return change;
  }

  /**
   * Number of lines that fit into the open file. A line that is too long for any file fits into an empty one; devices
   * and pipes are not rotated.
   */
  countFitting(lines: readonly Buffer[]): number {
    if (!this.#known?.isRegular) return lines.length;
    let { size } = this.#known;
    const firstOver = lines.findIndex((line) => {
      const isOver = size > 0 && size + line.length > this.#options.maxBytes;
      size += line.length;
      return isOver;
    });
    return firstOver === -1 ? lines.length : firstOver;
  }

  /**
   * Appends lines. A full disk may accept some of the bytes: an incomplete line is truncated.
   * @param mayBeLast whether the file may end with the line of this index
   */
  async append(lines: readonly Buffer[], mayBeLast: (index: number) => boolean): Promise<Appended> {
    if (!this.#handle || !this.#known) throw new Error('the file is not open');
    const bytes = Buffer.concat(lines);
    let written = 0;
    try {
      while (written < bytes.length) written += (await this.#handle.write(bytes, written)).bytesWritten;
      this.#grow(bytes.length);
      return { count: lines.length };
    } catch (error) {
      const { count, end } = whole(lines, written, mayBeLast);
      if (end < written && this.#known.isRegular) await this.#handle.truncate(this.#known.size + end).catch(ignore);
      this.#grow(end);
      return { count, error: error as Error };
    }
  }

  /** Closes the file and renames it; the next `open` creates another one. */
  async rotate(): Promise<void> {
    const { path, backupCount } = this.#options;
    await this.close();
    this.#known = undefined;
    if (backupCount === 0) return truncate(path);
    for (let number = backupCount - 1; number >= 0; number -= 1) {
      const from = number === 0 ? path : `${path}.${number}`;
      await rename(from, `${path}.${number + 1}`).catch(ignoreMissing);
    }
  }

  /** Closes the file. Idempotent; never rejects. */
  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    // Closing may report the error of an earlier write on a network file system: nothing can be done about it.
    await handle?.close().catch(ignore);
  }

  async #check(): Promise<ForeignChange | undefined> {
    if (!this.#known) return undefined;
    const { identity, isRegular, size: expectedBytes } = this.#known;
    const found = await stat(this.#options.path).catch(ignoreMissing);
    if (!found || identityOf(found) !== identity) return { reason: 'replaced' };
    if (!isRegular || found.size === expectedBytes) return undefined;
    this.#known.size = found.size;
    return { reason: 'changed', expectedBytes, bytes: found.size };
  }

  #grow(bytes: number): void {
    if (this.#known?.isRegular) this.#known.size += bytes;
  }
}

/** Identity of a file: device and inode. */
const identityOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

function ignore(): undefined {
  return undefined;
}

/** The number and the bytes of the lines that were written completely, up to one that may be the last. */
function whole(lines: readonly Buffer[], written: number, mayBeLast: (index: number) => boolean) {
  let count = 0;
  let end = 0;
  for (let index = 0, size = 0; (size += lines[index]?.length ?? Infinity) <= written; index += 1) {
    if (mayBeLast(index)) [count, end] = [index + 1, size];
  }
  return { count, end };
}

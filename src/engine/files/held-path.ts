import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { AdapterError, type ErrorCode } from '../../core/errors.js';
import type { Directories } from '../platform/platform.js';
import type { Target } from './file-job.js';

/** What the errors of the kernel mean for a file. Source: errno(3), and the pages of the calls. */
const MEANINGS: Readonly<Record<string, readonly [code: ErrorCode, words: string]>> = {
  ENOENT: ['FILE_NOT_FOUND', 'there is no such file or directory'],
  ENOTDIR: ['NOT_A_DIRECTORY', 'a part of it is no directory'],
  EISDIR: ['NOT_A_FILE', 'it is a directory'],
  ENXIO: ['NOT_A_FILE', 'it is a pipe, a socket or a device'],
  ENODEV: ['NOT_A_FILE', 'it is a device'],
  EEXIST: ['FILE_EXISTS', 'there is something of that name already'],
  ENOTEMPTY: ['DIRECTORY_NOT_EMPTY', 'the directory is not empty'],
  EACCES: ['FILE_ACCESS_DENIED', 'permission denied'],
  EPERM: ['FILE_ACCESS_DENIED', 'the operation is not permitted'],
  EROFS: ['FILE_ACCESS_DENIED', 'the place is read-only'],
  EBUSY: ['FILE_ACCESS_DENIED', 'it is a mount point, or in use'],
  ELOOP: ['FILE_NOT_FOUND', 'it is a symbolic link that leads nowhere'],
  ENAMETOOLONG: ['INVALID_REQUEST', 'the name is too long'],
  EINVAL: ['INVALID_REQUEST', 'the file system does not take that'],
  EXDEV: ['INVALID_REQUEST', 'the two paths are on different file systems: move it by a command'],
  EFBIG: ['FILE_TOO_LARGE', 'the file would become larger than the limit'],
  ENOSPC: ['DISK_FULL', 'no space is left on the disk'],
  EDQUOT: ['DISK_FULL', 'the disk quota is exceeded'],
};

/** Errors of an exhausted machine, which the caller reports. */
const EXHAUSTED: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

/** Converts an error of the file system. */
export function fileError(error: unknown, path: string): unknown {
  if (error instanceof AdapterError) return error;
  const { code, message }: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error));
  if (code !== undefined && EXHAUSTED.has(code)) return error;
  const [meaning, words] = MEANINGS[code ?? ''] ?? ['FILE_FAILED', message];
  return new AdapterError(meaning, `${path}: ${words}`, { details: { path, errno: code ?? null }, cause: error });
}

/** The error for a path that leads elsewhere than when it was judged. */
export const movedPath = (path: string): AdapterError =>
  new AdapterError('FILE_CHANGED', `${path} leads elsewhere than when the request was judged: nothing was changed`, {
    details: { path },
  });

/** The error for something that is no regular file. */
export const notAFile = (path: string, isDirectory: boolean): AdapterError =>
  new AdapterError('NOT_A_FILE', `${path}: it is ${isDirectory ? 'a directory' : 'a pipe, a socket or a device'}`, {
    details: { path, is_directory: isDirectory },
  });

const LIST_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A directory that is held open. */
export class OpenDirectory implements AsyncDisposable {
  /** A path to the directory, while it is open. */
  readonly root: string;
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #directories: Directories;

  private constructor(handle: FileHandle, path: string, directories: Directories) {
    this.#handle = handle;
    this.#path = path;
    this.#directories = directories;
    this.root = directories.rootOf(handle.fd, path);
  }

  /**
   * Opens a directory to list it; the last part of its path must not be a link.
   * @throws system errors
   */
  static async open(path: string, directories: Directories): Promise<OpenDirectory> {
    return new OpenDirectory(await open(path, LIST_FLAGS), path, directories);
  }

  /** The same, to pass it: where possible, no permission to list it is needed. */
  static async pass(path: string, directories: Directories): Promise<OpenDirectory> {
    return new OpenDirectory(await open(path, directories.passFlags), path, directories);
  }

  /** Returns the path of one of its entries, for calls that do not follow a link there. */
  entry(name: string): string {
    return `${this.root}/${name}`;
  }

  /** Opens a directory in it to list it. */
  openInner(name: string): Promise<OpenDirectory> {
    return OpenDirectory.open(this.entry(name), this.#directories);
  }

  /** Whether it is at the path where it was opened, without links. */
  async isInPlace(): Promise<boolean> {
    return (await this.#directories.placeOf(this.#handle.fd, this.#path)) === this.#path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

/** Views of processes, devices and the kernel: their files are none, and look different to each process. */
const VIEWS = ['/proc', '/sys', '/dev'] as const;
const SHARED_MEMORY = '/dev/shm';

const isBelow = (path: string, directory: string): boolean => path === directory || path.startsWith(`${directory}/`);

/** A directory entry whose directory is held open, so that nothing can put another one in its place. */
export interface HeldPath extends AsyncDisposable {
  /** The path after all links. */
  readonly real: string;
  readonly name: string;
  /** A path to the entry, for calls that do not follow a link there. */
  readonly entry: string;
  /** A path to another entry of the same directory. */
  beside(name: string): string;
  /** Opens the entry, which has to be a directory, to list it. */
  open(): Promise<OpenDirectory>;
  /** Removes the directories that were made for it. */
  undo(): Promise<void>;
}

/** How a path is held. */
interface HoldOptions {
  /**
   * False to hold a link itself.
   * @default true
   */
  readonly follow?: boolean;
  /**
   * Whether directories that are missing above it are made.
   * @default false
   */
  readonly create?: boolean;
}

/**
 * Holds the directory of a path.
 * @throws AdapterError FILE_CHANGED when the path leads elsewhere than it did, NOT_A_FILE for files of the kernel; system errors
 */
export type HoldPath = (target: Target, options?: HoldOptions) => Promise<HeldPath>;

/** Returns a function that holds paths by the means of a platform. */
export const holderOf =
  (directories: Directories): HoldPath =>
  (target, options = {}) =>
    hold(target, options, directories);

async function hold({ path, real: expected }: Target, options: HoldOptions, by: Directories): Promise<HeldPath> {
  const { follow = true, create = false } = options;
  const real = await resolvePath(path, follow);
  if (expected !== undefined && real !== expected) throw movedPath(path);
  if (VIEWS.some((view) => isBelow(real, view)) && !isBelow(real, SHARED_MEMORY)) {
    throw new AdapterError('NOT_A_FILE', `${path}: files of the kernel are read and written by commands alone`, {
      details: { path },
    });
  }
  const above = dirname(real);
  const made: string[] = [];
  const directory = create ? await openMaking(above, made, by) : await openAt(above, by);
  const undo = async () => {
    for (const each of made.reverse()) await rmdir(each).catch(() => undefined);
  };
  // The root directory is its own entry.
  const name = real === '/' ? '.' : basename(real);
  return {
    real,
    name,
    entry: directory.entry(name),
    beside: (other) => directory.entry(other),
    open: () => directory.openInner(name),
    undo,
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

/**
 * Resolves the links of an absolute path.
 * @param follow false to leave a link in the last place as it is
 * @throws system errors, but not for what does not exist
 */
export const resolvePath = (path: string, follow: boolean): Promise<string> =>
  follow ? followAll(path) : followAbove(path);

/** Resolves all links of a path; the last part need not exist. */
async function followAll(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return followAbove(path);
  }
}

/** Resolves the links above the last part of a path; what does not exist is left as it is. */
async function followAbove(path: string): Promise<string> {
  const above = dirname(path);
  return above === path ? path : join(await followAll(above), basename(path));
}

/** Opens a directory that must be at this path, without links. */
async function openAt(path: string, by: Directories): Promise<OpenDirectory> {
  const directory = await OpenDirectory.pass(path, by);
  try {
    if (await directory.isInPlace()) return directory;
    throw movedPath(path);
  } catch (error) {
    await directory[Symbol.asyncDispose]();
    throw error;
  }
}

/** The same, and makes it and those above it when they are missing. */
async function openMaking(path: string, made: string[], by: Directories): Promise<OpenDirectory> {
  try {
    return await openAt(path, by);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await using above = await openMaking(dirname(path), made, by);
  try {
    await mkdir(above.entry(basename(path)));
    made.push(path);
    return await openAt(path, by);
  } catch (error) {
    // Made by another process in between.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return await openAt(path, by);
  }
}

/** What an entry is, without following a link there; undefined when there is none. */
export async function lookAt(entry: string): Promise<Stats | undefined> {
  try {
    return await lstat(entry);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

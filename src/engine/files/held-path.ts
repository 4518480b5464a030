import type { Stats } from 'node:fs';
import { lstat, mkdir, realpath, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import type { Directories } from '../platform/contract/directories.js';
import type { Target } from './file-job.js';
import { movedPath } from './file-errors.js';
import { OpenDirectory } from './open-directory.js';

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

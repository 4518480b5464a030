import { lstat, opendir } from 'node:fs/promises';

import { AdapterError } from '../../../core/errors.js';
import type { Directories } from '../../platform/contract/directories.js';
import { OpenDirectory } from '../open-directory.js';
import { walk } from '../walk.js';
import { MAX_WATCHED_DIRECTORIES, MAX_WATCHED_NAMES } from './watch-batch.js';

/** The top of a scan, as a path relative to itself. */
export const TOP = '';

/** What is there: by paths relative to the top, whether each is a directory. Empty when the top does not exist. */
export type Scan = ReadonlyMap<string, boolean>;

/**
 * Looks at a path, and at what is below it.
 * @param real absolute, after all links
 * @param isRecursive leaves out repositories of git, and what a .gitignore excludes
 * @throws AdapterError RESOURCE_EXHAUSTED for more than can be watched; system errors
 */
export async function scan(real: string, isRecursive: boolean, directories: Directories): Promise<Scan> {
  const stat = await lstat(real).catch(undefinedIfMissing);
  const found = new Map<string, boolean>();
  if (!stat) return found;
  found.set(TOP, stat.isDirectory());
  if (!stat.isDirectory()) return found;
  try {
    if (isRecursive) await addTree(real, found, directories);
    else for await (const entry of await opendir(real)) add(found, entry.name, entry.isDirectory());
  } catch (error) {
    // It has gone meanwhile.
    undefinedIfMissing(error);
  }
  return found;
}

async function addTree(real: string, found: Map<string, boolean>, by: Directories): Promise<void> {
  await using top = await OpenDirectory.open(real, by);
  let directories = 1;
  const options = { honoursIgnore: true, isOver: () => false, onSkipped: () => undefined };
  for await (const { path, type } of walk(top, real, options)) {
    if (type === 'directory') directories += 1;
    if (directories > MAX_WATCHED_DIRECTORIES) throw tooMuch(`${MAX_WATCHED_DIRECTORIES} directories`);
    add(found, path, type === 'directory');
  }
}

function add(found: Map<string, boolean>, path: string, isDirectory: boolean): void {
  if (found.size >= MAX_WATCHED_NAMES) throw tooMuch(`${MAX_WATCHED_NAMES} names`);
  found.set(path, isDirectory);
}

/** The error for more than one request can watch. */
export const tooMuch = (what: string): AdapterError =>
  new AdapterError('RESOURCE_EXHAUSTED', `one request watches ${what} at most: watch directories further below`);

/** For a `catch`: undefined for a path that does not exist. */
export function undefinedIfMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

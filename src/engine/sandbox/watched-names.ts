import { basename, dirname, join } from 'node:path';

import { mayMatch } from '../../core/policy/paths/paths.js';
import { isDirectory } from '../system/is-directory.js';
import { namesIn } from './credential-paths.js';

/** Directories, and the patterns of the names in each that matter. */
export type WatchedNames = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The names whose appearance or replacement may put a file at one of these paths: those of the files themselves and of
 * the directories above them, in every directory that exists, except the root directory.
 * @param patterns absolute; `*` stands for any characters of a name, `/**` for everything below a directory
 */
export function watchedNames(patterns: readonly string[]): WatchedNames {
  const watched = new Map<string, Set<string>>();
  const walk = (directory: string, [name, ...rest]: readonly string[]): void => {
    if (name === undefined || name === '**') return;
    if (directory !== '/') {
      const names = watched.get(directory) ?? new Set();
      watched.set(directory, names.add(name));
    }
    if (rest.length === 0) return;
    const entries = name.includes('*') ? namesIn(directory).filter((entry) => mayMatch(name, entry)) : [name];
    for (const entry of entries) {
      const path = join(directory, entry);
      if (isDirectory(path)) walk(path, rest);
    }
  };
  for (const pattern of patterns) walk('/', pattern.split('/').slice(1));
  return watched;
}

/** Whether an event for a path concerns one of the names. */
export function isWatched(watched: WatchedNames, path: string): boolean {
  const name = basename(path);
  return [...(watched.get(dirname(path)) ?? [])].some((pattern) => mayMatch(pattern, name));
}

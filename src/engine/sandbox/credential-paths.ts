import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { mayMatch } from '../../core/policy/paths/paths.js';
import { CREDENTIAL_PLACES, PUBLIC_NAMES } from '../../core/secrets/credential-places.js';

const PATTERNS = CREDENTIAL_PLACES.flatMap(({ paths }) => paths);
/** Names in any directory; they are looked for directly in home directories. */
const NAMES = PATTERNS.filter((pattern) => !pattern.includes('/'));

/**
 * Returns patterns of the files and directories with credentials in these home directories and of the machine. Names
 * that are listed for any directory are meant at the top of a home directory, unless it is or contains the workspace:
 * its programs need their own files.
 * @returns absolute; `*` stands for any characters of a name, `/**` for everything below a directory
 */
export function credentialPatterns(homes: readonly string[], workspace: string): readonly string[] {
  const places = PATTERNS.flatMap((pattern) => {
    if (pattern.startsWith('~/')) return homes.map((home) => join(home, pattern.slice(2)));
    return pattern.startsWith('/') && !pattern.startsWith('/**') ? [pattern] : [];
  });
  const isElsewhere = (home: string) => home !== workspace && !workspace.startsWith(`${home}/`);
  const named = homes.filter(isElsewhere).flatMap((home) => NAMES.map((name) => join(home, name)));
  return [...new Set([...places, ...named])];
}

/** Returns the paths of these patterns, which may not exist where the pattern is a path itself. */
export function credentialPaths(patterns: readonly string[]): readonly string[] {
  const known = new Map<string, readonly string[]>();
  const namesOf = (directory: string): readonly string[] => {
    const names = known.get(directory) ?? namesIn(directory);
    known.set(directory, names);
    return names;
  };
  return [...new Set(patterns.flatMap((pattern) => expand(pattern, namesOf)))];
}

/** Lists the names in a directory. */
type NamesOf = (directory: string) => readonly string[];

/** The paths for which a pattern stands: all below a directory is the directory itself. Public ones are left out. */
function expand(pattern: string, namesOf: NamesOf): readonly string[] {
  const [whole = pattern] = pattern.split('/**', 1);
  if (!whole.includes('*')) return [whole];
  const [directory, last] = [dirname(whole), basename(whole)];
  const parents = directory.includes('*') ? expand(directory, namesOf) : [directory];
  const isPublic = (name: string) => PUBLIC_NAMES.some((known) => mayMatch(known, name));
  const isMeant = (name: string) => mayMatch(last, name) && !isPublic(name);
  return parents.flatMap((parent) => {
    const names = namesOf(parent).filter(isMeant);
    return names.map((name) => join(parent, name));
  });
}

/** Returns the names in a directory; none when it cannot be read. */
export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // ENOENT: missing. EACCES: inaccessible for the programs in the sandbox, too.
    return [];
  }
}

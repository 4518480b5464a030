import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { mayMatch } from '../../core/policy/paths/paths.js';
import { CREDENTIAL_PLACES, PUBLIC_NAMES } from '../../core/secrets/credential-places.js';

const PATTERNS = CREDENTIAL_PLACES.flatMap(({ paths }) => paths);
/** Names in any directory; they are looked for directly in home directories. */
const NAMES = PATTERNS.filter((pattern) => !pattern.includes('/'));

/**
 * Returns the files and directories with credentials in these home directories and of the machine, as far as they
 * exist. Names that are listed for any directory are found at the top of a home directory, unless it is or contains the
 * workspace: its programs need their own files.
 */
export function credentialPaths(homes: readonly string[], workspace: string): readonly string[] {
  const places = PATTERNS.flatMap((pattern) => {
    if (pattern.startsWith('~/')) return homes.flatMap((home) => expand(join(home, pattern.slice(2))));
    return pattern.startsWith('/') && !pattern.startsWith('/**') ? expand(pattern) : [];
  });
  const isElsewhere = (home: string) => home !== workspace && !workspace.startsWith(`${home}/`);
  const named = homes.filter(isElsewhere).flatMap((home) => {
    const names = namesIn(home);
    return NAMES.flatMap((name) => entries(home, name, names));
  });
  return [...new Set([...places, ...named])];
}

/** The paths for which a pattern stands: all below a directory is the directory itself. */
function expand(pattern: string): readonly string[] {
  const [whole = pattern] = pattern.split('/**', 1);
  if (!whole.includes('*')) return [whole];
  const directory = dirname(whole);
  const parents = directory.includes('*') ? expand(directory) : [directory];
  return parents.flatMap((parent) => entries(parent, basename(whole)));
}

/** The entries of a directory whose names a pattern matches, without public ones. */
function entries(directory: string, pattern: string, names = namesIn(directory)): readonly string[] {
  const isPublic = (name: string) => PUBLIC_NAMES.some((known) => mayMatch(known, name));
  return names.filter((name) => mayMatch(pattern, name) && !isPublic(name)).map((name) => join(directory, name));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // ENOENT: missing. EACCES: inaccessible for the programs in the sandbox, too.
    return [];
  }
}

import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

import type { BytePath } from '../../../core/checkpoints/entry.js';
import { fromText } from '../git/byte-path.js';

/**
 * Returns those of some absolute paths that are in a workspace, relative to it.
 * @param workspace its real path
 */
export function pathsWithin(workspace: string, paths: readonly string[]): ReadonlySet<BytePath> {
  const inside = paths
    .map((path) => relative(workspace, realPathOf(path)))
    .filter((path) => path !== '' && path !== '..' && !path.startsWith('../'));
  return new Set(inside.map(fromText));
}

/** Resolves all links of a path; for a missing file, those of its existing part. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // ENOENT, or a dangling link.
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}

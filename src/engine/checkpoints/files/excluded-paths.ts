import { relative } from 'node:path';

import type { BytePath } from '../../../core/checkpoints/entry.js';
import { realPathOf } from '../../system/real-path.js';
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

import { MAX_LISTED_PATHS, type Skipped } from '../../core/checkpoints/entry.js';
import { toText } from './git/byte-path.js';
import type { Listed, SkippedPath } from './job.js';

/** The first of all, and how many there are. */
export const listed = <T>(all: readonly T[]): Listed<T> => ({
  shown: all.slice(0, MAX_LISTED_PATHS),
  count: all.length,
});

/** The same of paths that are not in a checkpoint. */
export const listedSkipped = (skipped: readonly Skipped[]): Listed<SkippedPath> =>
  listed(skipped.map(({ path, reason }) => ({ path: toText(path), reason })));

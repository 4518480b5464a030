import { mayMatch } from '../policy/paths/paths.js';
import type { SkipReason } from './entry.js';

/** A path that a checkpoint does not contain, with everything below it. Relative to the workspace. */
export interface Uncovered {
  readonly path: string;
  /** `own`: a file of the daemon itself. */
  readonly reason: SkipReason | 'own';
}

/** Files that a command destroys. */
export interface LostFiles {
  /** Relative to the workspace, with everything below it; empty for all of it. The last component may be a pattern. */
  readonly path: string;
  /** Whether directories of git below it stay as they are. */
  readonly sparesGit: boolean;
}

/** Returns the first of the lost files that a checkpoint does not contain. */
export const findUncovered = (lost: readonly LostFiles[], uncovered: readonly Uncovered[]): Uncovered | undefined =>
  uncovered.find(({ path, reason }) =>
    lost.some((files) => overlaps(files.path, path) && !(files.sparesGit && reason === 'git_directory')),
  );

/** Whether what a pattern may match contains a path, or lies in it. */
function overlaps(pattern: string, path: string): boolean {
  if (pattern === '') return true;
  const patterns = pattern.split('/');
  const names = path.split('/');
  return patterns
    .slice(0, names.length)
    .every((part, index) =>
      index === patterns.length - 1 ? mayMatch(part, names[index] ?? '') : part === names[index],
    );
}

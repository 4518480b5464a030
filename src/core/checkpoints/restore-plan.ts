import { type Change, compareEntries, type CompareOptions, notableChanges } from './compare.js';
import {
  ancestorsOf,
  type BytePath,
  comparePaths,
  type Entries,
  type Entry,
  isWithin,
  parentOf,
  type Skipped,
} from './entry.js';
import { listSteps, type Step } from './restore-steps.js';

/** A tree, and the parts of it that could not be saved. */
export interface SavedTree {
  readonly entries: Entries;
  readonly skipped: readonly Skipped[];
}

/** Input of `planRestore`. */
export interface RestoreRequest extends CompareOptions {
  /** The current workspace, saved just before the restore. */
  readonly current: SavedTree;
  /** The saved state of the workspace to restore. */
  readonly target: SavedTree;
  /** Paths to restore, including everything below them; an empty path is the whole workspace. */
  readonly paths: ReadonlySet<BytePath>;
}

/** Steps and effects of a restore. */
export interface RestorePlan {
  /** In execution order; undone in reverse order. */
  readonly steps: readonly Step[];
  /** Files and links to create, keyed by their number in the staging directory. */
  readonly contents: ReadonlyMap<number, Entry>;
  /** Paths that are restored, or get their old permissions. */
  readonly restored: readonly BytePath[];
  /** Paths that are removed. */
  readonly removed: readonly BytePath[];
  /**
   * Paths that are not restored, because they were not saved then, or because an entry in the way could not be saved
   * now.
   */
  readonly skipped: readonly Skipped[];
}

/**
 * Plans how to restore the saved state of the workspace without loss: entries that could not be saved are neither
 * changed nor removed.
 */
export function planRestore(request: RestoreRequest): RestorePlan {
  const { current, target } = request;
  const skipped = skippedPaths(request);
  const changes = compareEntries(current.entries, target.entries, request).filter(isWanted(request));
  const possible = changes.filter((change) => isPossible(change, skipped));
  const { steps, contents } = listSteps(possible, current.entries);
  const reported = notableChanges(possible, current.entries, target.entries);
  return {
    steps,
    contents,
    restored: reported.filter(({ status }) => status !== 'deleted').map(({ path }) => path),
    removed: reported.filter(({ status }) => status === 'deleted').map(({ path }) => path),
    skipped: skippedEntries(request),
  };
}

/** Whether a change belongs to the wanted paths, or creates a directory above one of them. */
function isWanted({ target, paths }: RestoreRequest): (change: Change) => boolean {
  const needed = new Set<BytePath>();
  for (const path of paths)
    if (target.entries.has(path)) for (const ancestor of ancestorsOf(path)) needed.add(ancestor);
  return ({ path, status }) => isWithin(path, paths) || (needed.has(path) && status !== 'mode_changed');
}

/** Paths that were not saved, in either tree, and the directories above them. */
interface SkippedPaths {
  readonly paths: ReadonlySet<BytePath>;
  readonly parents: ReadonlySet<BytePath>;
}

function skippedPaths({ current, target }: RestoreRequest): SkippedPaths {
  const paths = new Set([...current.skipped, ...target.skipped].map(({ path }) => path));
  const present = current.skipped.map(({ path }) => path);
  return { paths, parents: new Set(present.flatMap(ancestorsOf)) };
}

/** A directory must stay when it contains an entry that was not saved. */
function isPossible({ path, before, after }: Change, { paths, parents }: SkippedPaths): boolean {
  if (isWithin(path, paths)) return false;
  const losesDirectory = before?.kind === 'directory' && after?.kind !== 'directory';
  return !(losesDirectory && parents.has(path));
}

function skippedEntries({ current, target, paths }: RestoreRequest): Skipped[] {
  const now = new Set(current.skipped.map(({ path }) => path));
  const then = new Set(target.skipped.map(({ path }) => path));
  const isGone = ({ path }: Skipped) => !now.has(path);
  const isInTheWay = ({ path }: Skipped) => {
    if (then.has(path)) return false;
    const parent = parentOf(path);
    return target.entries.has(path) || (parent !== '' && target.entries.get(parent)?.kind !== 'directory');
  };
  return [...target.skipped.filter(isGone), ...current.skipped.filter(isInTheWay)]
    .filter(({ path }) => isWithin(path, paths))
    .sort((a, b) => comparePaths(a.path, b.path));
}

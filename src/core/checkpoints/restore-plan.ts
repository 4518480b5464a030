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

/** A tree, and what of it could not be saved. */
export interface SavedTree {
  readonly entries: Entries;
  readonly skipped: readonly Skipped[];
}

/** What a restore is planned from. */
export interface RestoreRequest extends CompareOptions {
  /** The workspace as it is, saved a moment ago. */
  readonly current: SavedTree;
  /** The workspace as it was. */
  readonly target: SavedTree;
  /** What to restore, with all that is below; an empty path is everything. */
  readonly paths: ReadonlySet<BytePath>;
}

/** What a restore does. */
export interface RestorePlan {
  /** In the order in which they are made; undone in the opposite one. */
  readonly steps: readonly Step[];
  /** Files and links to be made anew, each under the number of its place in the staging directory. */
  readonly contents: ReadonlyMap<number, Entry>;
  /** What comes back, or gets its old permissions. */
  readonly restored: readonly BytePath[];
  /** What goes. */
  readonly removed: readonly BytePath[];
  /** What is not as it was, because it was not saved then, or could not be saved now and is in the way. */
  readonly skipped: readonly Skipped[];
}

/** Plans how the workspace becomes what it was, without a loss: what could not be saved is neither changed nor removed. */
export function planRestore(request: RestoreRequest): RestorePlan {
  const { current, target } = request;
  const skipped = skippedPaths(request);
  const changes = compareEntries(current.entries, target.entries, request).filter(isWanted(request));
  const possible = changes.filter((change) => isPossible(change, skipped));
  const { steps, contents } = listSteps(possible, current.entries);
  const told = notableChanges(possible, current.entries, target.entries);
  return {
    steps,
    contents,
    restored: told.filter(({ status }) => status !== 'deleted').map(({ path }) => path),
    removed: told.filter(({ status }) => status === 'deleted').map(({ path }) => path),
    skipped: leftAlone(request),
  };
}

/** Whether a change belongs to the wanted paths, or makes a directory that one of them has to be in. */
function isWanted({ target, paths }: RestoreRequest): (change: Change) => boolean {
  const needed = new Set<BytePath>();
  for (const path of paths)
    if (target.entries.has(path)) for (const ancestor of ancestorsOf(path)) needed.add(ancestor);
  return ({ path, status }) => isWithin(path, paths) || (needed.has(path) && status !== 'mode_changed');
}

/** What was not saved, in either tree, and the directories that it is in. */
interface SkippedPaths {
  readonly paths: ReadonlySet<BytePath>;
  readonly parents: ReadonlySet<BytePath>;
}

function skippedPaths({ current, target }: RestoreRequest): SkippedPaths {
  const paths = new Set([...current.skipped, ...target.skipped].map(({ path }) => path));
  const present = current.skipped.map(({ path }) => path);
  return { paths, parents: new Set(present.flatMap(ancestorsOf)) };
}

/** A directory has to stay when something is in it that was not saved. */
function isPossible({ path, before, after }: Change, { paths, parents }: SkippedPaths): boolean {
  if (isWithin(path, paths)) return false;
  const losesDirectory = before?.kind === 'directory' && after?.kind !== 'directory';
  return !(losesDirectory && parents.has(path));
}

function leftAlone({ current, target, paths }: RestoreRequest): Skipped[] {
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

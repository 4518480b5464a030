import {
  ancestorsOf,
  type Attributes,
  type BytePath,
  type Change,
  compareEntries,
  type CompareOptions,
  comparePaths,
  type Entries,
  type Entry,
  isWithin,
  notableChanges,
  parentOf,
  type Skipped,
} from './checkpoints.js';

/**
 * One step of a restore. No step destroys data: files are moved out of the workspace and into it, so that every step
 * can be undone without additional disk space.
 */
export type Step =
  | { readonly kind: 'take_out'; readonly path: BytePath; readonly slot: number }
  | { readonly kind: 'remove_directory'; readonly path: BytePath; readonly attributes: Attributes }
  | { readonly kind: 'make_directory'; readonly path: BytePath }
  | { readonly kind: 'put_in'; readonly path: BytePath; readonly slot: number }
  | {
      readonly kind: 'set_attributes';
      readonly path: BytePath;
      /** Expected kind of the entry; an entry of another kind is not changed. */
      readonly of: Entry['kind'];
      readonly from: Attributes;
      readonly to: Attributes;
    };

/** Permission bits that the owner needs to change a directory: write and search. */
const OWNER_CAN_CHANGE = 0o300;
/** Mode of new directories: accessible only to the owner until they are filled. */
export const MADE_DIRECTORY_MODE = 0o700;

/** Lists the steps that apply the changes. */
function listSteps(
  changes: readonly Change[],
  current: Entries,
): { readonly steps: readonly Step[]; readonly contents: ReadonlyMap<number, Entry> } {
  const rewritten = changes.filter(({ status }) => status !== 'mode_changed');
  const removed = rewritten.flatMap(({ before }) => before ?? []);
  const added = rewritten.flatMap(({ after }) => after ?? []);
  const contents = new Map(added.filter(isContent).map((entry, slot) => [slot, entry]));
  const unlocked = directoriesToUnlock(rewritten, current);
  const isUnlocked = ({ path }: Entry) => unlocked.has(path);
  const steps: Step[] = [
    ...[...unlocked.values()].map((directory) => setAttributes(directory, attributesOf(directory), unlock(directory))),
    ...removed.filter(isContent).map(({ path }, slot): Step => ({ kind: 'take_out', path, slot })),
    ...deepestFirst(removed.filter(isDirectory)).map((entry): Step => {
      const attributes = isUnlocked(entry) ? unlock(entry) : attributesOf(entry);
      return { kind: 'remove_directory', path: entry.path, attributes };
    }),
    ...added.filter(isDirectory).map(({ path }): Step => ({ kind: 'make_directory', path })),
    ...[...contents].map(([slot, { path }]): Step => ({ kind: 'put_in', path, slot })),
    ...finalAttributes(changes, unlocked),
  ];
  return { steps, contents };
}

const isDirectory = ({ kind }: Entry): boolean => kind === 'directory';
const isContent = ({ kind }: Entry): boolean => kind !== 'directory';

const attributesOf = ({ mode, uid, gid }: Attributes): Attributes => ({ mode, uid, gid });
const unlock = ({ mode, uid, gid }: Attributes): Attributes => ({ mode: mode | OWNER_CAN_CHANGE, uid, gid });

function setAttributes({ path, kind }: Entry, from: Attributes, to: Attributes): Step {
  return { kind: 'set_attributes', path, of: kind, from, to: attributesOf(to) };
}

/** Directories are in path order, so that entries below a directory come after it. */
const deepestFirst = <T>(entries: readonly T[]): T[] => entries.toReversed();

/** The directories that contain changes and are not writable by their owner, parents first. */
function directoriesToUnlock(changes: readonly Change[], current: Entries): Entries {
  const parents = [...new Set(changes.map(({ path }) => parentOf(path)))].sort();
  const locked = parents.flatMap((path) => {
    const directory = current.get(path);
    const isLocked = directory?.kind === 'directory' && unlock(directory).mode !== directory.mode;
    return isLocked ? [directory] : [];
  });
  return new Map(locked.map((directory) => [directory.path, directory]));
}

/** Permissions are set last, the deepest directories first, since the changes they forbid are complete by then. */
function finalAttributes(changes: readonly Change[], unlocked: Entries): Step[] {
  const changed = new Set(changes.map(({ path }) => path));
  const relocked = [...unlocked.values()].filter(({ path }) => !changed.has(path));
  const steps = [
    ...relocked.map((directory) => setAttributes(directory, unlock(directory), directory)),
    ...changes.flatMap(({ path, status, before, after }) => {
      if (!after || (status !== 'mode_changed' && !isDirectory(after))) return [];
      const isMade = !before || status !== 'mode_changed';
      if (isMade) return [setAttributes(after, { ...attributesOf(after), mode: MADE_DIRECTORY_MODE }, after)];
      return [setAttributes(after, unlocked.has(path) ? unlock(before) : attributesOf(before), after)];
    }),
  ];
  return steps.sort((a, b) => (a.path < b.path ? 1 : -1));
}

/** A tree, and the parts of it that could not be saved. */
export interface SavedTree {
  readonly entries: Entries;
  readonly skipped: readonly Skipped[];
}

interface RestoreRequest extends CompareOptions {
  /** The current workspace, saved just before the restore. */
  readonly current: SavedTree;
  /** The saved state of the workspace to restore. */
  readonly target: SavedTree;
  /** Paths to restore, including everything below them; an empty path is the whole workspace. */
  readonly paths: ReadonlySet<BytePath>;
}

export interface RestorePlan {
  /** In execution order; undone in reverse order. */
  readonly steps: readonly Step[];
  /** Files and links to create, keyed by their number in the staging directory. */
  readonly contents: ReadonlyMap<number, Entry>;
  /** Paths that are restored, or get their old permissions. */
  readonly restored: readonly BytePath[];
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

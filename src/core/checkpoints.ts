import { mayMatch } from './policy/paths.js';

/**
 * A file name or path as its bytes, one character (U+0000 to U+00FF) for each: names on Linux need not be UTF-8, and
 * two different names must stay different. Paths are relative to the workspace, with `/` between names.
 */
export type BytePath = string;

/** Attributes of an entry that a checkpoint saves in addition to its content. */
export interface Attributes {
  /** Permission bits, up to 0o7777; 0o777 for links. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** A file, symbolic link or directory, in a checkpoint or in the workspace. */
export interface Entry extends Attributes {
  readonly path: BytePath;
  readonly kind: 'file' | 'link' | 'directory';
  /** Id of the blob with the content, or with the target of the link; empty for directories. */
  readonly object: string;
}

export type Entries<E extends Entry = Entry> = ReadonlyMap<BytePath, E>;

/**
 * Reasons for which an entry is excluded from checkpoints. Entries that were not saved are not changed by a restore
 * either.
 */
export const SKIP_REASONS = {
  git_directory: 'the repository of the user, which is theirs alone',
  unreadable: 'the daemon may not read it',
  special: 'a socket, named pipe or device',
  too_large: 'larger than `max_file_mb`',
  too_deep: 'below more directories than a checkpoint keeps',
  other_file_system: 'another file system is mounted there',
  changing: 'it did not hold still while it was read',
} as const;

export type SkipReason = keyof typeof SKIP_REASONS;

/** A path that is excluded from a checkpoint, including everything below it. */
export interface Skipped {
  readonly path: BytePath;
  readonly reason: SkipReason;
}

/** Most paths in a list of an answer; the count beside it includes all of them. */
export const MAX_LISTED_PATHS = 1000;

/** Path of the directory that contains an entry; empty for the workspace itself. */
export const parentOf = (path: BytePath): BytePath => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** The directories above an entry, the nearest first, without the workspace itself. */
export function ancestorsOf(path: BytePath): BytePath[] {
  const ancestors: BytePath[] = [];
  for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) ancestors.push(parent);
  return ancestors;
}

/** Whether a path is in a set of paths, or below one of them. An empty path in the set is the whole workspace. */
export function isWithin(path: BytePath, paths: ReadonlySet<BytePath>): boolean {
  return paths.has('') || paths.has(path) || ancestorsOf(path).some((ancestor) => paths.has(ancestor));
}

/** Byte order of paths: a directory precedes its entries. */
export const comparePaths = (a: BytePath, b: BytePath): number => (a < b ? -1 : a > b ? 1 : 0);

/** Difference of an entry between two trees. `mode_changed`: only its permissions or its owner. */
export type ChangeStatus = 'added' | 'modified' | 'deleted' | 'type_changed' | 'mode_changed';

export interface Change {
  readonly path: string;
  readonly status: ChangeStatus;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
}

export interface CompareOptions {
  /** Whether owners are compared: only root can set them. */
  readonly owners: boolean;
}

/** The differences between two trees, in path order. */
export function compareEntries(before: Entries, after: Entries, options: CompareOptions): Change[] {
  const changes: Change[] = [];
  for (const [path, entry] of before) {
    const other = after.get(path);
    const status = other ? differenceOf(entry, other, options) : 'deleted';
    if (status) changes.push({ path, status, before: entry, after: other });
  }
  for (const [path, entry] of after) {
    if (!before.has(path)) changes.push({ path, status: 'added', before: undefined, after: entry });
  }
  return changes.sort((a, b) => comparePaths(a.path, b.path));
}

function differenceOf(before: Entry, after: Entry, { owners }: CompareOptions): ChangeStatus | undefined {
  if (before.kind !== after.kind) return 'type_changed';
  if (before.object !== after.object) return 'modified';
  const isSame = before.mode === after.mode && (!owners || (before.uid === after.uid && before.gid === after.gid));
  return isSame ? undefined : 'mode_changed';
}

/**
 * The changes to report: a directory that was added or deleted together with its content is reported by its content.
 */
export function notableChanges(changes: readonly Change[], before: Entries, after: Entries): Change[] {
  const nonEmpty = new Set([...parentsIn(before), ...parentsIn(after)]);
  return changes.filter(({ path, status, before: old, after: now }) => {
    const isOnlyDirectory = (now ?? old)?.kind === 'directory' && (status === 'added' || status === 'deleted');
    return !isOnlyDirectory || !nonEmpty.has(path);
  });
}

function* parentsIn(entries: Entries): Generator<string> {
  for (const path of entries.keys()) yield parentOf(path);
}

/** A path that a checkpoint does not contain, with everything below it. Relative to the workspace. */
export interface Uncovered {
  readonly path: string;
  /** `own`: a file of the daemon itself. */
  readonly reason: SkipReason | 'own';
}

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

/**
 * Reasons for a checkpoint: requested by a client, or created automatically before a restore or a confirmed command.
 */
export const CHECKPOINT_KINDS = ['requested', 'before_restore', 'before_command'] as const;

export type CheckpointKind = (typeof CHECKPOINT_KINDS)[number];

interface DeletionCandidate {
  readonly id: string;
  readonly kind: CheckpointKind;
}

/**
 * The order in which checkpoints are deleted to make room: first the automatic ones, then the rest, the oldest first in
 * each group. Checkpoints that must be kept are not included.
 * @param checkpoints the oldest first
 */
export function dropOrder<C extends DeletionCandidate>(checkpoints: readonly C[], kept: ReadonlySet<string>): C[] {
  const candidates = checkpoints.filter(({ id }) => !kept.has(id));
  const isRequested = ({ kind }: DeletionCandidate) => kind === 'requested';
  return [...candidates.filter((one) => !isRequested(one)), ...candidates.filter(isRequested)];
}

/** The checkpoints to delete, so that at most `maxCount` remain. */
export function surplus<C extends DeletionCandidate>(
  checkpoints: readonly C[],
  maxCount: number,
  kept: ReadonlySet<string>,
): C[] {
  return dropOrder(checkpoints, kept).slice(0, Math.max(0, checkpoints.length - maxCount));
}

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

/** Entries by path. */
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

/** Reason for which an entry is excluded from checkpoints. */
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

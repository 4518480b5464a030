import { type BigIntStats, lstatSync } from 'node:fs';
import { relative } from 'node:path';

import type { BytePath, Entries, Entry, Skipped, SkipReason } from '../../../core/checkpoints.js';
import { AdapterError } from '../../../core/errors.js';
import { realPathOf } from '../../system/local-files.js';
import { fromText, toText } from '../git/git.js';
import type { HeldDirectory, Location } from './held-directory.js';
import { STAGING_PREFIX } from './staging.js';

/** Limits of checkpoints, from the configuration. */
export interface CheckpointLimits {
  /** Largest number of files and directories of a workspace. */
  readonly maxFiles: number;
  /** Largest size of a file, in bytes; larger files are left out. */
  readonly maxFileBytes: number;
  /** Largest total size of the files of a workspace, in bytes. */
  readonly maxWorkspaceBytes: number;
  /** Largest number of checkpoints that are kept. */
  readonly maxCount: number;
  /** Largest disk use of the checkpoints of a workspace, in bytes. */
  readonly maxStoreBytes: number;
}

/** An entry as found: its content is not known yet. */
export interface FoundEntry extends Omit<Entry, 'object'> {
  readonly size: number;
  readonly stat: StatFacts;
}

/** Facts that identify a file with unchanged content. Times in nanoseconds. */
export interface StatFacts {
  readonly ino: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** All entries of a workspace: directories before their contents. */
interface FoundTree {
  readonly entries: readonly FoundEntry[];
  readonly skipped: readonly Skipped[];
  /** Total size of the files. */
  readonly bytes: number;
}

export interface WalkOptions {
  readonly limits: Pick<CheckpointLimits, 'maxFiles' | 'maxFileBytes' | 'maxWorkspaceBytes'>;
  /** The daemon's own files, which are ignored. */
  readonly excluded: ReadonlySet<BytePath>;
}

/** Name of git repositories: the adapter has its own and does not read others. */
const GIT_DIRECTORY = '.git';
/** Each level uses a file descriptor during the walk; the longest path that programs can open has 2048 levels. */
const MAX_DEPTH = 400;

const PERMISSIONS = 0o7777n;

/**
 * Lists all entries in a directory without following links.
 * @throws AdapterError CHECKPOINT_TOO_LARGE, and the file system's error when the directory itself cannot be read.
 */
export function walk(root: HeldDirectory, options: WalkOptions): FoundTree {
  const walker = new Walker(root, options);
  walker.list(root, '', 0);
  const { entries, skipped, bytes } = walker;
  return { entries, skipped, bytes };
}

class Walker {
  readonly entries: FoundEntry[] = [];
  readonly skipped: Skipped[] = [];
  bytes = 0;
  readonly #options: WalkOptions;
  readonly #device: bigint;

  constructor(root: HeldDirectory, options: WalkOptions) {
    this.#options = options;
    this.#device = lstatSync(root.entry('.'), { bigint: true }).dev;
  }

  list(directory: HeldDirectory, prefix: BytePath, depth: number): void {
    for (const name of directory.names()) {
      const path = `${prefix}${name}`;
      if (this.#options.excluded.has(path) || path.startsWith(STAGING_PREFIX)) continue;
      try {
        const reason = name === GIT_DIRECTORY ? 'git_directory' : this.#take(directory, name, path, depth);
        if (reason) this.skipped.push({ path, reason });
      } catch (error) {
        const reason = reasonOf(error);
        if (reason) this.skipped.push({ path, reason });
      }
    }
  }

  /** Adds an entry with everything below it to the list; returns a reason when it cannot. */
  #take(directory: HeldDirectory, name: BytePath, path: BytePath, depth: number): SkipReason | undefined {
    const stat = lstatSync(directory.entry(name), { bigint: true });
    if (stat.isDirectory()) return this.#enter({ directory, name }, stat, path, depth);
    if (!stat.isFile() && !stat.isSymbolicLink()) return 'special';
    if (stat.size > this.#options.limits.maxFileBytes) return 'too_large';
    this.#add(path, stat.isFile() ? 'file' : 'link', stat);
    return undefined;
  }

  #enter(location: Location, stat: BigIntStats, path: BytePath, depth: number): SkipReason | undefined {
    if (stat.dev !== this.#device) return 'other_file_system';
    if (depth >= MAX_DEPTH) return 'too_deep';
    using inner = location.directory.openDirectory(location.name);
    this.#add(path, 'directory', stat);
    this.list(inner, `${path}/`, depth + 1);
    return undefined;
  }

  #add(path: BytePath, kind: Entry['kind'], stat: BigIntStats): void {
    const size = kind === 'directory' ? 0 : Number(stat.size);
    this.entries.push({
      path,
      kind,
      mode: Number(stat.mode & PERMISSIONS),
      uid: Number(stat.uid),
      gid: Number(stat.gid),
      size,
      stat: factsOf(stat),
    });
    this.bytes += size;
    const { maxFiles, maxWorkspaceBytes } = this.#options.limits;
    if (this.entries.length > maxFiles) throw tooLarge('max_files', maxFiles, 'files and directories', path);
    if (this.bytes > maxWorkspaceBytes) throw tooLarge('max_workspace_mb', maxWorkspaceBytes, 'bytes', path);
  }
}

/** Returns the parts of a file's status that show whether it has changed. */
export const factsOf = ({ ino, mtimeNs, ctimeNs }: BigIntStats): StatFacts => ({ ino, mtimeNs, ctimeNs });

/** Returns the reason why an entry cannot be read; undefined when it has been removed meanwhile. */
export function reasonOf(error: unknown): SkipReason | undefined {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return undefined;
    case 'ENOTDIR':
    case 'ELOOP':
      // Replaced by something else since lstat(2).
      return 'changing';
    case 'ENAMETOOLONG':
      // Where directories are not held, paths are as long as the tree is deep.
      return 'too_deep';
    case 'EACCES':
    case 'EPERM':
    case 'EIO':
    case 'ESTALE':
      return 'unreadable';
    default:
      throw error;
  }
}

function tooLarge(limit: string, max: number, unit: string, path: BytePath): AdapterError {
  const message = `the workspace has more than ${max} ${unit} (checkpoints.${limit}): no checkpoint of it can be made`;
  return new AdapterError('CHECKPOINT_TOO_LARGE', message, {
    details: { limit: `checkpoints.${limit}`, max, reached_at: toText(path) },
  });
}

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

/** Replaces bytes that are not UTF-8. */
const REPLACEMENT = '\uFFFD';

/**
 * Resolves the paths of a request. Clients see bytes that are not UTF-8 as U+FFFD: such a path matches all entries with
 * the same text.
 * @throws AdapterError INVALID_REQUEST for a path that is neither in the checkpoint nor in the workspace
 */
export function namedPaths(paths: readonly BytePath[], target: Entries, current: Entries): BytePath[] {
  return paths.flatMap((path) => {
    if (path === '' || target.has(path) || current.has(path)) return [path];
    const text = toText(path);
    const alike = text.includes(REPLACEMENT)
      ? [...new Set([...target.keys(), ...current.keys()])].filter((other) => toText(other) === text)
      : [];
    if (alike.length > 0) return alike;
    const message = `paths: ${text} is neither in the checkpoint nor in the workspace`;
    throw new AdapterError('INVALID_REQUEST', message, { details: { field: 'paths', path: text } });
  });
}

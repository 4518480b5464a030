import { type BigIntStats, lstatSync } from 'node:fs';

import type { BytePath, Entry, Skipped, SkipReason } from '../../../core/checkpoints/entry.js';
import { AdapterError } from '../../../core/errors.js';
import { toText } from '../git/byte-path.js';
import type { HeldDirectory, Location } from './held-directory.js';
import type { CheckpointLimits } from './limits.js';
import { STAGING_PREFIX } from './staging.js';

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
export interface FoundTree {
  readonly entries: readonly FoundEntry[];
  readonly skipped: readonly Skipped[];
  /** Total size of the files. */
  readonly bytes: number;
}

/** Options of a walk. */
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

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { type CheckpointKind, comparePaths } from '../../../core/checkpoints.js';
import { AdapterError } from '../../../core/errors.js';
import { writePrivateFile } from '../../system/local-files.js';
import { Git, type GitOptions } from './git.js';

/** Facts about a checkpoint that do not require reading its contents. */
export interface CheckpointFacts {
  readonly id: string;
  readonly kind: CheckpointKind;
  /** Owner of the checkpoint; opaque to the store. */
  readonly owner: string;
  readonly label: string | null;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** Files and links. */
  readonly files: number;
  /** Total size of their contents. */
  readonly bytes: number;
}

/** A checkpoint and the commit that holds it. */
export interface StoredCheckpoint extends CheckpointFacts {
  readonly commit: string;
}

/** Owner of checkpoints from versions without owners. */
const FIRST_OWNER = 'local';

const REFS = 'refs/checkpoints';
/** The commit with which the cache of file ids was created: as long as it exists, so do the contents. */
const CACHED_REF = 'refs/cached';

/** Larger files are neither compared as text nor stored as deltas: that would take much memory. */
const BIG_FILE = '16m';

/**
 * Rewritten when it differs, so that it always matches this version. git reads no other configuration files. Objects
 * are flushed to disk before a ref to them: the machine may lose its power right after a checkpoint.
 */
const CONFIG = `[core]
	repositoryformatversion = 0
	bare = true
	hooksPath = /dev/null
	attributesFile = /dev/null
	excludesFile = /dev/null
	fsmonitor = false
	quotePath = false
	compression = 1
	fsync = committed,loose-object
	bigFileThreshold = ${BIG_FILE}
	protectNTFS = false
	protectHFS = false
	precomposeUnicode = false
[gc]
	auto = 0
[maintenance]
	auto = false
[pack]
	window = 0
	threads = 1
`;

/** The repository with the checkpoints of one workspace. Must be used by one process at a time. */
export class Repository {
  readonly git: Git;
  readonly #directory: string;

  private constructor(options: GitOptions) {
    this.git = new Git(options);
    this.#directory = options.directory;
  }

  /**
   * Opens the repository, and creates it when it does not exist.
   * @throws AdapterError GIT_NOT_FOUND, CHECKPOINT_FAILED, RESOURCE_EXHAUSTED
   */
  static async open(options: GitOptions): Promise<Repository> {
    const { directory } = options;
    if (!existsSync(directory)) await create(options);
    else renewConfiguration(directory);
    return new Repository(options);
  }

  /** Opens the repository if it exists. */
  static openExisting(options: GitOptions): Repository | undefined {
    return existsSync(options.directory) ? new Repository(options) : undefined;
  }

  /** Removes leftovers of killed git processes: locks, and unfinished files. */
  clean(): void {
    for (const file of readdirSync(this.#directory, { recursive: true, encoding: 'utf8' })) {
      const isLeftover = /\.(?:lock|new)$|(^|\/)(tmp_[^/]*|\.tmp-[^/]*|fast_import_crash_\d+)$/.test(file);
      if (isLeftover) rmSync(join(this.#directory, file), { force: true, recursive: true });
    }
  }

  /** Returns the checkpoints, the oldest first. */
  async list(): Promise<StoredCheckpoint[]> {
    const format = '%(refname:lstrip=2)%00%(objectname)%00%(contents:subject)';
    const lines = (await this.git.run(['for-each-ref', `--format=${format}`, `${REFS}/`])).toString().split('\n');
    const checkpoints = lines.filter(Boolean).map((line): StoredCheckpoint => {
      const [id = '', commit = '', facts = ''] = line.split('\0');
      const known = JSON.parse(facts) as Omit<CheckpointFacts, 'id' | 'owner'> & { readonly owner?: string };
      return { id, commit, ...known, owner: known.owner ?? FIRST_OWNER };
    });
    return checkpoints.sort((a, b) => comparePaths(a.createdAt, b.createdAt));
  }

  /**
   * Returns a checkpoint of one owner, or of any. Checkpoints of other owners are treated as missing.
   * @throws AdapterError CHECKPOINT_NOT_FOUND
   */
  async find(id: string, owner: string | null): Promise<StoredCheckpoint> {
    const found = (await this.list()).find((checkpoint) => checkpoint.id === id && isOf(checkpoint, owner));
    if (found) return found;
    throw new AdapterError('CHECKPOINT_NOT_FOUND', `there is no checkpoint ${id} of this workspace`, {
      details: { checkpoint_id: id },
    });
  }

  /** Creates a commit of a tree; without a ref, the next repack removes it. */
  async commit(tree: string, facts: Omit<CheckpointFacts, 'id'>): Promise<string> {
    return (await this.git.run(['commit-tree', tree], JSON.stringify(facts))).toString().trim();
  }

  /** Creates the ref that makes a commit a checkpoint. */
  async name(id: string, commit: string): Promise<void> {
    await this.git.run(['update-ref', `${REFS}/${id}`, commit]);
  }

  /** Keeps the contents of a commit until another one is kept this way. */
  async keepCached(commit: string): Promise<void> {
    await this.git.run(['update-ref', CACHED_REF, commit]);
  }

  /** Returns the commit that is kept this way; empty for none. */
  async cached(): Promise<string> {
    return (await this.git.run(['for-each-ref', '--format=%(objectname)', CACHED_REF])).toString().trim();
  }

  /** Removes checkpoints. Their contents are removed by the next repack. */
  async drop(checkpoints: readonly StoredCheckpoint[]): Promise<void> {
    if (checkpoints.length === 0) return;
    await this.git.run(['update-ref', '--stdin'], checkpoints.map(({ id }) => `delete ${REFS}/${id}\n`).join(''));
  }

  /** Fails when an object of a commit is missing. */
  async verify(commit: string): Promise<void> {
    await this.git.run(['rev-list', '--objects', '--quiet', '--max-count=1', commit]);
  }

  /** Returns the disk use of the repository, and the number of its objects and packs. */
  async size(): Promise<{ readonly bytes: number; readonly looseObjects: number; readonly packs: number }> {
    const text = (await this.git.run(['count-objects', '-v'])).toString();
    const numberOf = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    const bytes = (numberOf('size') + numberOf('size-pack') + numberOf('size-garbage')) * 1024;
    return { bytes, looseObjects: numberOf('count'), packs: numberOf('packs') };
  }

  /** Packs everything that is needed into one file and removes what no checkpoint needs. */
  async repack(): Promise<void> {
    await this.git.run(['repack', '-a', '-d', '-q']);
    await this.git.run(['prune', '--expire=now']);
  }
}

/** Whether a checkpoint belongs to an owner; null matches all owners. */
export const isOf = (checkpoint: CheckpointFacts, owner: string | null): boolean =>
  owner === null || checkpoint.owner === owner;

/** Replaces a configuration that an earlier version has written, or that a command has modified. */
function renewConfiguration(directory: string): void {
  const file = join(directory, 'config');
  if (existsSync(file) && readFileSync(file, 'utf8') === CONFIG) return;
  writePrivateFile(file, CONFIG);
}

/** Creates a repository atomically. */
async function create({ program, directory }: GitOptions): Promise<void> {
  const unfinished = `${directory}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  await new Git({ program, directory: unfinished }).run(['init', '--quiet', '--bare', '--template=', unfinished]);
  writeFileSync(join(unfinished, 'config'), CONFIG, { mode: 0o600 });
  mkdirSync(dirname(directory), { recursive: true, mode: 0o700 });
  renameSync(unfinished, directory);
}

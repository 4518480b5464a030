import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import {
  compareEntries,
  dropOrder,
  isWithin,
  MAX_LISTED_PATHS,
  notableChanges,
  type Skipped,
  surplus,
} from '../../core/checkpoints.js';
import { planRestore } from '../../core/restore.js';
import { AdapterError } from '../../core/errors.js';
import { platformOf } from '../platform/choose-platform.js';
import { withLock } from '../instance/file-lock.js';
import type { Directories } from '../platform/platform.js';
import { readSavedTree, type Snapshot, takeSnapshot } from './snapshot.js';
import { namedPaths, pathsWithin } from './files/walk.js';
import { CAN_SET_OWNERS } from './files/staging.js';
import { StatCache } from './files/stat-cache.js';
import { toText } from './git/git.js';
import { countLines, makePatch } from './git/diff.js';
import { type CheckpointFacts, isOf, Repository, type StoredCheckpoint } from './git/repository.js';
import {
  type ChangedPath,
  type Job,
  type JobOf,
  type JobResults,
  type Listed,
  LOCK_WAIT_MS,
  type SavedCheckpoint,
  type SkippedPath,
  type StoreOptions,
} from './job.js';
import { applyRestore, ensureDirectory, type Journal, journalOf, recover } from './restore.js';

/** The first of all, and how many there are. */
const listed = <T>(all: readonly T[]): Listed<T> => ({
  shown: all.slice(0, MAX_LISTED_PATHS),
  count: all.length,
});

/** The same of paths that are not in a checkpoint. */
const listedSkipped = (skipped: readonly Skipped[]): Listed<SkippedPath> =>
  listed(skipped.map(({ path, reason }) => ({ path: toText(path), reason })));

/** Numbers of loose objects and packs above which they are repacked, because they slow git down. */
const MAX_LOOSE_OBJECTS = 5000;
const MAX_PACKS = 20;

/** Owner of a capture for a comparison, which gets no ref. */
const NO_OWNER = '';

/** The workspace in the repository, not yet a checkpoint. */
interface Captured {
  readonly snapshot: Snapshot;
  readonly commit: string;
  readonly facts: Omit<CheckpointFacts, 'id'>;
}

/** The checkpoints of one workspace. Used by one process at a time; others wait. */
class CheckpointStore {
  readonly #options: StoreOptions;
  readonly #repository: Repository;
  readonly #journal: Journal;
  readonly #cacheFile: string;

  private constructor(options: StoreOptions, repository: Repository) {
    this.#options = options;
    this.#repository = repository;
    this.#journal = journalOf(options.directory);
    this.#cacheFile = join(options.directory, 'cache.json');
  }

  /** Runs an operation on the store under its lock; first ends an interrupted restore. */
  static async use<T>(options: StoreOptions, work: (store: CheckpointStore) => Promise<T>): Promise<T> {
    mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    const platform = platformOf(options.platform);
    const run = async () => {
      removeUnfinished(options.directory);
      const repository = await Repository.open(repositoryOf(options));
      repository.clean();
      const store = new CheckpointStore(options, repository);
      recover(options.workspace, store.#journal, platform.directories);
      return work(store);
    };
    return withLock(lockOf(options), platform, run, waitIn(options));
  }

  /** Lists the checkpoints of an owner, the oldest first; does not require the lock. */
  static async list(options: StoreOptions, { scope }: JobOf<'list'>): Promise<readonly CheckpointFacts[]> {
    const checkpoints = await Repository.openExisting(repositoryOf(options))?.list();
    return (checkpoints ?? []).filter((checkpoint) => isOf(checkpoint, scope)).map(factsOf);
  }

  /** Ends an interrupted restore, and returns what was found. */
  static async recover(options: StoreOptions): Promise<JobResults['recover']> {
    const { workspace, directory } = options;
    const platform = platformOf(options.platform);
    const run = () => recover(workspace, journalOf(directory), platform.directories);
    return withLock(lockOf(options), platform, run, waitIn(options));
  }

  /** Saves the workspace. */
  async save({ id, label, reason, owner }: JobOf<'save'>): Promise<SavedCheckpoint> {
    const captured = await this.#capture({ label, kind: reason, owner });
    const checkpoint = await this.#name(id, captured);
    return { ...checkpoint, dropped: await this.#makeRoom(new Set([id]), owner), isUntidy: await this.#isUntidy() };
  }

  /** Compares a checkpoint (before) with the workspace (after). */
  async diff({ id, scope, paths, format, limits, render }: JobOf<'diff'>): Promise<JobResults['diff']> {
    const checkpoint = await (id === null ? this.#newest(scope) : this.#repository.find(id, scope));
    const target = await readSavedTree(this.#repository.git, checkpoint.commit);
    const { snapshot, commit } = await this.#capture({ label: null, kind: 'requested', owner: NO_OWNER });
    const named = namedPaths(paths, target.entries, snapshot.entries);
    const wanted = new Set(named);
    const all = compareEntries(target.entries, snapshot.entries, { owners: CAN_SET_OWNERS });
    const changes = notableChanges(all, target.entries, snapshot.entries).filter(({ path }) => isWithin(path, wanted));
    const commits = { before: checkpoint.commit, after: commit, paths: named };
    const { git } = this.#repository;
    const counts = format === 'stat' ? await countLines(git, commits) : undefined;
    const reported = changes.map(({ path, status, before, after }): ChangedPath => {
      const isDirectory = (after ?? before)?.kind === 'directory';
      return { path: `${toText(path)}${isDirectory ? '/' : ''}`, status, ...counts?.get(path) };
    });
    const patch = format === 'patch' ? await makePatch(git, commits, limits, render) : undefined;
    return { checkpointId: checkpoint.id, changes: listed(reported), patch };
  }

  /** Restores the workspace; saves its current state first. */
  async restore({ id, scope, owner, paths, undoId }: JobOf<'restore'>): Promise<JobResults['restore']> {
    const { workspace } = this.#options;
    const checkpoint = await this.#repository.find(id, scope);
    const target = await readSavedTree(this.#repository.git, checkpoint.commit);
    try {
      ensureDirectory(workspace);
    } catch (error) {
      throw asWorkspaceFailure(error, workspace);
    }
    const captured = await this.#capture({ label: `before the restore of ${id}`, kind: 'before_restore', owner });
    const current = captured.snapshot;
    const wanted = new Set(namedPaths(paths, target.entries, current.entries));
    const plan = planRestore({ current, target, paths: wanted, owners: CAN_SET_OWNERS });
    const undoCheckpoint = await this.#name(undoId, captured);
    // Before the restore: one that fails has created a checkpoint as well.
    const dropped = await this.#makeRoom(new Set([id, undoId]), owner);
    await applyRestore({
      workspace,
      directories: this.#directories,
      git: this.#repository.git,
      journal: this.#journal,
      plan,
      current: current.entries,
      undoCheckpoint: undoId,
      token: undoId,
    });
    return {
      restored: listed(plan.restored.map(toText)),
      removed: listed(plan.removed.map(toText)),
      skipped: listedSkipped(plan.skipped),
      undoCheckpoint: { ...undoCheckpoint, dropped, isUntidy: await this.#isUntidy() },
    };
  }

  /** Frees space, and drops checkpoints until the rest fit into the limit. The newest one stays. */
  async tidy(): Promise<JobResults['tidy']> {
    const dropped: StoredCheckpoint[] = [];
    const { maxStoreBytes } = this.#options.limits;
    if (await this.#isUntidy()) await this.#repository.repack();
    while ((await this.#repository.size()).bytes > maxStoreBytes) {
      const checkpoints = await this.#repository.list();
      const candidates = dropOrder(checkpoints, new Set(checkpoints.slice(-1).map(({ id }) => id)));
      // The size of a single checkpoint is unknown, since they share common objects.
      const next = candidates.slice(0, Math.ceil(candidates.length / 4));
      if (next.length === 0) break;
      await this.#repository.drop(next);
      dropped.push(...next);
      await this.#repository.repack();
    }
    return { dropped: dropped.map(({ id }) => id) };
  }

  async #isUntidy(): Promise<boolean> {
    const { bytes, looseObjects, packs } = await this.#repository.size();
    return looseObjects > MAX_LOOSE_OBJECTS || packs > MAX_PACKS || bytes > this.#options.limits.maxStoreBytes;
  }

  /**
   * Stores the workspace in the repository, where it stays until the next capture. Cached contents are not read again.
   */
  async #capture(purpose: Pick<CheckpointFacts, 'label' | 'kind' | 'owner'>): Promise<Captured> {
    const cache = StatCache.load(this.#cacheFile, await this.#repository.cached());
    try {
      return await this.#captureWith(cache, purpose);
    } catch (error) {
      if (cache.isEmpty || !(error instanceof AdapterError) || error.code !== 'CHECKPOINT_FAILED') throw error;
      // Cached contents are missing in the repository, for example after a disk failure.
      return this.#captureWith(new StatCache(0), purpose);
    }
  }

  async #captureWith(cache: StatCache, purpose: Pick<CheckpointFacts, 'label' | 'kind' | 'owner'>): Promise<Captured> {
    const repository = this.#repository;
    const snapshot = await this.#snapshot(cache);
    const { files, bytes } = snapshot;
    const facts = { ...purpose, createdAt: new Date().toISOString(), files, bytes };
    const commit = await repository.commit(snapshot.tree, facts);
    await repository.verify(commit);
    await repository.keepCached(commit);
    snapshot.cache.save(this.#cacheFile, commit);
    return { snapshot, commit, facts };
  }

  get #directories(): Directories {
    return platformOf(this.#options.platform).directories;
  }

  async #snapshot(cache: StatCache): Promise<Snapshot> {
    const { workspace, limits, excluded } = this.#options;
    try {
      const own = pathsWithin(workspace, excluded);
      const [repository, directories] = [this.#repository, this.#directories];
      return await takeSnapshot({ workspace, directories, limits, repository, excluded: own, cache });
    } catch (error) {
      throw asWorkspaceFailure(error, workspace);
    }
  }

  /** Turns a capture into a checkpoint. */
  async #name(
    id: string,
    { snapshot, commit, facts }: Captured,
  ): Promise<Omit<SavedCheckpoint, 'dropped' | 'isUntidy'>> {
    await this.#repository.name(id, commit);
    return { id, ...facts, skipped: listedSkipped(snapshot.skipped) };
  }

  /** Drops surplus checkpoints; returns only the ids of those of this owner. */
  async #makeRoom(kept: ReadonlySet<string>, owner: string): Promise<string[]> {
    const old = surplus(await this.#repository.list(), this.#options.limits.maxCount, kept);
    await this.#repository.drop(old);
    return old.filter((checkpoint) => isOf(checkpoint, owner)).map(({ id }) => id);
  }

  async #newest(scope: string | null): Promise<StoredCheckpoint> {
    const newest = (await this.#repository.list()).filter((checkpoint) => isOf(checkpoint, scope)).at(-1);
    if (newest) return newest;
    throw new AdapterError('CHECKPOINT_NOT_FOUND', 'there is no checkpoint of this workspace yet');
  }
}

const lockOf = ({ directory }: StoreOptions): string => join(directory, 'lock');

/** The lock is exclusive against a second daemon, and a worker that a killed one has left. */
const waitIn = (options: StoreOptions) => ({
  waitMs: options.lockWaitMs ?? LOCK_WAIT_MS,
  busy: (pid: number | undefined) => {
    const message = `another process (${pid ?? 'unknown'}) works on the checkpoints of this workspace`;
    return new AdapterError('CHECKPOINT_FAILED', message, { details: { lock: lockOf(options) } });
  },
});

/** Removes what a killed process has begun to write: see `writePrivateFile`, and `Repository.open`. */
function removeUnfinished(directory: string): void {
  for (const name of readdirSync(directory).filter((each) => each.endsWith('.new'))) {
    rmSync(join(directory, name), { recursive: true, force: true });
  }
}

const repositoryOf = ({ git, directory }: StoreOptions) => ({ program: git, directory: join(directory, 'git') });

const factsOf = ({ id, kind, owner, label, createdAt, files, bytes }: StoredCheckpoint): CheckpointFacts => {
  return { id, kind, owner, label, createdAt, files, bytes };
};

function asWorkspaceFailure(error: unknown, workspace: string): unknown {
  if (error instanceof AdapterError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined || !['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM'].includes(code)) return error;
  return new AdapterError('BAD_DIRECTORY', `the workspace ${workspace} cannot be read: ${message}`, {
    details: { directory: workspace, errno: code },
    cause: error,
  });
}

/**
 * Runs a job, in this process.
 * @throws AdapterError
 */
export async function runJob(job: Job, options: StoreOptions): Promise<JobResults[Job['kind']]> {
  try {
    return await start(job, options);
  } catch (error) {
    throw asAdapterError(error);
  }
}

function start(job: Job, options: StoreOptions): Promise<JobResults[Job['kind']]> {
  switch (job.kind) {
    case 'list':
      return CheckpointStore.list(options, job);
    case 'recover':
      return CheckpointStore.recover(options);
    case 'save':
      return CheckpointStore.use(options, (store) => store.save(job));
    case 'diff':
      return CheckpointStore.use(options, (store) => store.diff(job));
    case 'restore':
      return CheckpointStore.use(options, (store) => store.restore(job));
    case 'tidy':
      return CheckpointStore.use(options, (store) => store.tidy());
  }
}

/**
 * Converts system errors: mostly those of the disk with the checkpoints, since unreadable workspace entries are
 * skipped.
 */
function asAdapterError(error: unknown): AdapterError {
  if (error instanceof AdapterError) return error;
  const { code, message }: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error));
  if (code !== undefined && ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM'].includes(code)) {
    return new AdapterError('RESOURCE_EXHAUSTED', `the machine is out of resources: ${message}`, {
      details: { errno: code },
      cause: error,
    });
  }
  return new AdapterError('CHECKPOINT_FAILED', message, { details: { errno: code ?? null }, cause: error });
}

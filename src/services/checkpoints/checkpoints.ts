import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename, join, posix } from 'node:path';

import { canAccess, type Principal } from '../../core/principal.js';
import type { BytePath, Uncovered } from '../../core/checkpoints.js';
import { AdapterError } from '../../core/errors.js';
import { checkpointIdFrom, ID_BYTES, type IdOptions } from '../../core/ids.js';
import type { Log } from '../../core/log.js';
import type { OutputLimits } from '../../core/output/output-window.js';
import type { PlatformName } from '../../core/platform.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { CheckpointInfo } from '../../core/protocol/results.js';
import { type CheckpointLimits, pathsWithin } from '../../engine/checkpoints/files/walk.js';
import { fromText, toText } from '../../engine/checkpoints/git/git.js';
import type { CheckpointFacts } from '../../engine/checkpoints/git/repository.js';
import {
  type Job,
  type JobOf,
  type JobResults,
  type Listed,
  LOCK_WAIT_MS,
  type RunJob,
  type SavedCheckpoint,
  type StoreOptions,
} from '../../engine/checkpoints/job.js';
import { hasInterruptedRestore } from '../../engine/checkpoints/restore.js';
import { findProgram } from '../../engine/shells/list.js';
import { Turns } from '../../engine/system/promises.js';
import { randomBytes } from '../../engine/system/random.js';
import { styleOf } from '../registry/command-record.js';
import { outputLimitsOf } from '../registry/rendered-limits.js';

const infoOf = ({ id, kind, label, createdAt, files, bytes }: CheckpointFacts): CheckpointInfo => {
  return { checkpoint_id: id, kind, label, created_at: createdAt, files, bytes };
};

const savedAnswer = (saved: SavedCheckpoint): Answer<'checkpoint_workspace'> => {
  return { ...infoOf(saved), ...listAnswer('skipped', saved.skipped), dropped: [...saved.dropped] };
};

/** The fields `NAME` and `NAME_count`. */
function listAnswer<N extends string, T>(name: N, { shown, count }: Listed<T>) {
  return { [name]: [...shown], [`${name}_count`]: count } as Record<N, T[]> & Record<`${N}_count`, number>;
}

/** The fields about a patch, which exist without one as well. */
function patchAnswer(patch: JobResults['diff']['patch'], encoding: Answer<'diff_workspace'>['encoding']) {
  if (!patch) return { patch: null, original_patch_size: null, patch_truncated: false, encoding, lossy: false };
  return {
    patch: patch.text,
    original_patch_size: patch.characters,
    ...(patch.lines !== undefined && { original_patch_lines: patch.lines }),
    patch_truncated: patch.isTruncated,
    encoding,
    lossy: encoding === 'utf8' && patch.isLossy,
  };
}

/** An owner id that no principal has. */
const EVERYBODY = '';

interface Owned {
  readonly id: string;
  readonly owner: string;
}

/** Remembers the newest checkpoint of each owner. They are listed once, when the first principal asks. */
class NewestCheckpoints {
  readonly #list: () => Promise<readonly Owned[]>;
  readonly #byOwner = new Map<string, string>();
  #newest: string | undefined;
  #loading: Promise<void> | undefined;

  /** @param list lists all checkpoints, the oldest first */
  constructor(list: () => Promise<readonly Owned[]>) {
    this.#list = list;
  }

  /** The newest checkpoint that a principal may see, as far as it is known; null if none is. Begins to list them. */
  of(principal: Principal): string | null {
    void this.load();
    const known = canAccess(principal, EVERYBODY, 'see') ? this.#newest : this.#byOwner.get(principal.id);
    return known ?? null;
  }

  note({ id, owner }: Owned): void {
    this.#byOwner.set(owner, id);
    this.#newest = id;
  }

  /** Lists the checkpoints, once; never rejects. Without git there are none. */
  load(): Promise<void> {
    return (this.#loading ??= this.#list().then(
      (checkpoints) => {
        const later = [...this.#byOwner].map(([owner, id]) => ({ owner, id }));
        const newest = this.#newest;
        for (const checkpoint of [...checkpoints, ...later]) this.note(checkpoint);
        this.#newest = newest ?? this.#newest;
      },
      () => undefined,
    ));
  }
}

/** Maximum number of waiting or running requests: each takes time in proportion to the files of the workspace. */
const MAX_WAITING = 32;

interface CheckpointsOptions extends IdOptions {
  /** Absolute path. The directory has to exist on construction. */
  readonly workspace: string;
  /** Parent directory of the stores of all workspaces. */
  readonly directory: string;
  /** Absolute paths of the daemon's own files. */
  readonly excluded: readonly string[];
  /** PATH in which git is looked up. */
  readonly path: string;
  readonly limits: () => CheckpointLimits;
  readonly platform: PlatformName;
  readonly run: RunJob;
  /** Default limits on a patch in an answer. */
  readonly output: () => OutputLimits;
  readonly log: Log;
}

/** Runs jobs on a workspace and its store of checkpoints: one at a time, those that change or read the files. */
class WorkspaceJobs {
  readonly #options: CheckpointsOptions;
  /** The workspace with symbolic links resolved; it may be deleted later. */
  readonly workspace: string;
  /** Directory of its checkpoints. */
  readonly store: string;
  readonly #turns = new Turns();
  #waiting = 0;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
    this.workspace = realpathSync(options.workspace);
    this.store = join(options.directory, storeName(this.workspace));
  }

  /**
   * Runs a job after the jobs queued before it.
   * @throws AdapterError RESOURCE_EXHAUSTED when too many wait; and as `run`
   */
  async inTurn<K extends Job['kind']>(job: JobOf<K>): Promise<JobResults[K]> {
    if (this.#waiting >= MAX_WAITING) {
      const message = `${MAX_WAITING} requests wait for the workspace to be saved, compared or restored already`;
      throw new AdapterError('RESOURCE_EXHAUSTED', message, { details: { waiting: MAX_WAITING } });
    }
    this.#waiting += 1;
    const queuedAt = performance.now();
    try {
      return await this.#turns.take(() => this.run(job, queuedAt));
    } finally {
      this.#waiting -= 1;
    }
  }

  /**
   * Runs a job at once.
   * @param since when the job was queued: those that wait for the lock of another process do not wait one after another
   * @throws AdapterError GIT_NOT_FOUND, and the errors of the job
   */
  async run<K extends Job['kind']>(job: JobOf<K>, since = performance.now()): Promise<JobResults[K]> {
    const { path, excluded, limits, run, platform } = this.#options;
    const git = findProgram('git', path);
    if (git === undefined) {
      throw new AdapterError('GIT_NOT_FOUND', `checkpoints need git, which is not on PATH (${path})`);
    }
    const options: StoreOptions = {
      git,
      workspace: this.workspace,
      directory: this.store,
      excluded,
      limits: limits(),
      lockWaitMs: Math.max(0, LOCK_WAIT_MS - (performance.now() - since)),
      platform,
    };
    return run(job, options);
  }
}

/**
 * The store of a workspace does not depend on the configuration that names it. The first part of the name is for
 * people.
 */
function storeName(workspace: string): string {
  const hash = createHash('sha256').update(workspace).digest('hex').slice(0, 16);
  const name = basename(workspace)
    .replaceAll(/[^A-Za-z0-9_-]/g, '')
    .slice(0, 40);
  return `${name || 'workspace'}-${hash}`;
}

/**
 * Converts paths of a request to paths relative to the workspace. Without paths, returns the workspace itself, which is
 * the empty path. Links are not followed: a path names the link, not its target.
 * @param workspace absolute paths of the workspace, which differ when symbolic links lead to it
 * @throws AdapterError INVALID_REQUEST for a path outside of the workspace, or in a git directory
 */
export function workspacePaths(paths: readonly string[] | undefined, workspace: readonly string[]): BytePath[] {
  return (paths ?? ['.']).map((path) => fromText(relativePath(path, workspace)));
}

function relativePath(path: string, workspace: readonly string[]): string {
  // As in a shell, a trailing slash only says that the path is a directory.
  const normal = posix.normalize(path).replace(/(?<=.)\/$/, '');
  const inside = posix.isAbsolute(normal)
    ? workspace.map((root) => posix.relative(root, normal)).find((relative) => !leadsOut(relative))
    : normal;
  if (inside === undefined || leadsOut(inside)) throw refusal(path, 'is outside of the workspace');
  if (inside.split('/').includes('.git')) throw refusal(path, 'is in a git directory, which checkpoints do not have');
  return inside === '.' ? '' : inside;
}

const leadsOut = (relative: string): boolean => relative === '..' || relative.startsWith('../');

function refusal(path: string, why: string): AdapterError {
  return new AdapterError('INVALID_REQUEST', `paths: ${path} ${why}`, { details: { field: 'paths', path } });
}

/** A checkpoint that was saved before a command. */
export interface SavedBefore {
  readonly id: string;
  /** What it does not contain. */
  readonly uncovered: readonly Uncovered[];
  /** Whether all of that is listed. */
  readonly isComplete: boolean;
}

/** Saves, compares and restores the workspace, one job at a time. */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #jobs: WorkspaceJobs;
  /** The newest ones, for those that only want to know what to compare with. */
  readonly newest = new NewestCheckpoints(() => this.#jobs.run({ kind: 'list', scope: null }));

  constructor(options: CheckpointsOptions) {
    this.#options = options;
    this.#jobs = new WorkspaceJobs(options);
    if (hasInterruptedRestore(this.#jobs.store)) void this.#recover();
  }

  /** Saves a checkpoint on request of a client. */
  async save(
    { label }: Request<'checkpoint_workspace'>,
    principal: Principal,
  ): Promise<Answer<'checkpoint_workspace'>> {
    return savedAnswer(await this.#save(label ?? null, 'requested', principal));
  }

  /**
   * Saves a checkpoint before a possibly destructive command, with which the command's effects can be undone. Such
   * checkpoints are the first to be dropped when room is needed. The caller decides about the command when
   * this fails.
   * @throws AdapterError the same errors as `checkpoint_workspace`
   */
  async saveBeforeCommand(label: string, principal: Principal): Promise<SavedBefore> {
    const { id, skipped } = await this.#save(label, 'before_command', principal);
    const own = [...pathsWithin(this.#jobs.workspace, this.#options.excluded)].map(toText);
    const uncovered = [...skipped.shown, ...own.map((path) => ({ path, reason: 'own' as const }))];
    return { id, uncovered, isComplete: skipped.count === skipped.shown.length };
  }

  /** The workspace with symbolic links resolved. */
  get workspace(): string {
    return this.#jobs.workspace;
  }

  /**
   * Lists the checkpoints that a principal may see. Does not wait for other jobs.
   * @throws AdapterError GIT_NOT_FOUND, CHECKPOINT_FAILED
   */
  async list(principal: Principal): Promise<Answer<'list_checkpoints'>> {
    const checkpoints = await this.#jobs.run({ kind: 'list', scope: scopeOf(principal) });
    return { checkpoints: checkpoints.map(infoOf) };
  }

  /**
   * Compares the workspace with a checkpoint, by default the newest one that the principal may see.
   * @throws AdapterError CHECKPOINT_NOT_FOUND; INVALID_REQUEST for a path outside of the workspace; RESOURCE_EXHAUSTED
   *   when too many requests wait
   */
  async diff(request: Request<'diff_workspace'>, principal: Principal): Promise<Answer<'diff_workspace'>> {
    const { checkpoint_id: id = null, format = 'names', output } = request;
    const style = styleOf(output);
    const { checkpointId, changes, patch } = await this.#jobs.inTurn({
      kind: 'diff',
      id,
      scope: scopeOf(principal),
      paths: this.#pathsOf(request),
      format,
      limits: outputLimitsOf(request, this.#options.output()),
      render: { ...style, hint: 'name `paths`, or ask for more by `output.max_size`' },
    });
    return {
      checkpoint_id: checkpointId,
      changes: [...changes.shown],
      change_count: changes.count,
      ...patchAnswer(patch, style.encoding),
    };
  }

  /**
   * Restores the workspace from a checkpoint, after saving it in another one with which the restore can be undone.
   * @throws AdapterError RESTORE_FAILED, and the errors of `diff`
   */
  async restore(request: Request<'restore_workspace'>, principal: Principal): Promise<Answer<'restore_workspace'>> {
    const { checkpoint_id: id } = request;
    const job = {
      kind: 'restore',
      id,
      scope: scopeOf(principal),
      owner: principal.id,
      paths: this.#pathsOf(request),
      undoId: this.#newId(),
    } as const;
    const { restored, removed, skipped, undoCheckpoint } = await this.#jobs
      .inTurn(job)
      .catch(async (error: unknown) => {
        // The worker process may have been killed during the restore.
        if (hasInterruptedRestore(this.#jobs.store)) await this.#recover();
        throw error;
      });
    this.#options.log.info('the workspace was restored', {
      checkpoint: id,
      restored: restored.count,
      removed: removed.count,
      undo: undoCheckpoint.id,
    });
    this.newest.note({ id: undoCheckpoint.id, owner: principal.id });
    this.#tidyIf(undoCheckpoint);
    return {
      checkpoint_id: id,
      ...listAnswer('restored', restored),
      ...listAnswer('removed', removed),
      ...listAnswer('skipped', skipped),
      undo_checkpoint_id: undoCheckpoint.id,
    };
  }

  #newId(): string {
    return checkpointIdFrom(randomBytes(ID_BYTES), this.#options.node);
  }

  async #save(
    label: string | null,
    reason: 'requested' | 'before_command',
    { id: owner }: Principal,
  ): Promise<SavedCheckpoint> {
    const saved = await this.#jobs.inTurn({ kind: 'save', id: this.#newId(), label, reason, owner });
    const { id, files, bytes, skipped } = saved;
    this.#options.log.info('the workspace was saved', { checkpoint: id, files, bytes, skipped: skipped.count });
    this.newest.note({ id, owner });
    this.#tidyIf(saved);
    return saved;
  }

  #pathsOf({ paths }: { readonly paths?: readonly string[] | undefined }): string[] {
    return workspacePaths(paths, [this.#jobs.workspace, this.#options.workspace]);
  }

  /** Only later jobs wait for it. */
  #tidyIf({ isUntidy }: SavedCheckpoint): void {
    if (!isUntidy) return;
    const { log } = this.#options;
    this.#jobs.inTurn({ kind: 'tidy' }).then(
      ({ dropped }) => {
        if (dropped.length > 0) log.info('old checkpoints were removed: max_store_mb is reached', { dropped });
      },
      (error: unknown) => {
        if (!isShutdown(error)) log.warn('the checkpoints could not be tidied', { error: (error as Error).message });
      },
    );
  }

  async #recover(): Promise<void> {
    const { log } = this.#options;
    try {
      const found = await this.#jobs.inTurn({ kind: 'recover' });
      log.warn('a restore of the workspace was interrupted', { outcome: found ?? 'completed meanwhile' });
    } catch (error) {
      log.error('an interrupted restore could not be undone', { error: (error as Error).message });
    }
  }
}

/**
 * The checkpoints visible to a principal: its own, or all. A restore only reads its checkpoint, so read access is
 * enough to restore it.
 */
const scopeOf = (principal: Principal): string | null => (canAccess(principal, EVERYBODY, 'see') ? null : principal.id);

const isShutdown = (error: unknown): boolean => error instanceof AdapterError && error.code === 'SHUTTING_DOWN';

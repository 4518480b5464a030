import { type Principal, canAccess } from '../../core/access/principal.js';
import type { Uncovered } from '../../core/checkpoints/coverage.js';
import { AdapterError } from '../../core/errors.js';
import { checkpointIdFrom, ID_BYTES, type IdOptions } from '../../core/ids.js';
import type { Log } from '../../core/logging/log.js';
import type { OutputLimits } from '../../core/output/output-window.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { SavedCheckpoint } from '../../engine/checkpoints/job.js';
import { pathsWithin } from '../../engine/checkpoints/files/walk.js';
import { toText } from '../../engine/checkpoints/git/git.js';
import { hasInterruptedRestore } from '../../engine/checkpoints/restore.js';
import { randomBytes } from '../../engine/system/random.js';
import { outputLimitsOf } from '../registry/output-limits.js';
import { styleOf } from '../registry/command-record.js';
import { infoOf, listAnswer, patchAnswer, savedAnswer } from './answers.js';
import { NewestCheckpoints } from './newest-checkpoints.js';
import { WorkspaceJobs, type WorkspaceJobsOptions } from './workspace-jobs.js';
import { workspacePaths } from './workspace-paths.js';

/** Dependencies of `Checkpoints`. */
export interface CheckpointsOptions extends IdOptions, WorkspaceJobsOptions {
  /** Default limits on a patch in an answer. */
  readonly output: () => OutputLimits;
  readonly log: Log;
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
    const { workspace, directory, excluded, path, limits, platform, run } = options;
    this.#jobs = new WorkspaceJobs({ workspace, directory, excluded, path, limits, platform, run });
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

/** An owner id that no principal has. */
const EVERYBODY = '';

const isShutdown = (error: unknown): boolean => error instanceof AdapterError && error.code === 'SHUTTING_DOWN';

import type { BytePath, ChangeStatus, CheckpointKind, SkipReason } from '../../core/checkpoints.js';
import type { ErrorBody } from '../../core/errors.js';
import type { OutputLimits, RenderOptions } from '../../core/output/output-window.js';
import type { PlatformName } from '../../core/platform.js';
import type { LineCounts, Patch } from './git/diff.js';
import type { CheckpointLimits } from './files/walk.js';
import type { CheckpointFacts } from './git/repository.js';

/** Longest wait for the lock, in milliseconds: tidying takes the longest. */
export const LOCK_WAIT_MS = 120_000;

/** A workspace, and the location of its checkpoints. */
export interface StoreOptions {
  /** Path of the program. */
  readonly git: string;
  /** The real path, without links. */
  readonly workspace: string;
  /** Directory of repository, cache and lock; created when needed. */
  readonly directory: string;
  /** Absolute paths of the daemon's own files, wherever they are. */
  readonly excluded: readonly string[];
  readonly limits: CheckpointLimits;
  /**
   * Longest wait for the lock of another process, in milliseconds.
   * @default LOCK_WAIT_MS
   */
  readonly lockWaitMs?: number;
  readonly platform: PlatformName;
}

/** A list that may be truncated. Paths are texts: bytes that are not UTF-8 become U+FFFD. */
export interface Listed<T> {
  readonly shown: readonly T[];
  readonly count: number;
}

/** An entry that is not part of a checkpoint, with its path as text. */
export interface SkippedPath {
  readonly path: string;
  readonly reason: SkipReason;
}

/** A checkpoint that was created. */
export interface SavedCheckpoint extends CheckpointFacts {
  readonly skipped: Listed<SkippedPath>;
  /** Ids of checkpoints that were dropped to make room. */
  readonly dropped: readonly string[];
  /** Whether a `tidy` job is due. */
  readonly isUntidy: boolean;
}

/** A file that differs. */
export interface ChangedPath extends Partial<LineCounts> {
  readonly path: string;
  readonly status: ChangeStatus;
}

/** Differences between the workspace and a checkpoint. */
interface WorkspaceDiff {
  readonly checkpointId: string;
  readonly changes: Listed<ChangedPath>;
  readonly patch: Patch | undefined;
}

/** Result of a restore. */
interface RestoredWorkspace {
  readonly restored: Listed<string>;
  readonly removed: Listed<string>;
  readonly skipped: Listed<SkippedPath>;
  readonly undoCheckpoint: SavedCheckpoint;
}

/** Owner whose checkpoints a job may access; null for all. */
type Scope = string | null;

/** Operations on the checkpoints of a workspace. */
export type Job =
  | {
      readonly kind: 'save';
      readonly id: string;
      readonly label: string | null;
      readonly reason: CheckpointKind;
      readonly owner: string;
    }
  | { readonly kind: 'list'; readonly scope: Scope }
  | {
      readonly kind: 'diff';
      /** Null for the newest one. */
      readonly id: string | null;
      readonly scope: Scope;
      /** An empty path means everything. */
      readonly paths: readonly BytePath[];
      readonly format: 'names' | 'stat' | 'patch';
      readonly limits: OutputLimits;
      readonly render: RenderOptions;
    }
  | {
      readonly kind: 'restore';
      readonly id: string;
      readonly scope: Scope;
      /** Owner of the checkpoint that undoes the restore. */
      readonly owner: string;
      readonly paths: readonly BytePath[];
      readonly undoId: string;
    }
  /** Completes or undoes an interrupted restore. */
  | { readonly kind: 'recover' }
  /** Frees space that is no longer needed. */
  | { readonly kind: 'tidy' };

/** Result of each job. */
export interface JobResults {
  readonly save: SavedCheckpoint;
  readonly list: readonly CheckpointFacts[];
  readonly diff: WorkspaceDiff;
  readonly restore: RestoredWorkspace;
  readonly recover: 'undone' | 'finished' | undefined;
  readonly tidy: { readonly dropped: readonly string[] };
}

/** A job by its name. */
export type JobOf<K extends Job['kind']> = Extract<Job, { readonly kind: K }>;

/** Runs a job; rejects with an AdapterError. */
export type RunJob = <K extends Job['kind']>(job: JobOf<K>, options: StoreOptions) => Promise<JobResults[K]>;

/** Request on the worker's standard input, as JSON. */
export interface WorkerRequest {
  readonly job: Job;
  readonly options: StoreOptions;
}

/** Reply on its standard output, as JSON. */
export type WorkerReply = { readonly result: JobResults[Job['kind']] | null } | { readonly error: ErrorBody };

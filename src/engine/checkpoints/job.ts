import type { ChangeStatus } from '../../core/checkpoints/compare.js';
import type { BytePath, SkipReason } from '../../core/checkpoints/entry.js';
import type { CheckpointKind } from '../../core/checkpoints/retention.js';
import type { OutputLimits, RenderOptions } from '../../core/output/output-window.js';
import type { LineCounts, Patch } from './git/diff.js';
import type { CheckpointLimits } from './files/limits.js';
import type { CheckpointFacts } from './git/repository.js';

/** Which workspace, and where its checkpoints are. */
export interface StoreOptions {
  /** Path of the program. */
  readonly git: string;
  /** The real path, without links. */
  readonly workspace: string;
  /** Where repository, cache and lock are; made when needed. */
  readonly directory: string;
  /** Absolute paths of what is the daemon's own, wherever they are. */
  readonly excluded: readonly string[];
  readonly limits: CheckpointLimits;
}

/** A list that may be longer than what is told of it. Paths are texts: bytes that are not UTF-8 show as U+FFFD. */
export interface Listed<T> {
  readonly shown: readonly T[];
  readonly count: number;
}

/** Something that is not part of a checkpoint, with its path as text. */
export interface SkippedPath {
  readonly path: string;
  readonly reason: SkipReason;
}

/** A checkpoint that was made. */
export interface SavedCheckpoint extends CheckpointFacts {
  readonly skipped: Listed<SkippedPath>;
  /** Ids of those that have made room for it. */
  readonly dropped: readonly string[];
  /** Whether the store should be tidied. */
  readonly isUntidy: boolean;
}

/** A file that differs. */
export interface ChangedPath extends Partial<LineCounts> {
  readonly path: string;
  readonly status: ChangeStatus;
}

/** How the workspace differs from a checkpoint. */
interface WorkspaceDiff {
  readonly checkpointId: string;
  readonly changes: Listed<ChangedPath>;
  readonly patch: Patch | undefined;
}

/** What a restore has done. */
interface RestoredWorkspace {
  readonly restored: Listed<string>;
  readonly removed: Listed<string>;
  readonly skipped: Listed<SkippedPath>;
  readonly undoCheckpoint: SavedCheckpoint;
}

/** The owner whose checkpoints there are, as far as a job is concerned; null for those of all. */
type Scope = string | null;

/** What can be done with the checkpoints of a workspace. */
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
      /** An empty path is everything. */
      readonly paths: readonly BytePath[];
      readonly format: 'names' | 'stat' | 'patch';
      readonly limits: OutputLimits;
      readonly render: RenderOptions;
    }
  | {
      readonly kind: 'restore';
      readonly id: string;
      readonly scope: Scope;
      /** Of the checkpoint that undoes it. */
      readonly owner: string;
      readonly paths: readonly BytePath[];
      readonly undoId: string;
    }
  /** Ends a restore that was interrupted. */
  | { readonly kind: 'recover' }
  /** Gives space back that nothing needs any more. */
  | { readonly kind: 'tidy' };

/** What each job gives. */
export interface JobResults {
  readonly save: SavedCheckpoint;
  readonly list: readonly CheckpointFacts[];
  readonly diff: WorkspaceDiff;
  readonly restore: RestoredWorkspace;
  readonly recover: 'undone' | 'finished' | undefined;
  readonly tidy: { readonly dropped: readonly string[] };
}

/** One of the jobs by its name. */
export type JobOf<K extends Job['kind']> = Extract<Job, { readonly kind: K }>;

/** Does a job; rejects with an AdapterError. */
export type RunJob = <K extends Job['kind']>(job: JobOf<K>, options: StoreOptions) => Promise<JobResults[K]>;

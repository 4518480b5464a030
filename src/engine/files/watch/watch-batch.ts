/** Something that has changed below a watched path. */
export interface PathChange {
  /** Absolute, below the path as it was asked for. */
  readonly path: string;
  readonly change: 'created' | 'changed' | 'removed';
}

/** What has changed since the last batch. */
export interface WatchBatch {
  readonly changes: readonly PathChange[];
  /** Whether more has changed than the batch says. */
  readonly overflow: boolean;
}

/** Gets batches in order. */
export type OnBatch = (batch: WatchBatch) => void;

/** Most changes of one batch, and most names that wait for it. */
export const MAX_BATCH_CHANGES = 1000;

/** Most directories that one request watches: the kernel has so many watches for a user, on small machines 8192. */
export const MAX_WATCHED_DIRECTORIES = 1024;

/** Most names below the paths of one request, which are remembered to tell what is new. */
export const MAX_WATCHED_NAMES = 50_000;

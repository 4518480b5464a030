import type { ChangedPath } from '../../state/wire.js';

/** What a restore does to the workspace, by kinds. */
export interface RestorePlan {
  /** Paths that the checkpoint does not have. */
  readonly removed: readonly string[];
  /** Paths that get the content or the mode of the checkpoint. */
  readonly changed: readonly string[];
  /** Paths that are no longer there. */
  readonly broughtBack: readonly string[];
}

/** Derives what a restore does from what has changed since the checkpoint. */
export function restorePlan(changes: readonly ChangedPath[]): RestorePlan {
  const pathsOf = (isMeant: (status: ChangedPath['status']) => boolean) =>
    changes.filter(({ status }) => isMeant(status)).map(({ path }) => path);
  return {
    removed: pathsOf((status) => status === 'added'),
    changed: pathsOf((status) => status !== 'added' && status !== 'deleted'),
    broughtBack: pathsOf((status) => status === 'deleted'),
  };
}

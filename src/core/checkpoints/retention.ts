/**
 * Reasons for a checkpoint: requested by a client, or created automatically before a restore or a confirmed command.
 */
export const CHECKPOINT_KINDS = ['requested', 'before_restore', 'before_command'] as const;

/** Reason for a checkpoint. */
export type CheckpointKind = (typeof CHECKPOINT_KINDS)[number];

/** Facts about a checkpoint that decide on its deletion. */
interface DeletionCandidate {
  readonly id: string;
  readonly kind: CheckpointKind;
}

/**
 * The order in which checkpoints are deleted to make room: first the automatic ones, then the rest, the oldest first in
 * each group. Checkpoints that must be kept are not included.
 * @param checkpoints the oldest first
 */
export function dropOrder<C extends DeletionCandidate>(checkpoints: readonly C[], kept: ReadonlySet<string>): C[] {
  const candidates = checkpoints.filter(({ id }) => !kept.has(id));
  const isRequested = ({ kind }: DeletionCandidate) => kind === 'requested';
  return [...candidates.filter((one) => !isRequested(one)), ...candidates.filter(isRequested)];
}

/** The checkpoints to delete, so that at most `maxCount` remain. */
export function surplus<C extends DeletionCandidate>(
  checkpoints: readonly C[],
  maxCount: number,
  kept: ReadonlySet<string>,
): C[] {
  return dropOrder(checkpoints, kept).slice(0, Math.max(0, checkpoints.length - maxCount));
}

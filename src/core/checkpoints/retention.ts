/** Why a checkpoint was made: a client asked for it, or it came before a restore or a confirmed command by itself. */
export const CHECKPOINT_KINDS = ['requested', 'before_restore', 'before_command'] as const;

/** One of the reasons for which checkpoints are made. */
export type CheckpointKind = (typeof CHECKPOINT_KINDS)[number];

/** What the decision about a checkpoint needs to know of it. */
interface Candidate {
  readonly id: string;
  readonly kind: CheckpointKind;
}

/**
 * The checkpoints in the order in which they make room for others: first those that nobody asked for, then the rest,
 * the oldest first among each. Those to be kept whatever happens are not among them.
 * @param checkpoints the oldest first
 */
export function dropOrder<C extends Candidate>(checkpoints: readonly C[], kept: ReadonlySet<string>): C[] {
  const candidates = checkpoints.filter(({ id }) => !kept.has(id));
  const isRequested = ({ kind }: Candidate) => kind === 'requested';
  return [...candidates.filter((one) => !isRequested(one)), ...candidates.filter(isRequested)];
}

/** The checkpoints that have to go, so that no more than `maxCount` stay. */
export function surplus<C extends Candidate>(
  checkpoints: readonly C[],
  maxCount: number,
  kept: ReadonlySet<string>,
): C[] {
  return dropOrder(checkpoints, kept).slice(0, Math.max(0, checkpoints.length - maxCount));
}

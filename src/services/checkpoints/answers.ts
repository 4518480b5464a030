import type { Answer } from '../../core/protocol/requests.js';
import type { CheckpointInfo } from '../../core/protocol/results.js';
import type { CheckpointFacts } from '../../engine/checkpoints/git/repository.js';
import type { JobResults, Listed, SavedCheckpoint } from '../../engine/checkpoints/job.js';

/** How clients see a checkpoint. */
export const infoOf = ({ id, kind, label, createdAt, files, bytes }: CheckpointFacts): CheckpointInfo => {
  return { checkpoint_id: id, kind, label, created_at: createdAt, files, bytes };
};

/** The answer about a saved checkpoint. */
export const savedAnswer = (saved: SavedCheckpoint): Answer<'checkpoint_workspace'> => {
  return { ...infoOf(saved), ...listAnswer('skipped', saved.skipped), dropped: [...saved.dropped] };
};

/** The fields `NAME` and `NAME_count`. */
export function listAnswer<N extends string, T>(name: N, { shown, count }: Listed<T>) {
  return { [name]: [...shown], [`${name}_count`]: count } as Record<N, T[]> & Record<`${N}_count`, number>;
}

/** The fields about a patch, which exist without one as well. */
export function patchAnswer(patch: JobResults['diff']['patch'], encoding: Answer<'diff_workspace'>['encoding']) {
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

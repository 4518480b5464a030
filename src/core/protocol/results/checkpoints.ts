import { z } from 'zod';

import { CHECKPOINT_KINDS, MAX_LISTED_PATHS, SKIP_REASONS, type SkipReason } from '../../checkpoints.js';
import { optionalTerms } from '../confirmations.js';
import { checkpointId, optional, timestamp } from '../fields.js';

const reasons = Object.keys(SKIP_REASONS) as [SkipReason, ...SkipReason[]];

/** A path that a checkpoint or a restore left out. */
export const skippedPath = z.object({
  path: z.string(),
  reason: z.enum(reasons).describe('Why; see [Checkpoints](#checkpoints)'),
});

/** A checkpoint in wire format. */
export const checkpointInfo = z.object({
  checkpoint_id: checkpointId,
  kind: z.enum(CHECKPOINT_KINDS).describe('Whether a client asked for it, or what it was made before'),
  label: z.string().nullable(),
  created_at: timestamp,
  files: z.int().describe('Files and symbolic links in it'),
  bytes: z.int().describe('Size of their contents together'),
});

/** A checkpoint as `list_checkpoints` describes it. */
export type CheckpointInfo = z.output<typeof checkpointInfo>;

/** A changed file or directory in wire format. */
export const changedPath = z.object({
  path: z.string().describe('Relative to the workspace; a directory ends in `/`. Bytes that are not UTF-8 are U+FFFD'),
  status: z
    .enum(['added', 'modified', 'deleted', 'type_changed', 'mode_changed'])
    .describe('`mode_changed`: only permissions or owner'),
  insertions: z.int().nullable().optional().describe('Lines that came, with `stat`; null when it is not text'),
  deletions: z.int().nullable().optional().describe('Lines that went, likewise'),
});

/** What a restore has done, or would do once it is confirmed. */
export const restoredWorkspace = z.object({
  checkpoint_id: checkpointId,
  restored: z.array(z.string()).describe(`What came back, at most ${MAX_LISTED_PATHS} entries`),
  restored_count: z.int(),
  removed: z.array(z.string()).describe('What went, because the checkpoint does not have it; likewise'),
  removed_count: z.int(),
  skipped: z.array(skippedPath).describe('What is not as it was, because it was or could not be saved; likewise'),
  skipped_count: z.int(),
  undo_checkpoint_id: checkpointId
    .nullable()
    .describe('Restoring this one undoes the restore; null when nothing has been restored yet'),
  status: optional(z.literal('confirmation_required')).describe(
    'Nothing has been restored yet: this client has to confirm it first, with `confirm_command`',
  ),
  would_remove: optional(z.array(z.string())).describe('With `status`: what the restore would remove; likewise'),
  ...optionalTerms,
});

import { z } from 'zod';

import { SKIP_REASONS, type SkipReason } from '../../checkpoints/entry.js';
import { CHECKPOINT_KINDS } from '../../checkpoints/retention.js';
import { checkpointId, timestamp } from '../fields.js';

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

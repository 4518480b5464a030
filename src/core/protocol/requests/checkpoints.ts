import { z } from 'zod';

import { MAX_LISTED_PATHS } from '../../checkpoints.js';
import { defineRequests } from '../define-requests.js';
import * as field from '../fields.js';
import { changedPath, checkpointInfo, restoredWorkspace, skippedPath } from '../results.js';
import { onNode } from './nodes.js';

const { optional, outputOptions } = field;

/** The requests about workspace checkpoints. */
export const checkpointRequests = defineRequests({
  checkpoint_workspace: {
    summary: 'Saves the workspace as a checkpoint.',
    role: 'agent',
    recorded: 'each',
    route: 'workspace',
    repeat: 'never',
    isLong: true,
    example: { label: 'before the refactoring' },
    input: () => z.strictObject({ node: onNode, label: optional(field.label) }),
    output: () =>
      checkpointInfo.extend({
        skipped: z.array(skippedPath).describe(`What is not in it, at most ${MAX_LISTED_PATHS} entries`),
        skipped_count: z.int(),
        dropped: z
          .array(field.checkpointId)
          .describe('Older checkpoints of this token that have made room for it (`max_count`)'),
      }),
  },
  list_checkpoints: {
    summary: 'Lists the checkpoints of the workspace, the oldest first.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'workspace',
    repeat: 'safe',
    example: {},
    input: () => z.strictObject({ node: onNode }),
    output: () => z.object({ checkpoints: z.array(checkpointInfo) }),
  },
  diff_workspace: {
    summary: 'Lists the differences between the workspace and a checkpoint.',
    role: 'viewer',
    recorded: 'refusals',
    route: { object: 'checkpoint_id', otherwise: 'workspace' },
    repeat: 'safe',
    isLong: true,
    example: { checkpoint_id: 'checkpoint_ID', paths: ['src'], format: 'patch' },
    input: () =>
      z.strictObject({
        node: onNode,
        checkpoint_id: optional(field.checkpointId).describe('By default the newest'),
        paths: optional(field.workspacePaths).describe(
          'Only these, each with all that is in it; by default everything',
        ),
        format: optional(z.enum(['names', 'stat', 'patch'])).describe(
          '`stat` counts lines, `patch` shows them; by default only the names',
        ),
        output: optional(outputOptions),
      }),
    output: () =>
      z.object({
        checkpoint_id: field.checkpointId,
        changes: z.array(changedPath).describe(`What differs, at most ${MAX_LISTED_PATHS} entries`),
        change_count: z.int(),
        patch: z
          .string()
          .nullable()
          .describe('From the checkpoint to now, trimmed like any output; null unless asked for'),
        original_patch_size: z.int().nullable().describe('Its size before trimming, in characters (code points)'),
        original_patch_lines: optional(z.int()).describe('Its lines before trimming, when lines are limited'),
        patch_truncated: z.boolean(),
        encoding: z.enum(['utf8', 'base64']).describe('Encoding of the patch, as asked'),
        lossy: z.boolean().describe('Some bytes of the patch were not UTF-8 and show as U+FFFD'),
      }),
  },
  restore_workspace: {
    summary:
      'Restores the workspace, or paths of it, from a checkpoint. The current state is saved first. It has to be confirmed when it takes files that others may have written.',
    role: 'agent',
    recorded: 'each',
    route: { object: 'checkpoint_id' },
    repeat: 'never',
    isLong: true,
    example: { checkpoint_id: 'checkpoint_ID', paths: ['src/main.c', 'docs'] },
    input: () =>
      z.strictObject({
        checkpoint_id: field.checkpointId,
        paths: optional(field.workspacePaths).describe(
          'Only these, each with all that is in it; by default everything',
        ),
      }),
    output: () => restoredWorkspace,
  },
});

import { z } from 'zod';

import { REMEMBER_SCOPES } from '../remember-scopes.js';
import { COMMAND_CLASSES } from '../policy/model.js';
import { approvalId, sessionId, timestamp } from './fields.js';

/** How long an approval is remembered. */
export const rememberScope = z
  .enum(REMEMBER_SCOPES)
  .describe('`session` until the session ends, `hour` for 60 minutes, `always` until it is revoked');

const summary = {
  id: approvalId,
  scope: rememberScope,
  pattern: z.string().describe('What is covered; `DIRECTORY/*.EXTENSION` stands for any file of that kind there'),
  expires_at: timestamp.nullable().describe('Null when no time is set'),
};

/** A remembered approval, as in the answer to the approval. */
export const rememberedSummary = z.object(summary).describe('The approval that is remembered for later commands');

/** A remembered approval, as in the answer to the approval. */
export type RememberedSummary = z.output<typeof rememberedSummary>;

/** A remembered approval in a list. */
export const rememberedInfo = z.object({
  ...summary,
  working_directory: z.string().describe('Only commands in this directory are covered'),
  session_id: sessionId.nullable().describe('The session, with the scope `session`'),
  classes: z.array(z.enum(COMMAND_CLASSES)).describe('What may need a confirmation in a covered command'),
  requested_by: z.string().describe('Name of the token whose commands are covered; `local` without one'),
  approved_by: z.string().describe('Name of the token that has approved it'),
  remembered_at: timestamp,
});

/** A remembered approval in a list. */
export type RememberedInfo = z.output<typeof rememberedInfo>;

import { z } from 'zod';

import { CONFIRMATION_MODES, CONFIRMATION_OUTCOMES } from '../confirmation.js';
import { COMMAND_CLASSES, POLICY_ACTIONS } from '../policy/model.js';
import { REMEMBER_SCOPES } from '../remember-scopes.js';
import {
  approvalId,
  checkpointId,
  commandId,
  confirmationId,
  environmentVariables,
  MAX_JUSTIFICATION_LENGTH,
  optional,
  sessionId,
  timestamp,
} from './fields.js';

/** The policy's verdict on a command. */
export const judgement = {
  action: z.enum(POLICY_ACTIONS).describe('As strict as for the worst that is in it'),
  class: z.enum(COMMAND_CLASSES).describe('What kind of command it is, by the worst that is in it'),
  reasons: z.array(z.string()).describe('Why, the worst first'),
};

/** The verdict on one simple command. */
export const judgedCommand = z.object({ command: z.string(), program: z.string().nullable(), ...judgement });

/** The verdicts on all simple commands of a request. */
export const judgedCommands = z.array(judgedCommand).describe('Every simple command in it, at any depth');

/** Terms of a confirmation, as sent to the client that has to obtain it. */
export const confirmationTerms = {
  confirmation_id: confirmationId,
  class: judgement.class,
  reasons: judgement.reasons,
  commands: z.array(judgedCommand).describe('The simple commands in it, those that need it first; 50 at most'),
  command_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of what is to be confirmed; see [Confirmation](#confirmation)'),
  expires_at: timestamp.describe('When it is too late to confirm it'),
  requires: z.enum(CONFIRMATION_MODES).describe('Who has to confirm it: the client itself, a model, or an operator'),
};

/** The same fields for an answer that contains them only when a confirmation is required. */
export const optionalTerms = z.object(confirmationTerms).partial().shape;

/** The reason that a decision gives; at most `MAX_JUSTIFICATION_LENGTH` characters. */
export const justification = z
  .string()
  .max(MAX_JUSTIFICATION_LENGTH)
  .describe('Why, for people and logs; required to approve what one has asked for oneself');

/** A pending confirmation in wire format. */
export const confirmationInfo = z.object({
  ...confirmationTerms,
  kind: z
    .enum(['command', 'input', 'restore', 'file'])
    .describe('Whether it is to be run, typed into what runs, restores the workspace, or is a request about files'),
  command: z
    .string()
    .describe(
      'The text, or with `args` the program; `restore_workspace` of a restore, with the checkpoint and paths in `args`; the name of a request about files, with its paths and the SHA-256 of its content in `args`; of input, its length and the program that reads it, never the text itself',
    ),
  args: optional(z.array(z.string())),
  env: optional(environmentVariables),
  stdin: optional(z.string()),
  working_directory: z.string().describe('Where it runs, if it is confirmed'),
  command_id: commandId,
  node: optional(z.string()).describe('Name of the node of a cluster that asks; left out by a daemon alone'),
  session_id: sessionId.nullable(),
  session_label: z.string().nullable(),
  requested_by: z.string().describe('Name of the token that asked for it; `local` without one'),
  requested_at: timestamp,
  may_decide: z.boolean().describe('Whether this client may confirm it'),
  server_time: timestamp.describe('Time of the daemon, to count down to `expires_at`'),
  diff_base: checkpointId.nullable().describe('The newest checkpoint, for `diff_workspace`; null if none is known'),
});

/** A pending confirmation. */
export type ConfirmationInfo = z.output<typeof confirmationInfo>;

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

/** The outcome of a confirmation in wire format. */
export const confirmationResolution = z.object({
  confirmation_id: confirmationId,
  command_id: commandId,
  session_id: sessionId.nullable(),
  outcome: z.enum(CONFIRMATION_OUTCOMES).describe('All but `approved` mean that nothing has run'),
  decided_by: z.string().nullable().describe('Name of the token or model that decided; null when it was not decided'),
  justification: z.string().nullable(),
  remembered: rememberedSummary.nullable().describe('The approval, if it is remembered for later commands'),
});

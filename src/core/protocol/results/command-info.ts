import { z } from 'zod';

import { COMMAND_CLASSES } from '../../policy/model.js';
import { checkpointId, commandId, confirmationId, optional, sessionId, timestamp } from '../fields.js';
import { commandResult } from './commands.js';
import { kill, killedBy, resourceUse } from './limits.js';
import { warning } from './warning.js';

/** Longest command text in a list, in characters. */
export const MAX_LISTED_COMMAND = 4000;

/** A command without its output, as lists and events describe it. */
export const commandInfo = z.object({
  command_id: commandId,
  session_id: sessionId.nullable().describe('The session, or null for a one-shot command'),
  node: optional(z.string()).describe('Name of the node of a cluster that it runs on; left out by a daemon alone'),
  owner: z.string().describe('Name of the token that it belongs to; `local` for clients without one'),
  command: z.string().max(MAX_LISTED_COMMAND).describe('The text, cut at its end if it is longer'),
  args: optional(z.array(z.string())).describe('Of a program that runs without a shell; cut likewise'),
  state: z.enum(['queued', 'running', 'ended']),
  status: commandResult.shape.status,
  exit_code: commandResult.shape.exit_code,
  signal: commandResult.shape.signal,
  killed_by: killedBy.nullable().describe('What ended the command before its time'),
  limit: kill.nullable().describe('The limit that the command was killed for'),
  accepted_at: timestamp,
  started_at: timestamp.nullable().describe('Null while it is queued, and if it never ran'),
  ended_at: timestamp.nullable(),
  duration_ms: z.number().describe('From start to end, or so far'),
  working_directory: z
    .string()
    .nullable()
    .describe('Directory of the shell after the command; before its end, the one it begins in, if that is known'),
  stdout_bytes: z.int(),
  stderr_bytes: z.int(),
  tty: z.boolean().describe('Whether it was started with `tty`: its output comes as a terminal gets it'),
  class: optional(z.enum(COMMAND_CLASSES)).describe('Of the verdict of the policy, if it was judged'),
  confirmation_id: optional(confirmationId).describe('The confirmation that allowed it'),
  checkpoint_id: optional(checkpointId).describe('The checkpoint that was made before it'),
  resource_usage: resourceUse,
  warnings: z.array(warning),
});

/** A command in wire format, without its output. */
export type CommandInfo = z.output<typeof commandInfo>;

import { z } from 'zod';

import { optionalTerms } from '../confirmations.js';
import { checkpointId, commandId, optional, sessionId } from '../fields.js';
import { rememberedSummary } from '../remembered.js';
import { restoredWorkspace } from './checkpoints.js';
import { confirmedFileAnswer } from './files.js';
import { kill, killedBy, resourceUse } from './limits.js';
import { warning } from './warning.js';

/** Status of a command. A command that waits for confirmation, or was not confirmed, has not been started. */
const commandStatus = z.enum([
  'running',
  'completed',
  'timed_out',
  'interrupted',
  'killed',
  'confirmation_required',
  'denied',
]);

/** State of the session after the command: unchanged, with a new shell, or closed. */
const sessionState = z.enum(['alive', 'restarted', 'closed']);

/** A process in wire format. */
export const processInfo = z.object({
  pid: z.int().describe('Process id'),
  command: z.string().describe('Command line, at most 200 characters'),
});

/** Result of a command: the five fields of the source document first. */
export const commandResult = z.object({
  stdout: z.string().describe('Standard output, trimmed to `output.max_size` characters'),
  stderr: z.string().describe('Standard error, trimmed likewise'),
  exit_code: z
    .int()
    .nullable()
    .describe('128+n for signal n, 124 for a time-out, 137 for another limit, null while running and without a run'),
  original_stdout_size: z.int().describe('Size of stdout before trimming, in characters (code points)'),
  original_stderr_size: z.int().describe('Size of stderr before trimming, in characters (code points)'),
  original_stdout_lines: optional(z.int()).describe('Lines of stdout before trimming, when lines are limited'),
  original_stderr_lines: optional(z.int()).describe('Lines of stderr before trimming, when lines are limited'),
  command_id: commandId,
  session_id: sessionId.nullable().describe('The session, or null for a one-shot command'),
  status: commandStatus,
  signal: z.string().nullable().describe('Name of the signal that ended the command, as its exit code tells'),
  timed_out: z.boolean(),
  killed_by: killedBy.nullable().describe('What ended the command before its time'),
  limit: kill.nullable().describe('The limit that the command was killed for'),
  resource_usage: resourceUse,
  duration_ms: z.number().describe('Wall time from start to end (or so far), in milliseconds, on a monotonic clock'),
  working_directory: z.string().nullable().describe('Directory of the shell after the command'),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  stdout_bytes: z.int().describe('Size of stdout before trimming, in bytes'),
  stderr_bytes: z.int().describe('Size of stderr before trimming, in bytes'),
  encoding: z.enum(['utf8', 'base64']).describe('Encoding of stdout and stderr, as asked'),
  lossy: z.boolean().describe('Some bytes were not UTF-8 and show as U+FFFD; `output.encoding: "base64"` gives them'),
  session_state: sessionState.nullable().describe('Null for a one-shot command'),
  background_processes: z.array(processInfo).describe('What the session (or the one-shot) left running'),
  survivors: optional(z.array(processInfo)).describe('Processes that were to be ended and could not be'),
  spool_error: optional(z.string()).describe('Why the middle of a long output could not be kept'),
  warnings: z.array(warning),
  checkpoint_id: optional(checkpointId).describe(
    'The checkpoint that was made before the command: restoring it undoes what the command has done to the workspace',
  ),
  accepted_bytes: optional(z.int()).describe('Of input that was confirmed: what was typed into this command'),
  restored: optional(restoredWorkspace).describe('Of a restore of the workspace that was confirmed: what it has done'),
  file: optional(confirmedFileAnswer),
  remembered: optional(rememberedSummary).describe(
    'In the answer to an approval with `remember`: the approval that is remembered',
  ),
  ...optionalTerms,
});

/** Result of a command in wire format. */
export type CommandResult = z.output<typeof commandResult>;

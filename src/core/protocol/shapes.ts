import { z } from 'zod';

import { CHECKPOINT_KINDS, MAX_LISTED_PATHS, SKIP_REASONS, type SkipReason } from '../checkpoints.js';
import { RESOURCES } from '../limits.js';
import { LLM_PROVIDERS } from '../llm/settings.js';
import { COMMAND_CLASSES } from '../policy/model.js';
import { optionalTerms, rememberedSummary } from './confirmations.js';
import {
  callId,
  checkpointId,
  commandId,
  confirmationId,
  keepWhile,
  label,
  optional,
  recordingId,
  sandboxProfile,
  sessionId,
  terminalCells,
  timestamp,
} from './fields.js';

/** A note about what has happened with a command, or about the state of its session. */
export const warning = z.object({
  code: z.string().describe('Stable name of the warning, see [Warnings](warnings.md)'),
  message: z.string().describe('What happened and what to do'),
});

/** Cause that ended a command early. */
export const killedBy = z.enum(['timeout', 'memory', 'cpu', 'processes', 'disk', 'signal', 'client', 'shutdown']);

/** A limit that was exceeded or is nearly reached. Numbers are in the unit that the name of the resource gives. */
export const breach = {
  resource: z.enum(RESOURCES).describe('Which limit; `disk_free_mb` is the free space that the daemon keeps'),
  limit: z.number().describe('In the unit of its name'),
  observed: z.number().describe('Likewise. Where the kernel keeps a limit, never more than that'),
};

/** A limit whose breach ended a process. */
export const kill = z.object({
  ...breach,
  peak: z.number().describe('The most that was used, likewise'),
  killed_pids: z
    .array(z.int())
    .describe(
      'Processes that were killed for it, by the numbers that commands see; of those that the kernel killed, the ones that are known',
    ),
});

/** Resources that a command has used. */
export const resourceUse = z.object({
  cpu_ms: z.number().nullable().describe('CPU time of all that ran in its session while it did'),
  peak_memory_bytes: z
    .int()
    .nullable()
    .describe('The most that was seen; null for a command too short to be looked at'),
  peak_processes: z.int().nullable().describe('Processes and threads, the shell included; likewise'),
  written_bytes: z
    .int()
    .nullable()
    .describe('Written to disks, approximately: what samples have shown since its start; null where that is not known'),
});

/** Limits in effect. */
export const effectiveLimits = z
  .object({
    cpu_percent: z.number().nullable(),
    cpu_seconds: z.number().nullable(),
    memory_mb: z.number().nullable(),
    processes: z.int().nullable(),
    disk_mb: z.number().nullable(),
  })
  .describe('What the processes may use together; null is no limit');

/** Limits that apply to the processes of a session or command, in the units of their names; null is no limit. */
export type EffectiveLimits = z.output<typeof effectiveLimits>;

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

/** What an answer about files has beside its own fields, when the policy had something to say. */
export const fileOutcome = {
  status: optional(z.literal('confirmation_required')).describe(
    'Nothing has been done yet, and the other fields are empty: this client has to confirm it, with `confirm_command`',
  ),
  checkpoint_id: optional(checkpointId).describe(
    'The checkpoint that was made before: restoring it undoes the request',
  ),
  warnings: optional(z.array(warning)).describe('Why no checkpoint could be made'),
  ...optionalTerms,
};

/** The answer to a request about files that was confirmed: the fields of the request's own answer. */
const confirmedFileAnswer = z.looseObject({}).describe('Of a request about files that was confirmed: its answer');

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
  killed_by: commandResult.shape.killed_by,
  limit: commandResult.shape.limit,
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

/** The measured values of the machine at one time; of a container, those of the container where the kernel tells them. */
export const hostEntry = z.object({
  at: timestamp,
  cpu_percent: z
    .number()
    .nullable()
    .describe('Of all CPUs together, 0 to 100, since the entry before; null in the first one'),
  load1: z.number().describe('Load average of the last minute'),
  memory_used_bytes: z.int().describe('Without what the kernel can free, such as cached files'),
  disk_used_bytes: z.int().nullable().describe('On the file system of the workspace'),
  net_rx_bytes_s: z
    .number()
    .nullable()
    .describe('Received by all interfaces but the loopback, in bytes per second; null in the first entry'),
  net_tx_bytes_s: z.number().nullable().describe('Sent, likewise'),
  sessions: z.int().describe('Open sessions'),
  commands_running: z.int().describe('Running commands, with and without a session'),
  daemon_rss_bytes: z.int().describe('Resident memory of the daemon itself'),
});

/** The measured values of the machine in wire format. */
export type HostEntry = z.output<typeof hostEntry>;

/** When a session ends without a request, and why. */
export const expiry = {
  expires_at: timestamp.describe('When it ends unless something happens until then: the earliest of its bounds'),
  expires_reason: z
    .enum(['lifetime', 'idle', 'disconnected'])
    .describe(
      'Which bound that is: `lifetime` (`session_max_lifetime`), `idle` (`session_idle_timeout`) or `disconnected` (`reconnect_grace`)',
    ),
};

const used = {
  cpu_percent: z.number().describe('Of one core'),
  memory_bytes: z.int(),
  processes: z.int().describe('Processes and threads, the shell included'),
  written_bytes: z.int().describe('Written to disks since something began to run in the session'),
};

/** A session in wire format. */
export const sessionInfo = z.object({
  session_id: sessionId,
  node: z.string().optional().describe('Name of the node of a cluster that it runs on; left out by a daemon alone'),
  owner: z.string().describe('Name of the token that it belongs to; `local` for clients without one'),
  run_as: z.string().optional().describe('User as which its processes run; left out for the user of the daemon'),
  label: label.nullable(),
  shell: z.string().describe('bash, zsh, sh, fish or pwsh (untested)'),
  sandbox: sandboxProfile,
  state: z.enum(['idle', 'busy']),
  working_directory: z.string(),
  created_at: timestamp,
  last_used_at: timestamp,
  ...expiry,
  keep_while: keepWhile.describe('What keeps it open'),
  cols: terminalCells,
  rows: terminalCells,
  running_command: z
    .object({
      command_id: commandId,
      command: z.string(),
      started_at: timestamp,
      tty: z.boolean().describe('Whether it was started with `tty`: its output comes as a terminal gets it'),
    })
    .nullable(),
  queued_commands: z.int(),
  next_seq: z.int().describe('`seq` of the next `command_output`'),
  restarts: z.int().describe('How often the shell was replaced'),
  attached_clients: z.int(),
  background_processes: z.array(processInfo),
  limits: effectiveLimits,
  usage: z
    .object({ ...used, at: timestamp })
    .nullable()
    .describe('What its processes used when they were looked at last; null while nothing runs in it for long'),
  peaks: z.object(used).describe('The most that was seen since it was opened; 0 if nothing was seen'),
  warnings: z
    .array(warning.extend({ since: timestamp }))
    .describe('States that hold now and in which commands will fail; see `health_warning`'),
  last_command: commandInfo.nullable().describe('The last command that has ended'),
  observers: z.int().describe('Clients that observe it, see `max_bytes_per_second` of `attach_session`'),
  recording_id: recordingId.nullable().describe('Null unless it is recorded'),
});

/** A session as requests describe it. */
export type SessionInfo = z.output<typeof sessionInfo>;

const tokens = z.int().optional();

/** Tokens and costs of an LLM call. */
export const llmUsage = z
  .object({
    prompt_tokens: tokens.describe('Those from a cache included'),
    completion_tokens: tokens,
    total_tokens: tokens,
    cached_tokens: tokens,
    reasoning_tokens: tokens,
    cost_usd: z.number().optional(),
  })
  .describe('As far as the provider tells; empty when it does not');

/** An LLM call, without its question and answer. */
export const llmCallInfo = z.object({
  call_id: callId,
  node: optional(z.string()).describe(
    'Name of the node of a cluster that asks the provider; left out by a daemon alone',
  ),
  owner: z.string().describe('Name of the token; `local` without one, `reviewer` for the model that reviews commands'),
  provider: z.enum(LLM_PROVIDERS).nullable().describe('The provider that was asked last; null before the first'),
  shell_provider: z.string().nullable(),
  model: z.string().nullable().describe('As the provider tells it, or as the request named it'),
  state: z.string().describe('`waiting` in the queue of a tool, `running`, `ok`, or the error code'),
  started_at: timestamp,
  duration_ms: z.number().describe('Until the answer, or so far'),
  usage: llmUsage.nullable().describe('Null while the call is under way, and after a failure'),
  resource_usage: resourceUse.nullable().describe('As in the answer'),
});

/** An LLM call in wire format. */
export type LlmCallInfo = z.output<typeof llmCallInfo>;

/** Number of an audit record, from 1 on. */
export const sequence = z.int().min(1);

/** A record of the audit log in wire format: as in the file, with the fields of its event. */
export const auditRecord = z.looseObject({
  seq: sequence.describe('Number of the record; they have no gaps'),
  time: timestamp,
  event: z.string(),
  prev: z.string().describe('Hash of the record before it'),
  hash: z.string(),
});

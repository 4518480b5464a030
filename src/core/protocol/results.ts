import { z } from 'zod';

import { SKIP_REASONS, type SkipReason } from '../checkpoints/entry.js';
import { RESOURCES } from '../limits/limits.js';
import { CHECKPOINT_KINDS } from '../checkpoints/retention.js';
import { confirmationInfo, confirmationResolution, optionalTerms } from './confirmations.js';
import { daemonIdentity } from './daemon-requests.js';
import {
  bytes,
  callId,
  checkpointId,
  commandId,
  label,
  optional,
  outputStream,
  sandboxProfile,
  sessionId,
  terminalCells,
  timestamp,
} from './fields.js';

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

/** Cause that ended a command early. */
const killedBy = z.enum(['timeout', 'memory', 'cpu', 'processes', 'disk', 'signal', 'client', 'shutdown']);

/** State of the session after the command: unchanged, with a new shell, or closed. */
const sessionState = z.enum(['alive', 'restarted', 'closed']);

/** A process in wire format. */
export const processInfo = z.object({
  pid: z.int().describe('Process id'),
  command: z.string().describe('Command line, at most 200 characters'),
});

const warning = z.object({
  code: z.string().describe('Stable name of the warning'),
  message: z.string().describe('What happened and what to do'),
});

/** A limit that was exceeded or is nearly reached. Numbers are in the unit that the name of the resource gives. */
const breach = {
  resource: z.enum(RESOURCES).describe('Which limit; `disk_free_mb` is the free space that the daemon keeps'),
  limit: z.number().describe('In the unit of its name'),
  observed: z.number().describe('Likewise. Where the kernel keeps a limit, never more than that'),
};

/** A limit whose breach ended a process. */
const kill = z.object({
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
  checkpoint_id: optional(checkpointId).describe('The checkpoint that was made before a confirmed command'),
  accepted_bytes: optional(z.int()).describe('Of input that was confirmed: what was typed into this command'),
  ...optionalTerms,
});

/** Result of a command in wire format. */
export type CommandResult = z.output<typeof commandResult>;

/** A session in wire format. */
export const sessionInfo = z.object({
  session_id: sessionId,
  owner: z.string().describe('Name of the token that it belongs to; `local` for clients without one'),
  label: label.nullable(),
  shell: z.string().describe('bash, zsh or sh'),
  sandbox: sandboxProfile,
  state: z.enum(['idle', 'busy']),
  working_directory: z.string(),
  created_at: timestamp,
  last_used_at: timestamp,
  expires_at: timestamp,
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
});

/** A session as `list_sessions` and `get_session` describe it. */
export type SessionInfo = z.output<typeof sessionInfo>;

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

/** Events that the daemon sends: a summary and the schema of the payload, by event name. */
export const events = {
  daemon_info: {
    summary:
      'Identifies the run of the daemon. It is the first event of every connection; a new `instance_id` means a restart.',
    schema: z.object(daemonIdentity),
  },
  command_output: {
    summary: 'Output of a running command, or of a background job of an ended one.',
    schema: z.object({
      command_id: commandId,
      session_id: sessionId.nullable(),
      stream: outputStream,
      seq: z.int().describe('Rises by one per session (per command for one-shots); a gap is announced by `output_gap`'),
      offset: z.int().describe('Position of the first byte in the stream: `read_output` takes the same offsets'),
      data: z
        .union([z.string(), bytes])
        .describe('Text, never cut inside a character; bytes where they are not UTF-8 or base64 was asked for'),
    }),
  },
  output_gap: {
    summary: 'The client was too slow: these events were left out. `read_output` has the bytes.',
    schema: z.object({
      session_id: sessionId.nullable(),
      from_seq: z.int(),
      to_seq: z.int().describe('The last one left out'),
    }),
  },
  command_finished: { summary: 'A command has ended; the fields are those of its result.', schema: commandResult },
  awaiting_input: {
    summary: 'A command is blocked in a read from its terminal.',
    schema: z.object({
      command_id: commandId,
      session_id: sessionId,
      prompt: z.string().describe('The last unfinished line it printed, at most 200 characters'),
    }),
  },
  health_warning: {
    summary: 'Commands have left the session in a state in which others will fail. The next result reports it too.',
    schema: z.object({ session_id: sessionId, warnings: z.array(warning) }),
  },
  llm_chunk: {
    summary: 'A chunk of the answer to `llm_stream`. Only the requesting client gets it.',
    schema: z.object({
      call_id: callId,
      index: z.int().describe('Rises by one from 0'),
      content: z.string(),
    }),
  },
  resource_usage: {
    summary: 'The current resource usage of a session, for clients that sent `watch_resources`.',
    schema: z.object({
      session_id: sessionId,
      command_id: commandId.nullable().describe('The command that runs'),
      cpu_percent: z.number().describe('Of one core, since the daemon looked last'),
      cpu_ms: z.int().describe('CPU time since something began to run in the session'),
      memory_bytes: z.int(),
      processes: z.int().describe('Processes and threads, the shell included'),
      written_bytes: z.int().describe('Written to disks since something began to run in the session'),
    }),
  },
  resource_warning: {
    summary: 'A limit is near (80 %), or it was exceeded and the processes responsible are being ended.',
    schema: z.object({
      session_id: sessionId.nullable(),
      command_id: commandId.nullable().describe('The command that runs; null when background processes are meant'),
      level: z.enum(['warning', 'exceeded']),
      ...breach,
    }),
  },
  confirmation_required: {
    summary: 'A confirmation is open. Sent to the requesting client and to those that may decide.',
    schema: confirmationInfo,
  },
  confirmation_resolved: {
    summary: 'A confirmation is closed. Sent to the same clients.',
    schema: confirmationResolution,
  },
  session_closed: {
    summary: 'A session has ended.',
    schema: z.object({
      session_id: sessionId,
      reason: z
        .enum(['client', 'lifetime', 'idle', 'disconnected', 'failed', 'limit', 'shutdown', 'restarted'])
        .describe('`restarted` comes from client libraries: the session belonged to an earlier run of the daemon'),
      detail: z.string(),
      killed_by: optional(killedBy).describe('Which kind of limit, when it has ended for one'),
      limit: optional(kill).describe('Likewise: the limit, and what was ended for it'),
      survivors: optional(z.array(processInfo)).describe('Processes of the session that could not be ended'),
    }),
  },
  access_ended: {
    summary: 'The token of this connection is no longer valid. The daemon then closes the connection.',
    schema: z.object({ message: z.string().describe('Why: it was revoked or replaced, or has expired') }),
  },
  server_shutdown: {
    summary: 'The daemon is stopping, and ends all commands and sessions.',
    schema: z.object({ reason: z.string(), grace_ms: z.int() }),
  },
} as const;

/** Name of an event that the daemon sends. */
export type EventName = keyof typeof events;

/** Payload of an event. */
export type EventPayload<N extends EventName> = z.output<(typeof events)[N]['schema']>;

/** Reason for the end of a session. */
export type SessionEndReason = EventPayload<'session_closed'>['reason'];

import { z } from 'zod';

import { WARNED_RESOURCES } from '../limits.js';
import { confirmationInfo, confirmationResolution } from './confirmations.js';
import { bytes, callId, commandId, optional, outputStream, sessionId } from './fields.js';
import { daemonIdentity } from './requests/daemon.js';
import { nodeInfo } from './requests/nodes.js';
import {
  auditRecord,
  breach,
  commandInfo,
  commandResult,
  hostEntry,
  kill,
  killedBy,
  llmCallInfo,
  processInfo,
  sessionInfo,
  warning,
} from './shapes.js';

/** Reason for the end of a session. */
const sessionEndReason = z
  .enum(['client', 'lifetime', 'idle', 'disconnected', 'failed', 'limit', 'shutdown', 'restarted', 'node_lost'])
  .describe(
    '`restarted` comes from client libraries: the session belonged to an earlier run of the daemon. `node_lost`: its node of the cluster was lost',
  );

/** Most entries of a list in one event of a subscription. */
export const MAX_TICK_ENTRIES = 1000;
/** Most records of one `audit_records`. */
export const MAX_TICK_RECORDS = 200;

/** What events of a subscription say of themselves. */
const tick = {
  complete: z.literal(true).optional().describe('There in the first event: what it does not name is gone'),
  truncated: z.literal(true).optional().describe(`There when entries above ${MAX_TICK_ENTRIES} were left out`),
};

/** Events that the daemon sends: a summary and the schema of the payload, by event name. */
export const events = {
  daemon_info: {
    summary:
      'Identifies the run of the daemon. It is the first event of every connection; a new `instance_id` means that everything of an earlier one has ended.',
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
    summary: 'A command waits for input of its terminal.',
    schema: z.object({
      command_id: commandId,
      session_id: sessionId,
      prompt: z.string().describe('The last unfinished line it printed, at most 200 characters'),
      certainty: z
        .enum(['certain', 'likely'])
        .optional()
        .describe('`likely` for a program that waits for others too, and has printed a prompt'),
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
    summary:
      'A limit is near (80 %), or it was exceeded and the processes responsible are being ended; or the time-out of a command is a minute away.',
    schema: z.object({
      session_id: sessionId.nullable(),
      command_id: commandId.nullable().describe('The command that runs; null when background processes are meant'),
      level: z.enum(['warning', 'exceeded']),
      ...breach,
      resource: z
        .enum(WARNED_RESOURCES)
        .describe(
          'Which limit; `disk_free_mb` is the free space that the daemon keeps, `timeout_seconds` the time-out of the command, of at least two minutes',
        ),
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
      reason: sessionEndReason,
      detail: z.string(),
      killed_by: optional(killedBy).describe('Which kind of limit, when it has ended for one'),
      limit: optional(kill).describe('Likewise: the limit, and what was ended for it'),
      survivors: optional(z.array(processInfo)).describe('Processes of the session that could not be ended'),
    }),
  },
  session_detached: {
    summary:
      'The connection to the node of a session has broken. The session may still be there: `session_reattached` or `session_closed` follows.',
    schema: z.object({ session_id: sessionId, node: z.string(), code: z.enum(['NODE_UNREACHABLE']) }),
  },
  session_reattached: {
    summary: 'The node of a session is connected again, and the client gets its events again, from where they stopped.',
    schema: z.object({
      session_id: sessionId,
      node: z.string(),
      next_seq: z.int().describe('`seq` of the next event'),
      gap: z
        .object({ from_seq: z.int(), to_seq: z.int() })
        .nullable()
        .describe('Events that are no longer kept, both ends included'),
    }),
  },
  sessions_changed: {
    summary: 'Sessions that have changed, for clients that subscribed to `sessions`.',
    schema: z.object({
      sessions: z.array(sessionInfo),
      closed: z.array(z.object({ session_id: sessionId, reason: sessionEndReason, detail: z.string() })),
      ...tick,
    }),
  },
  commands_changed: {
    summary: 'Commands that were accepted, have changed or ended, for clients that subscribed to `commands`.',
    schema: z.object({ commands: z.array(commandInfo), ...tick }),
  },
  llm_changed: {
    summary: 'LLM calls that were started, have changed or ended, for clients that subscribed to `llm`.',
    schema: z.object({ calls: z.array(llmCallInfo), ...tick }),
  },
  host_usage: {
    summary: 'Measured values of the machine, for clients that subscribed to `host`.',
    schema: hostEntry,
  },
  audit_records: {
    summary: 'New records of the audit log, the oldest first, for clients that subscribed to `audit`.',
    schema: z.object({
      records: z.array(auditRecord).max(MAX_TICK_RECORDS),
      skipped: z.int().describe('Records before these that were left out: `read_audit` has them'),
    }),
  },
  nodes_changed: {
    summary: 'Nodes of the cluster that have come or changed, or were removed, for clients that subscribed to `nodes`.',
    schema: z.object({
      nodes: z.array(nodeInfo),
      removed: z.array(z.string()).describe('Names of nodes that are not listed any more'),
      ...tick,
    }),
  },
  paths_changed: {
    summary: 'Something has changed below paths that this connection watches by `watch_paths`.',
    schema: z.object({
      watch_id: z.string(),
      changes: z.array(
        z.object({ path: z.string().describe('Absolute'), change: z.enum(['created', 'changed', 'removed']) }),
      ),
      overflow: z
        .boolean()
        .describe(
          'More has changed than `changes` says, or cannot be watched: look yourself, by `list_directory` or `find_files`',
        ),
    }),
  },
  watch_ended: {
    summary: 'A watch of `watch_paths` has ended without `unwatch_paths`.',
    schema: z.object({
      watch_id: z.string(),
      reason: z.enum(['session_closed', 'failed']),
      detail: z.string(),
    }),
  },
  access_ended: {
    summary: 'The token of this connection is no longer valid. The daemon then closes the connection.',
    schema: z.object({ message: z.string().describe('Why: it was revoked or replaced, or has expired') }),
  },
  dashboard_link_used: {
    summary: 'A link of `create_dashboard_link` that this connection has asked for was used.',
    schema: z.object({ path: z.string() }),
  },
  server_shutdown: {
    summary: 'The daemon is stopping, and ends all commands and sessions.',
    schema: z.object({
      reason: z.string(),
      grace_ms: z.int().describe('Time until then, at most'),
      node: z
        .string()
        .optional()
        .describe('The worker of a cluster that is stopping, for clients of a gateway, which goes on'),
    }),
  },
} as const;

/** Name of an event that the daemon sends. */
export type EventName = keyof typeof events;

/** Payload of an event. */
export type EventPayload<N extends EventName> = z.output<(typeof events)[N]['schema']>;

/** Reason for the end of a session. */
export type SessionEndReason = EventPayload<'session_closed'>['reason'];

import { z } from 'zod';

import {
  commandId,
  keepWhile,
  label,
  recordingId,
  sandboxProfile,
  sessionId,
  terminalCells,
  timestamp,
} from '../fields.js';
import { commandInfo } from './command-info.js';
import { processInfo } from './commands.js';
import { effectiveLimits } from './limits.js';
import { warning } from './warning.js';

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

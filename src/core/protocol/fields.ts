import { z } from 'zod';

import { ENTRY_TYPES, MAX_PATH_LENGTH } from '../file-edit.js';
import { SIGNAL_NAMES } from '../signals.js';
import { SANDBOX_PROFILES } from '../sandbox-profiles.js';
import { MAX_TIMER_MS } from '../time.js';
import { MAX_RESULT_CHARACTERS } from './bounds.js';

/** Version of the wire protocol; it rises when an existing client would misunderstand the daemon. */
export const PROTOCOL_VERSION = 1;

/** Longest pattern of `search_output`, in characters. */
export const MAX_PATTERN_LENGTH = 256;

/** Most lines that one `search_output` returns. */
export const MAX_SEARCH_MATCHES = 500;

/** Longest text of a line that `search_output` returns, in characters. */
export const MAX_MATCH_CHARACTERS = 400;

/** Longest interval between two samples of a session's resource usage, in milliseconds. */
export const MAX_USAGE_INTERVAL_MS = 3_600_000;

/** Longest name or id a client may choose, in characters. */
const MAX_NAME_LENGTH = 128;

/** Terminal dimensions. node-pty accepts 1e9 without an error, so the bound is set here. */
const MAX_TERMINAL_CELLS = 1000;

const withoutNul = (what: string) => (text: string, context: z.RefinementCtx) => {
  if (text.includes('\0')) context.addIssue({ code: 'custom', message: `${what} cannot contain a NUL character` });
};

/** Text for an argument vector, an environment or a path, none of which can contain NUL. */
export const textWithoutNul = (what: string) => z.string().superRefine(withoutNul(what));

/** An optional field. `null` counts as absent, for clients in languages that serialise optionals as null. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();

const idOf = (what: string) => z.string().min(1).max(MAX_NAME_LENGTH).describe(`Id of a ${what}`);

/** Id of a session. */
export const sessionId = idOf('session, from `open_session`');

/** Id of a command: 1 to 128 letters, digits, or any of `. _ : -`. */
export const commandId = z
  .string()
  .regex(/^[\w.:-]{1,128}$/, 'must be 1 to 128 letters, digits or any of . _ : -')
  .describe('Id of a command');

/** Environment variables, name to value; a value contains no NUL. */
export const environmentVariables = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a variable name: letters, digits and _, not starting with a digit'),
    textWithoutNul('a variable'),
  )
  .describe('Environment variables, name to value');

/** Path of a directory, absolute or relative to the current one. */
export const directory = textWithoutNul('a directory')
  .min(1)
  .describe('A directory: absolute, or relative to the current one');

/** A time-out in milliseconds, from 1 to the longest time of a timer. */
export const timeoutMs = z.int().min(1).max(MAX_TIMER_MS);

/** A time to wait in milliseconds, from 0 to the longest time of a timer. */
export const waitMs = z.int().min(0).max(MAX_TIMER_MS);

/** Least rate of an observer, in bytes per second: one event of full size each second. */
export const MIN_OBSERVER_RATE = 65_536;

/** Columns or rows of a terminal. */
export const terminalCells = z.int().min(1).max(MAX_TERMINAL_CELLS);

/** A name for people. */
export const label = z.string().max(MAX_NAME_LENGTH).describe('A name for people');

/** A point in time, as ISO 8601 in UTC with milliseconds. */
export const timestamp = z.iso.datetime();

/** What keeps a session open. */
export const keepWhile = z.enum(['connected', 'used']);

/** Id of a checkpoint. */
export const checkpointId = idOf('checkpoint, from `checkpoint_workspace`');

/** Id of a recording. */
export const recordingId = idOf('recording');

/** Id of a confirmation. */
export const confirmationId = idOf('confirmation');

/** Id of a remembered approval. */
export const approvalId = idOf('remembered approval');

/** Longest justification of a decision, in characters: it is written to logs. */
export const MAX_JUSTIFICATION_LENGTH = 2000;

/** Most paths that a request may name. */
const MAX_PATHS = 1000;

/** Paths in the workspace, from 1 to `MAX_PATHS` of them. */
export const workspacePaths = z
  .array(textWithoutNul('a path').min(1))
  .min(1)
  .max(MAX_PATHS)
  .describe('Files and directories, each with all that is in it: relative to the workspace, or absolute within it');

/**
 * Output stream of a command: `terminal` is what programs write to /dev/tty, and all output of a `tty` command is
 * `stdout`.
 */
export const outputStream = z.enum(['stdout', 'stderr']);

/** One of a command's two output streams. */
export type OutputStreamName = z.infer<typeof outputStream>;

/** Limits of resource usage, each at most the limit already in effect. */
export const resourceLimits = z
  .strictObject({
    cpu_percent: optional(z.number().positive()).describe('Of one core, on the average over `cpu_window`'),
    cpu_seconds: optional(z.number().positive()).describe('CPU time'),
    memory_mb: optional(z.number().positive()).describe('Memory in MB; files in memory count, cached ones do not'),
    processes: optional(z.int().min(1)).describe('Processes and threads, the shell included'),
    disk_mb: optional(z.number().positive()).describe('MB written to disks'),
  })
  .describe('Limits on what processes may use together: lower ones than hold anyway');

/** Sandbox profile: the part of the machine that a shell may reach. */
export const sandboxProfile = z
  .enum(SANDBOX_PROFILES)
  .describe('`none`, `workspace` (the machine read-only, the workspace writable) or `strict` (and no network)');

/** Signals that a client may send. */
export const signalName = z.enum(SIGNAL_NAMES).describe('Name of a signal; SIGINT is Ctrl-C');

/**
 * Raw bytes: a Socket.IO binary attachment. Node.js delivers a Buffer, browsers an ArrayBuffer, which the client wraps.
 */
export const bytes = z
  .custom<Uint8Array>((value) => value instanceof Uint8Array, 'must be bytes')
  .describe('Bytes, sent as a binary attachment');

/** Longest name of a model or provider, in characters. */
const MAX_MODEL_LENGTH = 256;

/** Most messages of a conversation. */
const MAX_MESSAGES = 10_000;

/** Id of a call of an LLM: 1 to 128 letters, digits, or any of `. _ : -`. */
export const callId = z
  .string()
  .regex(/^[\w.:-]{1,128}$/, 'must be 1 to 128 letters, digits or any of . _ : -')
  .describe('Id of a call of an LLM');

/** Name of a model; at most `MAX_MODEL_LENGTH` characters. */
export const modelName = textWithoutNul('a model').max(MAX_MODEL_LENGTH);

/** Name of a command-line tool in the configuration. */
export const shellProviderName = z.string().min(1).max(MAX_NAME_LENGTH);

/** Messages of a conversation, the oldest first; at least one. */
export const llmMessages = z
  .array(
    z.strictObject({
      role: z.enum(['system', 'user', 'assistant']),
      content: textWithoutNul('a message').describe('Text'),
    }),
  )
  .min(1, 'give at least one message')
  .max(MAX_MESSAGES)
  .describe('The conversation so far');

/** Target of a request: a command by its id, or the command that runs in a session. */
export const target = {
  session_id: optional(sessionId),
  command_id: optional(commandId),
};

/** The session of a command that a request names by its id. */
export const sessionOfCommand = optional(sessionId).describe(
  'The session of the command: with that of another one, there is no such command. In a cluster, a command whose id a client has chosen is asked of the node of its session alone',
);

/** Whether a request has a target. */
export const namesATarget = (request: { session_id?: string | undefined; command_id?: string | undefined }): boolean =>
  request.session_id !== undefined || request.command_id !== undefined;

/** The problem of a request without one. */
export const TARGET_MISSING = { error: 'give session_id or command_id', path: ['session_id'] };

/** A path of a file as its session sees it. */
export const filePath = textWithoutNul('a path')
  .min(1)
  .max(MAX_PATH_LENGTH)
  .describe('Absolute, or relative to the directory of the session; without a session, to the workspace');

/** The session of a request about files. */
export const inSession = optional(sessionId).describe(
  'The session whose directory, sandbox and user count; by default those of a command without a session',
);

/** Time of a change. */
export const mtime = z.number().describe('When the content was changed last, in milliseconds since 1970');

/** Kind of an entry. */
export const entryType = z.enum(ENTRY_TYPES).describe('`other`: a pipe, a socket or a device');

/** Options for returning the output of a command, or a patch. */
export const outputOptions = z
  .strictObject({
    max_size: optional(z.int().min(0).max(MAX_RESULT_CHARACTERS)).describe(
      'Most characters of each stream in the result',
    ),
    begin_size: optional(z.int().min(0)).describe('Characters kept from the beginning of a longer output'),
    end_size: optional(z.int().min(0)).describe('Characters kept from its end'),
    max_lines: optional(z.int().min(0).max(MAX_RESULT_CHARACTERS)).describe(
      'Most lines; by default `begin_lines` and `end_lines` together',
    ),
    begin_lines: optional(z.int().min(0)).describe('Lines kept from the beginning of a longer output'),
    end_lines: optional(z.int().min(0)).describe('Lines kept from its end'),
    max_line_length: optional(z.int().min(1).max(MAX_RESULT_CHARACTERS)).describe(
      'Characters after which a line is cut and ends in `…`',
    ),
    encoding: optional(z.enum(['utf8', 'base64'])).describe('`base64` gives the exact bytes'),
    strip_ansi: optional(z.boolean()).describe('Leave out ANSI escape sequences'),
    collapse_cr: optional(z.boolean()).describe('Show lines overwritten by carriage returns as they end up'),
  })
  .describe('How output is returned; the defaults are the configuration’s');

/** Options for the output of a command. */
export const commandOutputOptions = outputOptions
  .extend({
    merge: optional(z.boolean()).describe(
      'Give both streams one pipe: everything is stdout, in the exact order in which it was written',
    ),
  })
  .describe('How output is returned; the defaults are the configuration’s');

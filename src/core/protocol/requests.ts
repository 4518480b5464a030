import { z } from 'zod';

import { LIMIT_MECHANISM_NAMES } from '../limits/limits.js';
import {
  confirmationInfo,
  confirmationTerms,
  judgedCommands,
  judgement,
  justification,
  optionalTerms,
} from './confirmations.js';
import { checkpointRequests } from './checkpoint-requests.js';
import { daemonIdentity, daemonRequests } from './daemon-requests.js';
import * as field from './fields.js';
import { llmRequests } from './llm-requests.js';
import { outputOptions } from './output-options.js';
import { commandResult, effectiveLimits, processInfo, sessionInfo } from './results.js';

const { optional } = field;

/** Target of a request: a command by its id, or the command that runs in a session. */
const target = {
  session_id: optional(field.sessionId),
  command_id: optional(field.commandId),
};

const namesATarget = (request: { session_id?: string | undefined; command_id?: string | undefined }) =>
  request.session_id !== undefined || request.command_id !== undefined;

const TARGET_MISSING = { error: 'give session_id or command_id', path: ['session_id'] };

/** Input for a terminal. */
const typing = {
  ...target,
  data: optional(z.string()).describe('Text to type; control characters act as keys'),
  eof: optional(z.boolean()).describe('Then signal end of input'),
};

/** `send_input` for clients that can only send text. */
export const typedInput = z.strictObject(typing).refine(namesATarget, TARGET_MISSING);

/** Text for a terminal. */
export type TypedInput = z.output<typeof typedInput>;

/**
 * All requests of the protocol with their input and output schemas. Server and client types, the documentation and the
 * tool schemas are derived from this table alone.
 */
export const requests = {
  open_session: {
    summary: 'Opens a persistent shell session.',
    input: z.strictObject({
      cwd: optional(field.directory),
      env: optional(field.environmentVariables),
      shell: optional(field.textWithoutNul('a shell').min(1)).describe('bash, zsh or sh, or the path of one'),
      label: optional(field.label),
      sandbox: optional(field.sandboxProfile).describe(
        'Sandbox profile: the configured one (`sandbox.profile`) by default, or a stricter one',
      ),
      cols: optional(field.terminalCells).describe('Terminal width; 200 by default'),
      rows: optional(field.terminalCells).describe('Terminal height; 50 by default'),
      limits: optional(field.resourceLimits).describe('Limits for this session, lower than the configured ones'),
    }),
    output: z.object({
      session_id: field.sessionId,
      shell: z.string(),
      working_directory: z.string(),
      expires_at: field.timestamp,
      sandbox: field.sandboxProfile.describe(
        'The sandbox that it is in: less than what is configured where that does not work',
      ),
      limits: effectiveLimits,
    }),
  },
  execute_command: {
    summary: 'Runs a command in a session, or in a fresh environment without one.',
    input: z.strictObject({
      command: field.textWithoutNul('a command').describe('Shell text; with `args`, the program to run'),
      session_id: optional(field.sessionId),
      args: optional(z.array(field.textWithoutNul('an argument'))).describe(
        'Run `command` as a program with exactly these arguments, without shell parsing',
      ),
      cwd: optional(field.directory).describe('Directory for this command alone'),
      env: optional(field.environmentVariables).describe('Variables for this command alone'),
      stdin: optional(z.string()).describe('Text on standard input; by default the terminal, for one-shots nothing'),
      stdin_stream: optional(z.boolean()).describe(
        'Standard input is a pipe that `send_input` feeds under this `command_id`, which is required; see [Streamed input](#streamed-input)',
      ),
      timeout_ms: optional(field.timeoutMs).describe(
        'Most time the command may take; by default `command_max_lifetime`',
      ),
      no_output_timeout_ms: optional(field.timeoutMs).describe('Most time it may take without printing anything'),
      tty: optional(z.boolean()).describe('Put stdout and stderr on the terminal; both come back as stdout'),
      stream: optional(z.boolean()).describe('Send `command_output` events while it runs'),
      background: optional(z.boolean()).describe('Answer at once with `status: "running"`'),
      output: optional(outputOptions),
      limits: optional(field.resourceLimits).describe('Limits for this command, lower than those of its session'),
      sandbox: optional(field.sandboxProfile).describe(
        'Sandbox profile of a command without a session, as in `open_session`; a session keeps its own',
      ),
      command_id: optional(field.commandId).describe('Chosen by the client, it makes a repeated request idempotent'),
    }),
    output: commandResult,
  },
  close_session: {
    summary: 'Ends a session and every process in it.',
    input: z.strictObject({ session_id: field.sessionId }),
    output: z.object({ session_id: field.sessionId }),
  },
  shell_metadata: {
    summary: 'Describes the machine and the shell that commands run on.',
    input: z.strictObject({}),
    output: z.object({
      operating_system: z.string(),
      shell: z.string().describe('The default shell and its version'),
      workspace_directory: z.string(),
      architecture: z.string(),
      kernel: z.string(),
      hostname: z.string(),
      user: z.string(),
      cpus: z.int(),
      memory_bytes: z.int(),
      memory_available_bytes: z.int(),
      disk_bytes: z.int().nullable().describe('Size of the file system of the workspace'),
      disk_free_bytes: z.int().nullable(),
      shells: z.array(z.object({ name: z.string(), path: z.string(), version: z.string() })),
      limits: z.object({
        command_max_lifetime_ms: z.int(),
        session_max_lifetime_ms: z.int(),
        max_sessions: z.int(),
        queue_limit: z.int(),
        max_output_size: z.int(),
        begin_output_size: z.int(),
        end_output_size: z.int(),
        max_message_bytes: z.int(),
      }),
      resource_limits: z.object({
        ...effectiveLimits.shape,
        mechanism: z.enum(LIMIT_MECHANISM_NAMES).describe('By what limits are kept, where any is set'),
        mechanism_in_use: z
          .enum(LIMIT_MECHANISM_NAMES)
          .describe(
            'What new sessions run under that set no limit themselves: `mechanism`, or `polling` while nothing asks for the process namespace of `pid_namespace`',
          ),
        enforced: z.boolean().describe('Whether the kernel itself keeps memory and processes within them'),
        rejected: z
          .array(z.object({ mechanism: z.string(), reason: z.string() }))
          .describe('Better mechanisms, and why they cannot be used here'),
      }),
      sandbox: z.object({
        profile: field.sandboxProfile.describe('What commands are in that ask for nothing stricter'),
        configured: field.sandboxProfile.describe('What `sandbox.profile` says'),
        available: z.array(field.sandboxProfile).describe('What works on this machine'),
        reason: z.string().nullable().describe('Why `profile` is less than what is configured'),
      }),
      ...daemonIdentity,
    }),
  },
  ...daemonRequests,
  check_command: {
    summary: 'Reports the verdict of the policy on a command, without running it.',
    input: z.strictObject({
      command: field.textWithoutNul('a command').describe('As in `execute_command`'),
      args: optional(z.array(field.textWithoutNul('an argument'))).describe('As in `execute_command`'),
      stdin_stream: optional(z.boolean()).describe('As in `execute_command`'),
      session_id: optional(field.sessionId).describe('Where it would run: its directory, aliases and functions count'),
      cwd: optional(field.directory).describe('Directory for this command alone; it need not exist'),
    }),
    output: z.object({
      ...judgement,
      commands: judgedCommands,
      enforced: z.boolean().describe('Whether `execute_command` acts on it; false with `confirmation.mode: off`'),
    }),
  },
  send_input: {
    summary: 'Types into the terminal of a running command, or feeds its streamed standard input.',
    input: z
      .strictObject({
        ...typing,
        data: optional(z.union([z.string(), field.bytes])).describe(
          'Text to type; control characters act as keys. Bytes for a streamed input only',
        ),
        offset: optional(z.int().min(0)).describe(
          'For a streamed input: the position of `data` in it, in bytes. What was taken before is skipped, so the request can be repeated',
        ),
      })
      .refine(namesATarget, TARGET_MISSING),
    output: z.object({
      accepted_bytes: z.int().describe('0 when it has to be confirmed first'),
      stdin_bytes: optional(z.int()).describe('Of a streamed input: bytes taken since its beginning'),
      stdin_closed: optional(z.boolean()).describe(
        'Of a streamed input: true when the command reads no more. Stop sending',
      ),
      status: optional(z.enum(['confirmation_required'])).describe('There when it has to be confirmed first'),
      ...optionalTerms,
    }),
  },
  confirm_command: {
    summary: 'Approves or rejects a confirmation: the command is run, the input is typed, or neither.',
    input: z.strictObject({
      confirmation_id: field.confirmationId,
      decision: z.enum(['approve', 'reject']).describe('`approve` has it done, `reject` has it not done'),
      command_sha256: optional(confirmationTerms.command_sha256).describe(
        'Of what is meant; required to approve what one has asked for oneself. Another one is refused',
      ),
      justification: optional(justification),
    }),
    output: commandResult,
  },
  list_confirmations: {
    summary: 'Lists the open confirmations that this client has caused or may decide.',
    input: z.strictObject({}),
    output: z.object({ confirmations: z.array(confirmationInfo) }),
  },
  signal_command: {
    summary: 'Sends a signal to the foreground processes of a running command.',
    input: z.strictObject({ ...target, signal: field.signalName }).refine(namesATarget, TARGET_MISSING),
    output: z.object({ signalled: z.array(processInfo) }),
  },
  wait_command: {
    summary: 'Waits for a command and returns its result, or the output so far.',
    input: z.strictObject({
      command_id: field.commandId,
      timeout_ms: optional(field.waitMs).describe('How long to wait; 0 asks without waiting; by default until the end'),
    }),
    output: commandResult,
  },
  read_output: {
    summary: 'Reads exact bytes of a command’s output.',
    input: z.strictObject({
      command_id: field.commandId,
      stream: optional(field.outputStream).describe('stdout by default'),
      offset: optional(z.int().min(0)).describe('In bytes; 0 by default'),
      length: optional(z.int().min(1).max(field.MAX_READ_BYTES)).describe('In bytes; 65536 by default'),
    }),
    output: z.object({
      data: field.bytes,
      offset: z.int(),
      size: z.int().describe('Bytes the stream has so far'),
      eof: z.boolean().describe('Nothing follows, now or later'),
    }),
  },
  list_sessions: {
    summary: 'Lists the sessions.',
    input: z.strictObject({}),
    output: z.object({ sessions: z.array(sessionInfo) }),
  },
  get_session: {
    summary: 'Describes one session.',
    input: z.strictObject({ session_id: field.sessionId }),
    output: sessionInfo,
  },
  reset_session: {
    summary: 'Ends everything in a session and gives it a fresh shell under the same id.',
    input: z.strictObject({
      session_id: field.sessionId,
      cwd: optional(field.directory).describe('By default where the session was opened'),
      env: optional(field.environmentVariables).describe('By default what the session was opened with'),
    }),
    output: z.object({ session_id: field.sessionId, shell: z.string(), working_directory: z.string() }),
  },
  resize_terminal: {
    summary: 'Sets the size of the session’s terminal.',
    input: z.strictObject({ session_id: field.sessionId, cols: field.terminalCells, rows: field.terminalCells }),
    output: z.object({ cols: field.terminalCells, rows: field.terminalCells }),
  },
  attach_session: {
    summary: 'Subscribes to a session and replays its output from a sequence number, before the answer.',
    input: z.strictObject({
      session_id: field.sessionId,
      from_seq: optional(z.int().min(0)).describe('First event wanted; by default only what comes from now on'),
      max_bytes_per_second: optional(z.int().min(field.MIN_OBSERVER_RATE)).describe(
        'Observe only: commands never wait for this client, and output above the rate is skipped, oldest first, with `output_gap` events. Observers have sequence numbers of their own. By default it gets all output, and commands wait for it',
      ),
    }),
    output: z.object({
      session_id: field.sessionId,
      next_seq: z.int().describe('`seq` of the next event'),
      replayed: z
        .int()
        .describe('How many events were sent again; 0 for an observer, which gets them after the answer'),
      gap: z
        .object({ from_seq: z.int(), to_seq: z.int() })
        .nullable()
        .describe('The wanted events that are no longer kept, both ends included'),
    }),
  },
  watch_resources: {
    summary:
      'Subscribes to `resource_usage` events, which come while a command or background process runs in the session.',
    input: z.strictObject({
      session_id: field.sessionId,
      interval_ms: z.int().min(0).max(field.MAX_USAGE_INTERVAL_MS).describe('Between two events at least; 0 ends it'),
    }),
    output: z.object({ session_id: field.sessionId, interval_ms: z.int() }),
  },
  ...checkpointRequests,
  ...llmRequests,
} as const;

/** Name of a request. */
export type RequestName = keyof typeof requests;

/** Payload of a request as a client sends it. */
export type RequestInput<N extends RequestName> = z.input<(typeof requests)[N]['input']>;

/** Payload of a request after parsing, as handlers receive it. */
export type Request<N extends RequestName> = z.output<(typeof requests)[N]['input']>;

/** Answer to a request. */
export type Answer<N extends RequestName> = z.output<(typeof requests)[N]['output']>;

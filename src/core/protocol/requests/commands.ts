import { z } from 'zod';

import { MAX_LAST_LINES, MAX_LISTED_COMMANDS, MAX_READ_BYTES } from '../bounds.js';
import { defineRequests } from '../define-requests.js';
import { judgedCommands, judgement } from '../confirmations.js';
import * as field from '../fields.js';
import { commandInfo, commandResult, processInfo } from '../results.js';
import { unreachable } from './nodes.js';

const { commandOutputOptions, namesATarget, optional, sessionOfCommand, target, TARGET_MISSING } = field;

/** Longest name of an owner, in characters. */
const MAX_OWNER_LENGTH = 128;
/** A cursor of a list: a number, and in a cluster one for each node. */
const LIST_CURSOR = /^(?:\d{1,15}|[a-z0-9-]+:\d{1,15}(?:\+[a-z0-9-]+:\d{1,15})*)$/;
const MAX_CURSOR = 65_536;

/** The requests that run a command, and those about a running or ended one. */
export const commandRequests = defineRequests({
  execute_command: {
    summary: 'Runs a command in a session, or in a fresh environment without one.',
    role: 'agent',
    recorded: 'failures',
    route: 'place',
    begins: 'command_id',
    repeat: 'by_id',
    isLong: true,
    streamDefaults: { stream: true },
    subscribesTo: ({ status, command_id: id }, { stream }) =>
      status === 'running' && stream === true ? String(id) : undefined,
    example: { command: 'make test', session_id: 'session_ID', timeout_ms: 60_000, stream: true },
    input: () =>
      z.strictObject({
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
          'Most time the command may take: by default `command_timeout` of the configuration, at most `command_max_lifetime`',
        ),
        no_output_timeout_ms: optional(field.timeoutMs).describe('Most time it may take without printing anything'),
        tty: optional(z.boolean()).describe('Put stdout and stderr on the terminal; both come back as stdout'),
        stream: optional(z.boolean()).describe('Send `command_output` events while it runs'),
        background: optional(z.boolean()).describe('Answer at once with `status: "running"`'),
        output: optional(commandOutputOptions),
        limits: optional(field.resourceLimits).describe('Limits for this command, lower than those of its session'),
        sandbox: optional(field.sandboxProfile).describe(
          'Sandbox profile of a command without a session; a session keeps its own',
        ),
        command_id: optional(field.commandId).describe('Chosen by the client, it makes a repeated request idempotent'),
      }),
    output: () => commandResult,
  },
  check_command: {
    summary: 'Reports the verdict of the policy on a command, without running it.',
    role: 'agent',
    recorded: 'refusals',
    route: 'place',
    repeat: 'safe',
    example: { command: 'git status && rm -rf build', session_id: 'session_ID' },
    input: () =>
      z.strictObject({
        command: field.textWithoutNul('a command').describe('As in `execute_command`'),
        args: optional(z.array(field.textWithoutNul('an argument'))).describe('As in `execute_command`'),
        stdin_stream: optional(z.boolean()).describe('As in `execute_command`'),
        session_id: optional(field.sessionId).describe(
          'Where it would run: its directory, aliases and functions count',
        ),
        cwd: optional(field.directory).describe('Directory for this command alone; it need not exist'),
      }),
    output: () =>
      z.object({
        ...judgement,
        commands: judgedCommands,
        enforced: z.boolean().describe('Whether `execute_command` acts on it; false with `confirmation.mode: off`'),
      }),
  },
  signal_command: {
    summary: 'Sends a signal to the foreground processes of a running command.',
    role: 'agent',
    recorded: 'each',
    route: { object: 'command_id' },
    repeat: 'never',
    example: { session_id: 'session_ID', signal: 'SIGINT' },
    input: () => z.strictObject({ ...target, signal: field.signalName }).refine(namesATarget, TARGET_MISSING),
    output: () =>
      z.object({
        signalled: z
          .array(processInfo)
          .describe(
            'Those that got it. A shell that ignores SIGINT goes on with its next program, even when SIGKILL ends one: `reset_session` ends it',
          ),
      }),
  },
  wait_command: {
    summary: 'Waits for a command and returns its result, or the output so far.',
    role: 'viewer',
    recorded: 'refusals',
    route: { object: 'command_id' },
    repeat: 'safe',
    whileClosing: true,
    isLong: true,
    example: { command_id: 'command_ID', timeout_ms: 5000 },
    input: () =>
      z.strictObject({
        command_id: field.commandId,
        session_id: sessionOfCommand,
        timeout_ms: optional(field.waitMs).describe(
          'How long to wait; 0 asks without waiting; by default until the end',
        ),
      }),
    output: () => commandResult,
  },
  read_output: {
    summary: 'Reads exact bytes of a command’s output, or lines of it.',
    role: 'viewer',
    recorded: 'refusals',
    route: { object: 'command_id' },
    repeat: 'safe',
    whileClosing: true,
    example: { command_id: 'command_ID', stream: 'stdout', offset: 0, length: 65_536 },
    input: () =>
      z
        .strictObject({
          command_id: field.commandId,
          session_id: sessionOfCommand,
          stream: optional(field.outputStream).describe('stdout by default'),
          offset: optional(z.int().min(0)).describe('In bytes; 0 by default. Lines are counted from there'),
          length: optional(z.int().min(1).max(MAX_READ_BYTES)).describe('Most bytes; 65536 by default'),
          from_line: optional(z.int().min(1)).describe('Begin with this line, from 1, as `search_output` counts them'),
          max_lines: optional(z.int().min(1)).describe('Most lines'),
          last_lines: optional(z.int().min(1).max(MAX_LAST_LINES)).describe('Only so many lines at the end'),
          max_line_length: optional(z.int().min(1).max(MAX_READ_BYTES)).describe(
            'Characters after which a line is cut and ends in `…`; the data is then no longer exact',
          ),
        })
        .refine(({ from_line, last_lines }) => from_line === undefined || last_lines === undefined, {
          error: 'counts from the end: give no from_line beside it',
          path: ['last_lines'],
        }),
    output: () =>
      z.object({
        data: field.bytes.describe(
          'Of lines: as many as fit, each with its end; a line that does not fit alone is cut',
        ),
        offset: z.int(),
        from_line: optional(z.int()).describe('Of lines: number of the first one'),
        lines: optional(z.int()).describe('Of lines: how many there are'),
        clipped_lines: optional(z.int()).describe('Of lines: how many were cut by `max_line_length`'),
        next_offset: optional(z.int()).describe('Of lines: where the rest begins, in bytes'),
        size: z.int().describe('Bytes the stream has so far'),
        eof: z.boolean().describe('Nothing follows, now or later'),
      }),
  },
  search_output: {
    summary: 'Searches a command’s output, line by line.',
    role: 'viewer',
    recorded: 'refusals',
    route: { object: 'command_id' },
    repeat: 'safe',
    example: { command_id: 'command_ID', pattern: 'error|warning', regex: true, ignore_case: true, limit: 50 },
    input: () =>
      z.strictObject({
        command_id: field.commandId,
        session_id: sessionOfCommand,
        stream: optional(field.outputStream).describe('stdout by default'),
        pattern: z.string().min(1).max(field.MAX_PATTERN_LENGTH).describe('The text to find, within one line'),
        regex: optional(z.boolean()).describe(
          'Whether `pattern` is a regular expression of [RE2](https://github.com/google/re2/wiki/Syntax)',
        ),
        ignore_case: optional(z.boolean()),
        from_offset: optional(z.int().min(0)).describe('Where to begin, in bytes; 0 by default'),
        limit: optional(z.int().min(1).max(field.MAX_SEARCH_MATCHES)).describe('Most lines to return; 100 by default'),
      }),
    output: () =>
      z.object({
        matches: z.array(
          z.object({
            offset: z
              .int()
              .describe('Where the line begins, in bytes; of a line above 16 KiB, the part with the match'),
            line: z.int().describe('Number of the line, from 1 for the one at `from_offset`'),
            text: z
              .string()
              .max(field.MAX_MATCH_CHARACTERS)
              .describe('The line, or the part around the match if the line is longer'),
          }),
        ),
        scanned_to: z.int().describe('In bytes: `from_offset` of the next call'),
        lines: z
          .int()
          .describe('Line ends from `from_offset` to `scanned_to`: add them to the `line` of the next call'),
        complete: z
          .boolean()
          .describe('Whether everything was searched that the command has printed so far; if not, call again'),
      }),
  },
  list_commands: {
    summary: 'Lists commands, the newest first: those that run, and those whose output is still kept.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'gather',
    repeat: 'safe',
    example: { session_id: 'session_ID', state: 'ended', limit: 20 },
    input: () =>
      z.strictObject({
        session_id: optional(field.sessionId).describe('Only those of a session'),
        owner: optional(z.string().min(1).max(MAX_OWNER_LENGTH)).describe('Only those of a token, by its name'),
        state: optional(z.enum(['running', 'ended'])).describe('`running`: those that have not ended, queued ones too'),
        before: optional(z.string().max(MAX_CURSOR).regex(LIST_CURSOR, 'must be `next` of an answer')).describe(
          '`next` of the answer before',
        ),
        limit: optional(z.int().min(1).max(MAX_LISTED_COMMANDS)).describe('Most commands to return; 50 by default'),
      }),
    output: () =>
      z.object({
        commands: z.array(
          commandInfo.extend({
            number: z.int().describe('Its place on its node: `before` of a request for those before it'),
          }),
        ),
        next: z.string().nullable().describe('`before` of the request for older ones; null at the end of the list'),
        unreachable,
      }),
  },
});

/** What is asked of a command. */
export type CommandRequest = z.output<(typeof commandRequests)['execute_command']['input']>;

/** The same before parsing. */
export type CommandInput = z.input<(typeof commandRequests)['execute_command']['input']>;

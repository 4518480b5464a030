import { z } from 'zod';

import * as field from '../protocol/fields.js';
import { requests, typedInput } from '../protocol/requests.js';
import { defineTool, LOOKS, RUNS, type Tool, toolOf } from './tool.js';

/** Default time-out of `run_command`, in milliseconds. */
const RUN_COMMAND_TIMEOUT_MS = 60_000;

/** Size of each output in an answer to a model, in characters: about 4000 tokens. `read_output` gives the rest. */
export const TOOL_OUTPUT = { max_size: 16_000, begin_size: 8000, end_size: 8000 } as const;

/** Most bytes of an output that one `read_output` of a model returns. */
const MAX_TOOL_READ_BYTES = 16_000;

const { optional } = field;

/** Fields of the tools that run commands: how much of a long output is given. */
const outputLines = {
  begin_lines: optional(z.int().min(0)).describe('Of longer output, only so many first lines'),
  end_lines: optional(z.int().min(0)).describe('And last ones'),
  max_line_length: optional(z.int().min(1)).describe('Cut longer lines'),
};

interface OutputLines {
  readonly begin_lines?: number | undefined;
  readonly end_lines?: number | undefined;
  readonly max_line_length?: number | undefined;
}

/** Moves the wishes about lines into the options of the output. */
function withOutput<T extends OutputLines>({ begin_lines, end_lines, max_line_length, ...rest }: T) {
  const lines = { begin_lines, end_lines };
  const wanted = Object.entries({ ...lines, max_line_length }).filter(([, value]) => value !== undefined);
  const isLimited = begin_lines !== undefined || end_lines !== undefined;
  const sizes = isLimited ? { max_size: TOOL_OUTPUT.max_size } : TOOL_OUTPUT;
  return { output: { ...sizes, ...Object.fromEntries(wanted) }, ...rest };
}
const execute = requests.execute_command.input.shape;
const wait = requests.wait_command.input.shape;
const confirm = requests.confirm_command.input.shape;

const target = {
  session_id: optional(field.sessionId).describe('Id of a session; or give command_id'),
  command_id: optional(field.commandId).describe('Id of a running command'),
};
const TARGET_MISSING = { error: 'give session_id or command_id', path: ['session_id'] };
const environment = field.environmentVariables.describe('Environment variables');

/** The tools that nearly every model needs. */
export const MAIN_TOOLS: readonly Tool[] = [
  defineTool({
    request: 'execute_command',
    name: 'run_command',
    title: 'Run a command',
    description: (start) =>
      `Runs one command in ${start}, in a fresh environment; gives exit_code, stdout and stderr. Nothing of it stays: no ` +
      'directory, variable or background process. Without `args`, `command` is shell text; with it, a program that gets ' +
      'exactly these arguments. Of long output, the beginning and the end are given.',
    input: z.strictObject({
      command: execute.command,
      args: optional(z.array(field.textWithoutNul('an argument'))).describe('Arguments, without shell parsing'),
      timeout_ms: optional(field.timeoutMs).describe(
        `Time limit in milliseconds, ${RUN_COMMAND_TIMEOUT_MS} by default; then it is killed`,
      ),
      cwd: optional(field.directory).describe('Directory to run in'),
      env: optional(environment),
      stdin: optional(z.string()).describe('Standard input; empty by default'),
      ...outputLines,
    }),
    hints: RUNS,
    isMain: true,
    toPayload: ({ timeout_ms, ...rest }) => ({
      ...withOutput(rest),
      timeout_ms: timeout_ms ?? RUN_COMMAND_TIMEOUT_MS,
    }),
  }),
  defineTool({
    request: 'open_session',
    title: 'Open a shell session',
    description: (start) =>
      `Opens a shell in ${start} that stays: directory, variables, functions and background jobs last from one ` +
      'execute_command to the next. Gives its session_id. Close it with close_session.',
    input: z.strictObject({
      cwd: optional(field.directory).describe('Directory to start in'),
      env: optional(environment),
      shell: requests.open_session.input.shape.shell,
      label: requests.open_session.input.shape.label,
      login: requests.open_session.input.shape.login,
      environment: requests.open_session.input.shape.environment,
    }),
    isMain: true,
    toPayload: (args) => args,
  }),
  defineTool({
    request: 'execute_command',
    title: 'Run a command in a session',
    description:
      'Runs a command in a session of open_session. If it asks for input, answer with type_input. With `background` the ' +
      'answer comes at once, and wait_command gives the result.',
    input: z.strictObject({
      command: execute.command,
      session_id: optional(field.sessionId).describe('Id from open_session; without one, it runs as by run_command'),
      background: optional(z.boolean()).describe('Answer at once with a command_id'),
      timeout_ms: optional(field.timeoutMs).describe('Time limit in milliseconds; by default what the daemon allows'),
      args: optional(z.array(field.textWithoutNul('an argument'))).describe('As in run_command'),
      cwd: optional(field.directory).describe('Directory for this command alone'),
      env: optional(environment).describe('Variables for this command alone'),
      stdin: optional(z.string()).describe('Standard input; by default the terminal'),
      tty: optional(z.boolean()).describe('Whether its output goes to the terminal: for full-screen programs'),
      ...outputLines,
    }),
    hints: RUNS,
    isMain: true,
    toPayload: withOutput,
  }),
  defineTool({
    request: 'wait_command',
    title: 'Wait for a command',
    description: 'Waits for a command and gives its result, or its output so far when timeout_ms is over.',
    input: z.strictObject({
      command_id: wait.command_id,
      timeout_ms: optional(field.waitMs).describe('How long to wait, in milliseconds; 0 only looks; default: the end'),
    }),
    hints: LOOKS,
    toPayload: (args) => args,
  }),
  defineTool({
    request: 'send_input',
    name: 'type_input',
    formerNames: ['send_input'],
    title: 'Type into a command',
    description:
      'Types into the terminal of a command that this server runs: an answer to its question, ending in a newline. "\\u0003" is Ctrl-C.',
    input: z
      .strictObject({
        ...target,
        data: typedInput.shape.data,
        keys: optional(z.array(z.string())).describe(
          'Keys to press after data, such as "Enter", "Up", "F5", "C-c", "q"',
        ),
        eof: typedInput.shape.eof,
      })
      .refine(namesATarget, TARGET_MISSING),
    hints: RUNS,
    toPayload: (args) => args,
  }),
  defineTool({
    request: 'read_output',
    title: 'Read more of an output',
    description:
      'Reads any part of the output of a command, by bytes or lines, such as the middle that a result left out.',
    input: z.strictObject({
      command_id: field.commandId,
      stream: requests.read_output.input.shape.stream,
      offset: requests.read_output.input.shape.offset,
      length: optional(z.int().min(1).max(MAX_TOOL_READ_BYTES)).describe(
        `In bytes; ${MAX_TOOL_READ_BYTES} by default and at most`,
      ),
      from_line: optional(z.int().min(1)).describe('Begin with this line instead, from 1'),
      max_lines: optional(z.int().min(1)).describe('Most lines'),
      last_lines: optional(z.int().min(1)).describe('Only the last lines'),
      max_line_length: optional(z.int().min(1)).describe('Cut longer lines, in characters'),
    }),
    hints: LOOKS,
    toPayload: ({ length, ...rest }) => ({ ...rest, length: length ?? MAX_TOOL_READ_BYTES }),
  }),
  toolOf('close_session', {
    title: 'Close a session',
    description: 'Ends a session and every process in it.',
    hints: { destructiveHint: true },
  }),
  defineTool({
    request: 'confirm_command',
    title: 'Confirm a command',
    description:
      'Decides about a command that was answered with confirmation_required: to approve it, make the call that `next` of ' +
      'that answer gives; the answer is then its result.',
    input: z.strictObject({
      confirmation_id: confirm.confirmation_id,
      decision: z.enum(['approve', 'reject']).describe('Whether it runs'),
      command_sha256: optional(z.string()).describe('From `next`; needed to approve'),
      justification: optional(z.string()).describe('Why it should run; needed to approve'),
    }),
    hints: RUNS,
    toPayload: (args) => args,
  }),
];

function namesATarget(request: { session_id?: string | undefined; command_id?: string | undefined }): boolean {
  return request.session_id !== undefined || request.command_id !== undefined;
}

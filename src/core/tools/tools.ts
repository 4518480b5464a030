import { z } from 'zod';

import * as field from '../protocol/fields.js';
import { requests } from '../protocol/requests.js';
import { defineTool, LOOKS, RUNS, type Tool, toolOf } from './tool.js';

/** How long a `run_command` may take unless told otherwise, in milliseconds. */
const RUN_COMMAND_TIMEOUT_MS = 60_000;

/** What a model gets to see of each output, in characters: some 4000 tokens. `read_output` gives the rest. */
const TOOL_OUTPUT = { max_size: 16_000, begin_size: 8000, end_size: 8000 } as const;

/** Most bytes of an output that a model gets at once. */
const MAX_TOOL_READ_BYTES = 16_000;

const { optional } = field;

/** Every tool, those first that a model needs most. */
export const TOOLS: readonly Tool[] = [
  defineTool({
    request: 'execute_command',
    name: 'run_command',
    title: 'Run a command',
    description:
      'Runs one command in a fresh environment in the workspace, and gives its exit_code, stdout and stderr. Nothing of it ' +
      'stays: no directory, no variable, no background process. With `args`, `command` is a program that gets exactly these ' +
      'arguments, without shell parsing; without, it is shell text. Long outputs come back as their beginning and end.',
    input: z.strictObject({
      command: requests.execute_command.input.shape.command,
      args: requests.execute_command.input.shape.args,
      timeout: optional(field.timeoutMs).describe(
        `Most time it may take, in milliseconds; ${RUN_COMMAND_TIMEOUT_MS} by default, or what the daemon allows if that is less. After it everything of it is ended`,
      ),
      cwd: requests.execute_command.input.shape.cwd,
      env: requests.execute_command.input.shape.env,
      stdin: optional(z.string()).describe('Text on standard input; by default nothing'),
    }),
    hints: RUNS,
    renamed: { timeout_ms: 'timeout' },
    toPayload: ({ timeout, ...rest }) => ({
      ...rest,
      timeout_ms: timeout ?? RUN_COMMAND_TIMEOUT_MS,
      output: TOOL_OUTPUT,
    }),
  }),
  defineTool({
    request: 'open_session',
    title: 'Open a shell session',
    description:
      'Opens a shell that stays: directory, variables, functions and background jobs last from one execute_command to the ' +
      'next. Gives its session_id. Close it when it is no longer needed.',
    input: requests.open_session.input.omit({ cols: true, rows: true }),
    toPayload: (args) => args,
  }),
  defineTool({
    request: 'execute_command',
    title: 'Run a command in a session',
    description:
      'Runs a command in a session (or, without session_id, like run_command). A command that asks for input waits: ' +
      'send_input types into it. With `background` the answer comes at once, and wait_command gives the result.',
    input: requests.execute_command.input.omit({ stream: true, output: true, command_id: true }),
    hints: RUNS,
    toPayload: (args) => ({ ...args, output: TOOL_OUTPUT }),
  }),
  toolOf('wait_command', {
    title: 'Wait for a command',
    description:
      'Waits for a command that runs in the background and gives its result, or what has come so far when `timeout_ms` is over.',
    hints: LOOKS,
  }),
  toolOf('send_input', {
    title: 'Type into a command',
    description:
      'Types into the terminal of a running command: answers to its questions, each with a newline at its end.',
    hints: RUNS,
  }),
  toolOf('signal_command', {
    title: 'Signal a command',
    description: 'Sends a signal to a running command; SIGINT is Ctrl-C.',
    hints: { destructiveHint: true },
  }),
  defineTool({
    request: 'read_output',
    title: 'Read more of an output',
    description: 'Reads any part of the output of a command, such as the middle that was left out of a result.',
    input: requests.read_output.input.extend({
      length: optional(z.int().min(1).max(MAX_TOOL_READ_BYTES)).describe(
        `In bytes; ${MAX_TOOL_READ_BYTES} by default and at most`,
      ),
    }),
    hints: LOOKS,
    toPayload: ({ length, ...rest }) => ({ ...rest, length: length ?? MAX_TOOL_READ_BYTES }),
  }),
  toolOf('close_session', {
    title: 'Close a session',
    description: 'Ends a session and every process in it.',
    hints: { destructiveHint: true },
  }),
  toolOf('list_sessions', { title: 'List sessions', description: 'Lists the open sessions.', hints: LOOKS }),
  toolOf('reset_session', {
    title: 'Reset a session',
    description:
      'Ends everything in a session and gives it a fresh shell under the same id: for a session that is broken.',
    hints: { destructiveHint: true },
  }),
  toolOf('check_command', {
    title: 'Check a command',
    description:
      'Says, without running it, whether a command would run, would have to be confirmed, or is denied, and why.',
    hints: LOOKS,
  }),
  toolOf('confirm_command', {
    title: 'Confirm a command',
    description:
      'Has a command run that was answered with the status confirmation_required and `requires: "self"`, or has it not run. To ' +
      'approve it, give its command_sha256 and a justification; the answer is then its result. Others have to be confirmed by others.',
    hints: RUNS,
  }),
  toolOf('shell_metadata', {
    title: 'Describe the machine',
    description: 'Tells the operating system, shells, workspace directory and limits.',
    hints: LOOKS,
  }),
  toolOf('checkpoint_workspace', {
    title: 'Save the workspace',
    description: 'Saves everything in the workspace, so that restore_workspace can bring it back.',
  }),
  toolOf('list_checkpoints', { title: 'List checkpoints', description: 'Lists what was saved.', hints: LOOKS }),
  defineTool({
    request: 'diff_workspace',
    title: 'Compare with a checkpoint',
    description: 'Tells what has changed in the workspace since a checkpoint; `format: "patch"` shows how.',
    input: requests.diff_workspace.input.omit({ output: true }),
    hints: LOOKS,
    toPayload: (args) => ({ ...args, output: TOOL_OUTPUT }),
  }),
  toolOf('restore_workspace', {
    title: 'Restore the workspace',
    description:
      'Brings the workspace, or paths of it, back to what a checkpoint has. What is there now is saved first, so this can be undone.',
    hints: { destructiveHint: true },
  }),
];

/** The tool of a name; undefined when there is none. */
export const findTool = (name: string): Tool | undefined => TOOLS.find((tool) => tool.name === name);

/** What a model is told about all of them together. */
export const TOOL_INSTRUCTIONS =
  'Shell commands on this machine. Use run_command for one command; open_session and execute_command when directory, ' +
  'variables or background jobs must last. Every answer is JSON. stdout and stderr are exact; a long one is its beginning and ' +
  'end with a marker between, and read_output gives the rest. exit_code is the true one: 124 after a time-out, 128+n for ' +
  'signal n. A status of confirmation_required means that the command has not run: follow what the answer says.';

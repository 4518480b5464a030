import { z } from 'zod';

import * as field from '../protocol/fields.js';
import { requests, typedInput } from '../protocol/requests.js';
import { fileSearchRequests } from '../protocol/requests/file-search.js';
import { fileRequests } from '../protocol/requests/files.js';
import { waitingRequests } from '../protocol/requests/waiting.js';
import { defineTool, LOOKS, type ObjectSchema, RUNS, type Tool, toolOf } from './tool.js';
import type { ToolFormat, ToolSet } from './tool-sets.js';

/** Most bytes of a file that one `read_file` of a model returns: about 4000 tokens. */
const MAX_TOOL_READ_BYTES = 16_000;

/** Most lines of one `search_files` of a model, and its default: about 2000 tokens. */
const MAX_TOOL_MATCHES = 200;
const DEFAULT_TOOL_MATCHES = 50;

const { optional } = field;
const read = fileRequests.read_file.input.shape;
const search = fileSearchRequests.search_files.input.shape;
const edit = fileRequests.edit_file.input.shape;

const path = field.textWithoutNul('a path').min(1).describe('Absolute, or relative to where commands start');
const session_id = optional(field.sessionId).describe('Take the path from the directory of this session');

/** The tools for files. */
const FILE_TOOLS: readonly Tool[] = [
  defineTool({
    request: 'read_file',
    title: 'Read a file',
    description:
      'Reads a text file, at most 16000 bytes of whole lines; `next` gives the rest. `line_numbers` puts a number and a tab before ' +
      'each line, which are not in the file.',
    input: z.strictObject({
      path,
      from_line: read.from_line,
      max_lines: optional(z.int().min(1)).describe('Most lines'),
      line_numbers: optional(z.boolean()).describe('Number the lines'),
      offset: optional(z.int().min(0)).describe('Begin at this byte instead'),
      session_id,
    }),
    hints: LOOKS,
    toPayload: ({ offset, from_line, ...rest }) => ({
      ...rest,
      ...(offset === undefined ? { from_line: from_line ?? 1 } : { offset, encoding: 'utf8' as const }),
      length: MAX_TOOL_READ_BYTES,
    }),
  }),
  defineTool({
    request: 'write_file',
    title: 'Write a file',
    description: 'Writes a text file, with the directories above it; replaces the content of one that is there.',
    input: z.strictObject({
      path,
      content: z.string().describe('The whole content'),
      mode: optional(z.enum(['create', 'overwrite', 'append'])).describe('overwrite by default'),
      session_id,
    }),
    hints: { destructiveHint: true, idempotentHint: false },
    toPayload: ({ content, ...rest }) => ({ ...rest, data: content, create_directories: true }),
  }),
  defineTool({
    request: 'edit_file',
    title: 'Edit a file',
    description: 'Replaces an exact text in a file, which must occur once, or everywhere with `all`; gives the diff.',
    input: z.strictObject({
      path,
      old_text: edit.old_text,
      new_text: edit.new_text,
      all: optional(z.boolean()).describe('Replace every occurrence'),
      session_id,
    }),
    hints: { destructiveHint: true },
    toPayload: (args) => args,
  }),
  defineTool({
    request: 'search_files',
    title: 'Search files',
    description:
      'Searches text files below a directory, line by line, for a text or a regular expression; leaves out what .gitignore excludes.',
    input: z.strictObject({
      pattern: search.pattern,
      regex: optional(z.boolean()).describe('Whether it is a regular expression of RE2'),
      ignore_case: optional(z.boolean()).describe('Whether case does not matter'),
      path: optional(path).describe('Directory or file; by default where commands start'),
      glob: optional(z.string().min(1)).describe('Only files of this name, such as *.c'),
      limit: optional(z.int().min(1).max(MAX_TOOL_MATCHES)).describe(`Most lines, ${DEFAULT_TOOL_MATCHES} by default`),
      session_id,
    }),
    hints: LOOKS,
    toPayload: ({ limit, ...rest }) => ({ ...rest, path: rest.path ?? '.', limit: limit ?? DEFAULT_TOOL_MATCHES }),
  }),
];

/** Default time-out of `run_command`, in milliseconds. */
const RUN_COMMAND_TIMEOUT_MS = 60_000;

/** Size of each output in an answer to a model, in characters: about 4000 tokens. `read_output` gives the rest. */
const TOOL_OUTPUT = { max_size: 16_000, begin_size: 8000, end_size: 8000 } as const;

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
const MAIN_TOOLS: readonly Tool[] = [
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

const waitFor = waitingRequests.wait_for.input.shape;

/** The tools to wait for what commands do, and to look at terminals. */
const TERMINAL_TOOLS: readonly Tool[] = [
  defineTool({
    request: 'wait_for',
    title: 'Wait for something',
    description:
      'Waits for the first that comes: a port that listens, a path that exists, a pattern in the output of a command or its end, a ' +
      'text on a screen or a screen that is still. Gives `condition`, and of a screen what it shows.',
    input: z.strictObject({
      session_id: optional(field.sessionId).describe('Of a port, path or screen: in this session'),
      command_id: optional(field.commandId).describe('Until it has ended, or as the other arguments say'),
      port: waitFor.port,
      path: optional(field.textWithoutNul('a path').min(1)).describe('Until it exists'),
      pattern: optional(z.string()).describe('Until the command has printed this, within one line'),
      screen_text: optional(z.string()).describe('Until the screen shows this, within one line'),
      screen_stable_ms: optional(z.int()).describe('Until the screen has not changed for this time'),
      regex: optional(z.boolean()).describe('Whether pattern and screen_text are regular expressions of RE2'),
      timeout_ms: optional(z.int().min(0)).describe('How long to wait, in milliseconds; 30000 by default'),
    }),
    hints: LOOKS,
    toPayload: (args) => args,
  }),
  defineTool({
    request: 'read_screen',
    title: 'Look at a terminal',
    description:
      'Gives what the terminal of a command shows: of a command that was run with `tty`. Act on it by type_input with `keys`, ' +
      'then wait_for what changes.',
    input: z
      .strictObject({
        session_id: optional(field.sessionId).describe('Id of a session: what runs in it; or give command_id'),
        command_id: optional(field.commandId).describe('Id of a command'),
      })
      .refine(({ session_id, command_id }) => session_id !== undefined || command_id !== undefined, {
        error: 'give session_id or command_id',
        path: ['session_id'],
      }),
    hints: LOOKS,
    toPayload: (args) => args,
  }),
  defineTool({
    request: 'list_ports',
    title: 'List ports',
    description: 'Lists the TCP ports on which processes of your sessions listen, with process and command.',
    input: z.strictObject({ session_id: optional(field.sessionId).describe('Only of this session') }),
    hints: LOOKS,
    toPayload: (args) => args,
  }),
];

const OTHER_TOOLS: readonly Tool[] = [
  toolOf('signal_command', {
    title: 'Signal a command',
    description:
      'Sends a signal to a running command; SIGINT is Ctrl-C. What goes on after SIGKILL is ended by reset_session.',
    hints: { destructiveHint: true },
  }),
  toolOf('list_sessions', { title: 'List sessions', description: 'Lists the open sessions.', hints: LOOKS }),
  toolOf('reset_session', {
    title: 'Reset a session',
    description: 'Ends everything in a session and gives it a fresh shell under the same id, when it is broken.',
    hints: { destructiveHint: true },
  }),
  defineTool({
    request: 'check_command',
    title: 'Check a command',
    description:
      'Says, without running it, whether a command would run, would have to be confirmed, or is denied, and why.',
    input: requests.check_command.input.omit({ stdin_stream: true }),
    hints: LOOKS,
    toPayload: (args) => args,
  }),
  toolOf('shell_metadata', {
    title: 'Describe the machine',
    description: 'Tells the operating system, shells, workspace directory and limits.',
    hints: LOOKS,
  }),
  toolOf('checkpoint_workspace', {
    title: 'Save the workspace',
    description: (start) =>
      `Saves all files in the ${workspaceBeside(start)}, so that restore_workspace can bring them back.`,
  }),
  toolOf('list_checkpoints', { title: 'List checkpoints', description: 'Lists the saved checkpoints.', hints: LOOKS }),
  defineTool({
    request: 'diff_workspace',
    title: 'Compare with a checkpoint',
    description: 'Tells what has changed in the workspace since a checkpoint; `format: "patch"` shows how.',
    input: requests.diff_workspace.input.omit({ output: true }),
    hints: LOOKS,
    toPayload: (args) => ({ output: TOOL_OUTPUT, ...args }),
  }),
  toolOf('restore_workspace', {
    title: 'Restore the workspace',
    description:
      'Brings the workspace, or paths of it, back to what a checkpoint has. The present files are saved first, so this can be undone.',
    hints: { destructiveHint: true },
  }),
];

/** All tools, the most important ones first. */
export const TOOLS: readonly Tool[] = [...MAIN_TOOLS, ...FILE_TOOLS, ...TERMINAL_TOOLS, ...OTHER_TOOLS];

/** Selections of tools. */
export const TOOL_SETS: Readonly<Record<ToolSet, readonly Tool[]>> = {
  core: MAIN_TOOLS,
  run: MAIN_TOOLS.filter(({ name }) => name === 'run_command'),
  files: [...MAIN_TOOLS, ...FILE_TOOLS],
  terminal: [...MAIN_TOOLS, ...TERMINAL_TOOLS],
  all: TOOLS,
};

/** Wording for a model of the directory in which commands start, when neither the client nor its user names one. */
export const WORKSPACE = 'the workspace';

/**
 * Finds a tool by its name or a former name.
 * @returns undefined when no tool has that name
 */
export const findTool = (name: string, tools: readonly Tool[] = TOOLS): Tool | undefined =>
  tools.find((tool) => tool.name === name) ?? tools.find(({ formerNames }) => formerNames.includes(name));

/** A note that the daemon's workspace differs from the directory in which commands start. */
function workspaceBeside(start: string): string {
  return start === WORKSPACE ? 'workspace' : `daemon's workspace (see shell_metadata; ${start} may be outside it)`;
}

/** A tool in the format of OpenAI's chat completions. */
export interface OpenAiTool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: ObjectSchema };
}

/** A tool in the format of Anthropic's messages. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ObjectSchema;
}

/**
 * The tools for the `tools` field of a chat completion.
 * @param set selection of tools; @default 'all'
 */
export const openAiTools = (set: ToolSet = 'all'): readonly OpenAiTool[] =>
  TOOL_SETS[set].map((tool) => ({
    type: 'function',
    function: { name: tool.name, description: tool.describe(WORKSPACE), parameters: tool.schema },
  }));

/**
 * The tools for the `tools` field of an Anthropic message.
 * @param set selection of tools; @default 'all'
 */
export const anthropicTools = (set: ToolSet = 'all'): readonly AnthropicTool[] =>
  TOOL_SETS[set].map((tool) => ({
    name: tool.name,
    description: tool.describe(WORKSPACE),
    input_schema: tool.schema,
  }));

/** The definitions of a selection of tools in one format. */
export const toolDefinitions = (format: ToolFormat, set: ToolSet = 'all'): readonly (OpenAiTool | AnthropicTool)[] =>
  format === 'openai' ? openAiTools(set) : anthropicTools(set);

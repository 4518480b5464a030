import { z } from 'zod';

import { optional } from '../protocol/fields.js';
import { type ObjectSchema, type Tool, toolOf } from './tool.js';
import type { ToolFormat, ToolSet } from './tool-sets.js';

/** Most bytes that one `read_file` or `read_output` of a model returns, and their default: about 4000 tokens. */
const MAX_READ_BYTES = 16_000;

/** Most lines of one `search_files` of a model, and its default: about 2000 tokens. */
const MAX_MATCHES = 200;
const DEFAULT_MATCHES = 50;

/** Default time-out of `run_command`, in milliseconds. */
const RUN_COMMAND_TIMEOUT_MS = 60_000;

/** Size of each output in an answer to a model, in characters: about 4000 tokens. `read_output` gives the rest. */
const OUTPUT = { max_size: 16_000, begin_size: 8000, end_size: 8000 } as const;

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
  const sizes = isLimited ? { max_size: OUTPUT.max_size } : OUTPUT;
  return { output: { ...sizes, ...Object.fromEntries(wanted) }, ...rest };
}

/** The tools that nearly every model needs. */
const MAIN_TOOLS: readonly Tool[] = [
  toolOf('execute_command', {
    name: 'run_command',
    title: 'Run a command',
    description: (start) =>
      `Runs one command in ${start}, in a fresh environment; gives exit_code, stdout and stderr. Nothing of it stays: no ` +
      'directory, variable or background process. Without `args`, `command` is shell text; with it, a program that gets ' +
      'exactly these arguments. Of long output, the beginning and the end are given.',
    fields: {
      command: true,
      args: 'Arguments, without shell parsing',
      timeout_ms: `Time limit in milliseconds, ${RUN_COMMAND_TIMEOUT_MS} by default; then it is killed`,
      cwd: 'Directory to run in',
      env: 'Environment variables',
      stdin: 'Standard input; empty by default',
      ...outputLines,
    },
    defaults: { timeout_ms: RUN_COMMAND_TIMEOUT_MS },
    payload: withOutput,
    hints: { openWorldHint: true },
    isMain: true,
  }),
  toolOf('open_session', {
    title: 'Open a shell session',
    description: (start) =>
      `Opens a shell in ${start} that stays: directory, variables, functions and background jobs last from one ` +
      'execute_command to the next. Gives its session_id. Close it with close_session.',
    fields: {
      cwd: 'Directory to start in',
      env: 'Environment variables',
      shell: true,
      label: true,
      login: true,
      environment: true,
    },
    hints: { destructiveHint: false },
    isMain: true,
  }),
  toolOf('execute_command', {
    title: 'Run a command in a session',
    description:
      'Runs a command in a session of open_session. If it asks for input, answer with type_input. With `background` the ' +
      'answer comes at once, and wait_command gives the result.',
    fields: {
      command: true,
      session_id: 'Id from open_session; without one, it runs as by run_command',
      background: 'Answer at once with a command_id',
      timeout_ms: 'Time limit in milliseconds; by default what the daemon allows',
      args: 'As in run_command',
      cwd: true,
      env: true,
      stdin: 'Standard input; by default the terminal',
      tty: 'Whether its output goes to the terminal: for full-screen programs',
      ...outputLines,
    },
    payload: withOutput,
    hints: { openWorldHint: true },
    isMain: true,
  }),
  toolOf('wait_command', {
    title: 'Wait for a command',
    description: 'Waits for a command and gives its result, or its output so far when timeout_ms is over.',
    fields: {
      command_id: true,
      timeout_ms: 'How long to wait, in milliseconds; 0 only looks; default: the end',
    },
  }),
  toolOf('send_input', {
    name: 'type_input',
    formerNames: ['send_input'],
    title: 'Type into a command',
    description:
      'Types into the terminal of a command that this server runs: an answer to its question, ending in a newline. "\\u0003" is Ctrl-C.',
    fields: {
      session_id: 'Id of a session; or give command_id',
      command_id: 'Id of a running command',
      data: optional(z.string()).describe('Text to type; control characters act as keys'),
      keys: optional(z.array(z.string())).describe('Keys to press after data, such as "Enter", "Up", "F5", "C-c", "q"'),
      eof: true,
    },
    hints: { openWorldHint: true },
  }),
  toolOf('read_output', {
    title: 'Read more of an output',
    description:
      'Reads any part of the output of a command, by bytes or lines, such as the middle that a result left out.',
    fields: {
      command_id: true,
      stream: true,
      offset: true,
      length: optional(z.int().min(1).max(MAX_READ_BYTES)).describe(
        `In bytes; ${MAX_READ_BYTES} by default and at most`,
      ),
      from_line: 'Begin with this line instead, from 1',
      max_lines: true,
      last_lines: 'Only the last lines',
      max_line_length: 'Cut longer lines, in characters',
    },
    defaults: { length: MAX_READ_BYTES },
  }),
  toolOf('close_session', { title: 'Close a session', description: 'Ends a session and every process in it.' }),
  toolOf('confirm_command', {
    title: 'Confirm a command',
    description:
      'Decides about a command that was answered with confirmation_required: to approve it, make the call that `next` of ' +
      'that answer gives; the answer is then its result.',
    fields: {
      confirmation_id: true,
      decision: 'Whether it runs',
      command_sha256: 'From `next`; needed to approve',
      justification: 'Why it should run; needed to approve',
    },
    hints: { openWorldHint: true },
  }),
];

const PATH = 'Absolute, or relative to where commands start';
const SESSION_OF_PATH = 'Take the path from the directory of this session';

/** The tools for files. What only reads is recorded too, since it may read secrets. */
const FILE_TOOLS: readonly Tool[] = [
  toolOf('read_file', {
    title: 'Read a file',
    description:
      `Reads a text file, at most ${MAX_READ_BYTES} bytes of whole lines; \`next\` gives the rest. \`line_numbers\` puts a number and a tab before ` +
      'each line, which are not in the file.',
    fields: {
      path: PATH,
      from_line: true,
      max_lines: 'Most lines',
      line_numbers: 'Number the lines',
      offset: 'Begin at this byte instead',
      session_id: SESSION_OF_PATH,
    },
    defaults: { length: MAX_READ_BYTES },
    payload: ({ offset, from_line, ...rest }) => ({
      ...rest,
      ...(offset === undefined ? { from_line: from_line ?? 1 } : { offset, encoding: 'utf8' as const }),
    }),
    hints: { readOnlyHint: true },
  }),
  toolOf('write_file', {
    title: 'Write a file',
    description: 'Writes a text file, with the directories above it; replaces the content of one that is there.',
    fields: {
      path: PATH,
      content: z.string().describe('The whole content'),
      mode: 'overwrite by default',
      session_id: SESSION_OF_PATH,
    },
    defaults: { create_directories: true },
    payload: ({ content, ...rest }) => ({ ...rest, data: content }),
  }),
  toolOf('edit_file', {
    title: 'Edit a file',
    description: 'Replaces an exact text in a file, which must occur once, or everywhere with `all`; gives the diff.',
    fields: {
      path: PATH,
      old_text: true,
      new_text: true,
      all: 'Replace every occurrence',
      session_id: SESSION_OF_PATH,
    },
  }),
  toolOf('search_files', {
    title: 'Search files',
    description:
      'Searches text files below a directory, line by line, for a text or a regular expression; leaves out what .gitignore excludes.',
    fields: {
      pattern: true,
      regex: 'Whether it is a regular expression of RE2',
      ignore_case: 'Whether case does not matter',
      path: 'Directory or file; by default where commands start',
      glob: 'Only files of this name, such as *.c',
      limit: optional(z.int().min(1).max(MAX_MATCHES)).describe(`Most lines, ${DEFAULT_MATCHES} by default`),
      session_id: SESSION_OF_PATH,
    },
    defaults: { path: '.', limit: DEFAULT_MATCHES },
    hints: { readOnlyHint: true },
  }),
];

/** The tools to wait for what commands do, and to look at terminals. */
const TERMINAL_TOOLS: readonly Tool[] = [
  toolOf('wait_for', {
    title: 'Wait for something',
    description:
      'Waits for the first that comes: a port that listens, a path that exists, a pattern in the output of a command or its end, a ' +
      'text on a screen or a screen that is still. Gives `condition`, and of a screen what it shows.',
    fields: {
      session_id: 'Of a port, path or screen: in this session',
      command_id: 'Until it has ended, or as the other arguments say',
      port: true,
      path: 'Until it exists',
      pattern: true,
      screen_text: 'Until the screen shows this, within one line',
      screen_stable_ms: 'Until the screen has not changed for this time',
      regex: 'Whether pattern and screen_text are regular expressions of RE2',
      timeout_ms: 'How long to wait, in milliseconds; 30000 by default',
    },
  }),
  toolOf('read_screen', {
    title: 'Look at a terminal',
    description:
      'Gives what the terminal of a command shows: of a command that was run with `tty`. Act on it by type_input with `keys`, ' +
      'then wait_for what changes.',
    fields: {
      session_id: 'Id of a session: what runs in it; or give command_id',
      command_id: true,
    },
  }),
  toolOf('list_ports', {
    title: 'List ports',
    description: 'Lists the TCP ports on which processes of your sessions listen, with process and command.',
    fields: { session_id: 'Only of this session' },
  }),
];

const OTHER_TOOLS: readonly Tool[] = [
  toolOf('signal_command', {
    title: 'Signal a command',
    description:
      'Sends a signal to a running command; SIGINT is Ctrl-C. What goes on after SIGKILL is ended by reset_session.',
  }),
  toolOf('list_sessions', { title: 'List sessions', description: 'Lists the open sessions.' }),
  toolOf('reset_session', {
    title: 'Reset a session',
    description: 'Ends everything in a session and gives it a fresh shell under the same id, when it is broken.',
  }),
  toolOf('check_command', {
    title: 'Check a command',
    description:
      'Says, without running it, whether a command would run, would have to be confirmed, or is denied, and why.',
    fields: { command: true, args: true, session_id: true, cwd: true },
  }),
  toolOf('shell_metadata', {
    title: 'Describe the machine',
    description: 'Tells the operating system, shells, workspace directory and limits.',
  }),
  toolOf('checkpoint_workspace', {
    title: 'Save the workspace',
    description: (start) =>
      `Saves all files in the ${workspaceBeside(start)}, so that restore_workspace can bring them back.`,
    hints: { destructiveHint: false },
  }),
  toolOf('list_checkpoints', { title: 'List checkpoints', description: 'Lists the saved checkpoints.' }),
  toolOf('diff_workspace', {
    title: 'Compare with a checkpoint',
    description: 'Tells what has changed in the workspace since a checkpoint; `format: "patch"` shows how.',
    fields: { node: true, checkpoint_id: true, paths: true, format: true },
    defaults: { output: OUTPUT },
  }),
  toolOf('restore_workspace', {
    title: 'Restore the workspace',
    description:
      'Brings the workspace, or paths of it, back to what a checkpoint has. The present files are saved first, so this can be undone.',
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

/**
 * Instructions for a model about all tools together.
 * @param set the tools that it has
 * @param start where commands start, as words for the model
 */
export function toolInstructions(set: ToolSet, start: string = WORKSPACE): string {
  const sessions = TOOL_SETS[set].length > 1;
  return [
    'Shell commands on this machine.',
    sessions
      ? 'Use run_command for one command; open_session and execute_command when directory, variables or background jobs must last.'
      : 'run_command runs one.',
    `Commands start in ${start}.`,
    'Every answer is JSON. stdout and stderr are exact. exit_code is the true one: 124 after a time-out, 128+n for signal n.',
    '`next` in an answer is the call to make next: a status of confirmation_required means that the command has not run yet.',
  ].join(' ');
}

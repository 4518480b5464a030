import { requests } from '../protocol/requests.js';
import { FILE_TOOLS } from './file-tools.js';
import { MAIN_TOOLS, TOOL_OUTPUT } from './main-tools.js';
import { TERMINAL_TOOLS } from './terminal-tools.js';
import { defineTool, LOOKS, type Tool, toolOf } from './tool.js';
import type { ToolSet } from './tool-sets.js';

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

import type { ToolSet } from './tool-sets.js';
import { TOOL_SETS, WORKSPACE } from './tools.js';

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

import type { RequestName } from '../../core/protocol/requests.js';

/**
 * Requests that take as long as a command, an LLM call, what is waited for, the decision of an operator, or reading the
 * files of the workspace. The daemon limits their time.
 */
export const UNLIMITED: ReadonlySet<RequestName> = new Set([
  'execute_command',
  'wait_command',
  'send_input',
  'confirm_command',
  'checkpoint_workspace',
  'diff_workspace',
  'restore_workspace',
  'wait_for',
  'read_file',
  'write_file',
  'edit_file',
  'list_directory',
  'stat_path',
  'make_directory',
  'move_path',
  'remove_path',
  'find_files',
  'search_files',
  'llm_call',
  'llm_stream',
]);

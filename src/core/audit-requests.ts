import type { ErrorCode } from './errors.js';
import type { RequestName } from './protocol/requests.js';

/**
 * Which requests are recorded: `each`: all requests that change something; `failures`: only failures, for requests
 * whose success has its own records; `refusals`: only refusals, for requests that only read.
 */
export const RECORDED: { readonly [N in RequestName]: 'each' | 'failures' | 'refusals' } = {
  open_session: 'each',
  execute_command: 'failures',
  close_session: 'each',
  shell_metadata: 'refusals',
  daemon_status: 'refusals',
  check_command: 'refusals',
  send_input: 'each',
  confirm_command: 'each',
  list_confirmations: 'refusals',
  list_remembered_approvals: 'refusals',
  revoke_remembered_approval: 'each',
  signal_command: 'each',
  wait_command: 'refusals',
  read_output: 'refusals',
  search_output: 'refusals',
  list_commands: 'refusals',
  list_sessions: 'refusals',
  get_session: 'refusals',
  reset_session: 'each',
  read_screen: 'refusals',
  resize_terminal: 'each',
  attach_session: 'refusals',
  detach_session: 'refusals',
  watch_resources: 'refusals',
  list_recordings: 'refusals',
  read_recording: 'refusals',
  delete_recording: 'each',
  checkpoint_workspace: 'each',
  list_checkpoints: 'refusals',
  diff_workspace: 'refusals',
  restore_workspace: 'each',
  read_file: 'each',
  write_file: 'each',
  edit_file: 'each',
  list_directory: 'each',
  stat_path: 'each',
  make_directory: 'each',
  move_path: 'each',
  remove_path: 'each',
  find_files: 'each',
  search_files: 'each',
  wait_for: 'refusals',
  list_ports: 'refusals',
  preview_port: 'each',
  watch_paths: 'each',
  unwatch_paths: 'each',
  llm_call: 'each',
  llm_stream: 'each',
  cancel_llm: 'each',
  list_llm_calls: 'refusals',
  list_llm_providers: 'refusals',
  read_audit: 'refusals',
  verify_audit: 'refusals',
  list_tokens: 'refusals',
  create_token: 'each',
  rotate_token: 'each',
  revoke_token: 'each',
  examine_machine: 'refusals',
  describe_access: 'refusals',
  subscribe: 'refusals',
  host_history: 'refusals',
  create_dashboard_link: 'each',
  list_nodes: 'refusals',
  register_node: 'each',
  remove_node: 'each',
  drain_node: 'each',
};

/** Error codes for a principal without permission. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['FORBIDDEN', 'UNAUTHORIZED', 'RATE_LIMITED']);

/** Whether a request with this outcome is recorded. */
export function isRecorded(name: RequestName, outcome: 'ok' | ErrorCode): boolean {
  const kind = RECORDED[name];
  if (kind === 'each') return true;
  return outcome !== 'ok' && (kind === 'failures' || REFUSALS.has(outcome));
}

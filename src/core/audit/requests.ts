import type { ErrorCode } from '../errors.js';
import type { RequestName } from '../protocol/requests.js';

/**
 * Which requests are recorded: `each` of those that change something; `failures` of those whose success has records of its
 * own; of those that only look, `refusals`.
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
  signal_command: 'each',
  wait_command: 'refusals',
  read_output: 'refusals',
  list_sessions: 'refusals',
  get_session: 'refusals',
  reset_session: 'each',
  resize_terminal: 'each',
  attach_session: 'refusals',
  watch_resources: 'refusals',
  checkpoint_workspace: 'each',
  list_checkpoints: 'refusals',
  diff_workspace: 'refusals',
  restore_workspace: 'each',
  llm_call: 'each',
  llm_stream: 'each',
  cancel_llm: 'each',
  list_llm_providers: 'refusals',
};

/** Codes that say that somebody may not do what was asked. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['FORBIDDEN', 'UNAUTHORIZED', 'RATE_LIMITED']);

/** Whether a request with this outcome is recorded. */
export function isRecorded(name: RequestName, outcome: 'ok' | ErrorCode): boolean {
  const kind = RECORDED[name];
  if (kind === 'each') return true;
  return outcome !== 'ok' && (kind === 'failures' || REFUSALS.has(outcome));
}

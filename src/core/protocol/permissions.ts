import { AdapterError } from '../errors.js';
import type { RequestName } from './requests.js';
import { type AccessKind, type Principal, REACHING_OTHERS, type Role } from '../principal.js';

/** Roles that may make requests that only read. */
const ALL_ROLES: readonly Role[] = ['viewer', 'agent', 'operator', 'admin'];
/** Roles that may make requests that run, change or end something. */
const EXECUTING_ROLES: readonly Role[] = ['agent', 'operator', 'admin'];
/** Roles that may see what concerns all clients and the machine. */
const SUPERVISING_ROLES: readonly Role[] = ['operator', 'admin'];
/** Roles that may change who has access. */
const ADMINISTERING_ROLES: readonly Role[] = ['admin'];

/** Roles that may make each request; defined only here. `reaches` gives the owners whose objects a role can access. */
export const PERMISSIONS: { readonly [N in RequestName]: readonly Role[] } = {
  open_session: EXECUTING_ROLES,
  execute_command: EXECUTING_ROLES,
  close_session: EXECUTING_ROLES,
  shell_metadata: ALL_ROLES,
  daemon_status: ALL_ROLES,
  check_command: EXECUTING_ROLES,
  send_input: EXECUTING_ROLES,
  confirm_command: EXECUTING_ROLES,
  list_confirmations: EXECUTING_ROLES,
  list_remembered_approvals: EXECUTING_ROLES,
  revoke_remembered_approval: EXECUTING_ROLES,
  signal_command: EXECUTING_ROLES,
  wait_command: ALL_ROLES,
  read_output: ALL_ROLES,
  search_output: ALL_ROLES,
  list_commands: ALL_ROLES,
  list_sessions: ALL_ROLES,
  get_session: ALL_ROLES,
  reset_session: EXECUTING_ROLES,
  read_screen: ALL_ROLES,
  resize_terminal: EXECUTING_ROLES,
  attach_session: ALL_ROLES,
  detach_session: ALL_ROLES,
  watch_resources: ALL_ROLES,
  list_recordings: ALL_ROLES,
  read_recording: ALL_ROLES,
  delete_recording: EXECUTING_ROLES,
  checkpoint_workspace: EXECUTING_ROLES,
  list_checkpoints: ALL_ROLES,
  diff_workspace: ALL_ROLES,
  restore_workspace: EXECUTING_ROLES,
  read_file: EXECUTING_ROLES,
  write_file: EXECUTING_ROLES,
  edit_file: EXECUTING_ROLES,
  list_directory: EXECUTING_ROLES,
  stat_path: EXECUTING_ROLES,
  make_directory: EXECUTING_ROLES,
  move_path: EXECUTING_ROLES,
  remove_path: EXECUTING_ROLES,
  find_files: EXECUTING_ROLES,
  search_files: EXECUTING_ROLES,
  wait_for: EXECUTING_ROLES,
  list_ports: ALL_ROLES,
  preview_port: EXECUTING_ROLES,
  watch_paths: EXECUTING_ROLES,
  unwatch_paths: EXECUTING_ROLES,
  llm_call: EXECUTING_ROLES,
  llm_stream: EXECUTING_ROLES,
  cancel_llm: EXECUTING_ROLES,
  list_llm_calls: ALL_ROLES,
  list_llm_providers: ALL_ROLES,
  read_audit: SUPERVISING_ROLES,
  verify_audit: SUPERVISING_ROLES,
  list_tokens: ADMINISTERING_ROLES,
  create_token: ADMINISTERING_ROLES,
  rotate_token: ADMINISTERING_ROLES,
  revoke_token: ADMINISTERING_ROLES,
  examine_machine: SUPERVISING_ROLES,
  describe_access: ALL_ROLES,
  subscribe: ALL_ROLES,
  host_history: ALL_ROLES,
  create_dashboard_link: ALL_ROLES,
  list_nodes: SUPERVISING_ROLES,
  register_node: ADMINISTERING_ROLES,
  remove_node: ADMINISTERING_ROLES,
  drain_node: ADMINISTERING_ROLES,
};

/**
 * Checks that a role may make a request.
 * @throws AdapterError FORBIDDEN with the required role
 */
export function assertPermitted(role: Role, name: RequestName): void {
  const roles = PERMISSIONS[name];
  if (roles.includes(role)) return;
  const needed = roles.length === 1 ? `the role ${roles.join('')}` : `one of the roles ${roles.join(', ')}`;
  throw new AdapterError('FORBIDDEN', `${name} needs ${needed}; this connection has the role ${role}`, {
    details: { request: name, role, needs: [...roles] },
  });
}

/** The error for a principal that may see something, but neither stop nor use it. */
export function forbidden(what: string, { role }: Principal, reach: Exclude<AccessKind, 'see'>): AdapterError {
  const needs = REACHING_OTHERS[reach];
  const message = `${what} belongs to another token; the role ${needs.join(' or ')} may ${reach} it, ${role} may not`;
  return new AdapterError('FORBIDDEN', message, { details: { role, needs: [...needs] } });
}

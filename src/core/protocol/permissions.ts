import { AdapterError } from '../errors.js';
import type { RequestName } from './requests.js';
import type { Principal } from '../access/principal.js';
import type { Role } from '../access/roles.js';

/** Roles that may make requests that only read. */
const EVERYBODY: readonly Role[] = ['viewer', 'agent', 'operator', 'admin'];
/** Roles that may make requests that run, change or end something. */
const WORKERS: readonly Role[] = ['agent', 'operator', 'admin'];

/** Roles that may make each request; defined only here. `reaches` gives the owners whose objects a role can access. */
export const PERMISSIONS: { readonly [N in RequestName]: readonly Role[] } = {
  open_session: WORKERS,
  execute_command: WORKERS,
  close_session: WORKERS,
  shell_metadata: EVERYBODY,
  daemon_status: EVERYBODY,
  check_command: WORKERS,
  send_input: WORKERS,
  confirm_command: WORKERS,
  list_confirmations: WORKERS,
  signal_command: WORKERS,
  wait_command: EVERYBODY,
  read_output: EVERYBODY,
  list_sessions: EVERYBODY,
  get_session: EVERYBODY,
  reset_session: WORKERS,
  resize_terminal: WORKERS,
  attach_session: EVERYBODY,
  watch_resources: EVERYBODY,
  checkpoint_workspace: WORKERS,
  list_checkpoints: EVERYBODY,
  diff_workspace: EVERYBODY,
  restore_workspace: WORKERS,
  llm_call: WORKERS,
  llm_stream: WORKERS,
  cancel_llm: WORKERS,
  list_llm_providers: EVERYBODY,
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

/** The error for a principal that may see something but not use it. */
export const forbidden = (what: string, { role }: Principal): AdapterError =>
  new AdapterError('FORBIDDEN', `${what} belongs to another token; the role admin may use it, ${role} may look at it`, {
    details: { role, needs: ['admin'] },
  });

import type { RequestName } from '../protocol/requests.js';

/** A field of a request with the id of an object that belongs to one node. */
type IdField = 'command_id' | 'confirmation_id' | 'checkpoint_id' | 'recording_id' | 'call_id' | 'watch_id' | 'id';

/**
 * How a request finds the node that answers it:
 * - `here`: the node that the client is connected to;
 * - `session`: the node of its `session_id`;
 * - `object`: the node of its `session_id` if it has one, otherwise that of the id in `field`. An id that names no node
 *   belongs to the node that knows it: where it was sent before, or else the one that is found by asking all;
 * - `place`: a node is chosen, unless it names a session;
 * - `workspace`: the node that it names, or that of its session. It is about a file or a machine, so nothing can be
 *   chosen: without either it is answered where only one node runs sessions;
 * - `machine`: the node that it names; by default the one that the client is connected to;
 * - `gather`: all nodes, whose answers become one; with a `session_id` the node of the session.
 */
type Route =
  | { readonly by: 'here' | 'session' | 'place' | 'workspace' | 'machine' | 'gather' }
  | { readonly by: 'object'; readonly field: IdField; readonly otherwise?: 'workspace' };

/**
 * What happens to a request whose connection breaks before the answer, that of a client or that to its node:
 * - `safe`: it only looks, or changes nothing when it is repeated; it is sent again;
 * - `by_id`: its node knows by its `command_id` whether it has run; it is sent again;
 * - `never`: it may have been done; the client is told so.
 */
export type Repeat = 'safe' | 'by_id' | 'never';

/** Routing of one request. */
export interface Routing {
  readonly route: Route;
  readonly repeat: Repeat;
}

const to = (by: Exclude<Route['by'], 'object'>, repeat: Repeat = 'never'): Routing => ({ route: { by }, repeat });
const object = (field: IdField, repeat: Repeat = 'never'): Routing => ({ route: { by: 'object', field }, repeat });
const HERE = to('here', 'safe');
const HERE_ONCE = to('here');
const GATHERED = to('gather', 'safe');

/** The routing of each request; defined only here. */
export const ROUTES: { readonly [N in RequestName]: Routing } = {
  open_session: to('place'),
  execute_command: to('place', 'by_id'),
  close_session: to('session'),
  shell_metadata: to('workspace', 'safe'),
  daemon_status: HERE,
  check_command: to('place', 'safe'),
  send_input: object('command_id'),
  confirm_command: object('confirmation_id'),
  list_confirmations: GATHERED,
  list_remembered_approvals: GATHERED,
  revoke_remembered_approval: object('id'),
  signal_command: object('command_id'),
  wait_command: object('command_id', 'safe'),
  read_output: object('command_id', 'safe'),
  search_output: object('command_id', 'safe'),
  list_commands: GATHERED,
  list_sessions: GATHERED,
  get_session: to('session', 'safe'),
  reset_session: to('session'),
  read_screen: object('command_id', 'safe'),
  resize_terminal: to('session', 'safe'),
  attach_session: to('session', 'safe'),
  detach_session: to('session', 'safe'),
  watch_resources: to('session', 'safe'),
  list_recordings: GATHERED,
  read_recording: object('recording_id', 'safe'),
  delete_recording: object('recording_id'),
  checkpoint_workspace: to('workspace'),
  list_checkpoints: to('workspace', 'safe'),
  diff_workspace: { route: { by: 'object', field: 'checkpoint_id', otherwise: 'workspace' }, repeat: 'safe' },
  restore_workspace: object('checkpoint_id'),
  read_file: to('workspace', 'safe'),
  write_file: to('workspace'),
  edit_file: to('workspace'),
  list_directory: to('workspace', 'safe'),
  stat_path: to('workspace', 'safe'),
  make_directory: to('workspace'),
  move_path: to('workspace'),
  remove_path: to('workspace'),
  find_files: to('workspace', 'safe'),
  search_files: to('workspace', 'safe'),
  wait_for: { route: { by: 'object', field: 'command_id', otherwise: 'workspace' }, repeat: 'safe' },
  list_ports: GATHERED,
  preview_port: to('session', 'safe'),
  watch_paths: to('workspace'),
  unwatch_paths: object('watch_id'),
  llm_call: to('place'),
  llm_stream: to('place'),
  cancel_llm: object('call_id', 'safe'),
  list_llm_calls: GATHERED,
  list_llm_providers: to('workspace', 'safe'),
  read_audit: to('machine', 'safe'),
  verify_audit: to('machine', 'safe'),
  list_tokens: HERE,
  create_token: HERE_ONCE,
  rotate_token: HERE_ONCE,
  revoke_token: HERE_ONCE,
  examine_machine: to('machine', 'safe'),
  describe_access: HERE,
  subscribe: GATHERED,
  host_history: to('machine', 'safe'),
  create_dashboard_link: HERE_ONCE,
  list_nodes: HERE,
  register_node: HERE_ONCE,
  remove_node: HERE_ONCE,
  drain_node: HERE_ONCE,
};

/** Whether a request takes `node`, the name of the node that it is about. */
export const takesNode = (name: RequestName): boolean => {
  const { route } = ROUTES[name];
  return route.by === 'workspace' || route.by === 'machine' || (route.by === 'object' && route.otherwise !== undefined);
};

import type { Answer, Request, RequestName } from '../core/protocol/requests.js';
import type { Caller } from '../services/registry/caller.js';
import { renderLimits } from '../services/registry/rendered-limits.js';
import { rememberedInfoOf } from '../services/approvals/rendered-approval.js';
import { describeAccess } from '../services/access/describe-access.js';
import type { Services } from '../services/services.js';
import { asNewWork } from './new-work.js';

/** Handler of one kind of request. The request has been parsed, and the caller's role allows it. */
type Handler<N extends RequestName> = (
  services: Services,
  request: Request<N>,
  caller: Caller,
) => Promise<Answer<N>> | Answer<N>;

/** Maps each request to the service that handles it. Every transport uses this table. */
export const handlers: { readonly [N in RequestName]: Handler<N> } = {
  open_session: async ({ startup: startups, sessions, cluster }, request, caller) => {
    const { record, startup } = await asNewWork(cluster, () => startups.open(request, caller));
    const { id, session, shellName, sandbox, limits, recorder } = record;
    return {
      session_id: id,
      shell: shellName,
      working_directory: session.workingDirectory,
      ...sessions.expiryOf(record),
      sandbox,
      limits: renderLimits(limits),
      recording_id: recorder?.id ?? null,
      startup,
    };
  },
  execute_command: ({ commands, cluster }, request, caller) => {
    const run = () => commands.execute(request, caller);
    const isNew = request.session_id === undefined && !commands.isKnown(request, caller.principal);
    return isNew ? asNewWork(cluster, run) : run();
  },
  close_session: async ({ sessions }, { session_id }, { principal }) => {
    sessions.registry.get(session_id, principal, 'stop');
    await sessions.close(session_id, 'client', 'a client closed it');
    return { session_id };
  },
  shell_metadata: ({ metadata }, _request, { principal }) => metadata.describe(principal),
  daemon_status: ({ status }, _request, { principal }) => status.describe(principal),
  check_command: ({ commands }, request, { principal }) => commands.check(request, principal),
  send_input: ({ commands, screens }, request, caller) =>
    request.keys
      ? screens.withKeys(request, caller.principal).then((typed) => commands.running.sendInput(typed, caller))
      : commands.running.sendInput(request, caller),
  confirm_command: ({ commands }, request, caller) => commands.confirm(request, caller),
  list_confirmations: async ({ confirmations, checkpoints }, _request, { principal }) => {
    if (confirmations.seenBy(principal).length > 0) await checkpoints.of(principal).newest.load();
    return {
      confirmations: confirmations.seenBy(principal).map((open) => confirmations.describe(open, principal)),
    };
  },
  list_remembered_approvals: ({ approvals }, _request, { principal }) => ({
    approvals: approvals.seenBy(principal).map(rememberedInfoOf),
    problem: approvals.problem ?? null,
  }),
  revoke_remembered_approval: ({ approvals }, { id }, { principal }) => ({
    revoked: rememberedInfoOf(approvals.revoke(id, principal)),
  }),
  signal_command: ({ commands }, request, { principal }) => commands.running.signal(request, principal),
  wait_command: ({ commands }, request, { principal }) => commands.wait(request, principal),
  read_output: ({ commands }, request, { principal }) => commands.readOutput(request, principal),
  search_output: ({ commands }, request, { principal }) => commands.searchOutput(request, principal),
  list_commands: ({ commands }, request, { principal }) => commands.list(request, principal),
  list_sessions: ({ sessions, descriptions }, _request, { principal }) => ({
    sessions: sessions.registry.seenBy(principal).map((record) => descriptions.describe(record)),
  }),
  get_session: ({ sessions, descriptions }, { session_id }, { principal }) =>
    descriptions.describe(sessions.registry.get(session_id, principal, 'see')),
  reset_session: ({ startup }, request, caller) => startup.reset(request, caller),
  read_screen: ({ screens }, request, { principal }) => screens.read(request, principal),
  resize_terminal: ({ sessions }, { session_id, cols, rows }, { principal }) => {
    sessions.registry.get(session_id, principal, 'use').session.terminal.resize(cols, rows);
    return { cols, rows };
  },
  attach_session: ({ sessions }, request, caller) => sessions.attachments.attach(request, caller),
  detach_session: ({ sessions }, request, caller) => sessions.attachments.leave(request, caller),
  watch_resources: ({ sessions, usage }, request, caller) =>
    usage.follow(sessions.registry.get(request.session_id, caller.principal, 'see'), request, caller),
  list_recordings: ({ recordings }, request, { principal }) => recordings.list(request, principal),
  read_recording: ({ recordings }, request, { principal }) => recordings.read(request, principal),
  delete_recording: ({ recordings }, request, { principal }) => recordings.delete(request, principal),
  checkpoint_workspace: ({ checkpoints }, request, { principal }) => checkpoints.of(principal).save(request, principal),
  list_checkpoints: ({ checkpoints }, _request, { principal }) => checkpoints.of(principal).list(principal),
  diff_workspace: ({ checkpoints }, request, { principal }) => checkpoints.of(principal).diff(request, principal),
  restore_workspace: ({ restores }, request, caller) => restores.restore(request, caller),
  read_file: ({ files }, request, caller) => files.do('read_file', request, caller),
  write_file: ({ files }, request, caller) => files.do('write_file', request, caller),
  edit_file: ({ files }, request, caller) => files.do('edit_file', request, caller),
  list_directory: ({ files }, request, caller) => files.do('list_directory', request, caller),
  stat_path: ({ files }, request, caller) => files.do('stat_path', request, caller),
  make_directory: ({ files }, request, caller) => files.do('make_directory', request, caller),
  move_path: ({ files }, request, caller) => files.do('move_path', request, caller),
  remove_path: ({ files }, request, caller) => files.do('remove_path', request, caller),
  find_files: ({ files }, request, caller) => files.do('find_files', request, caller),
  search_files: ({ files }, request, caller) => files.do('search_files', request, caller),
  wait_for: ({ waiting }, request, caller) => waiting.waitFor(request, caller),
  list_ports: ({ ports }, request, { principal }) => ports.list(request, principal),
  preview_port: ({ previews }, request, { principal }) => previews.describe(request, principal),
  watch_paths: ({ watching }, request, caller) => watching.watch(request, caller),
  unwatch_paths: ({ watching }, request, caller) => watching.unwatch(request, caller),
  llm_call: ({ llm, cluster }, request, caller) => asNewWork(cluster, () => llm.call(request, caller)),
  llm_stream: ({ llm, cluster }, request, caller) => asNewWork(cluster, () => llm.stream(request, caller)),
  cancel_llm: ({ llm }, request, { principal }) => llm.cancel(request, principal),
  list_llm_calls: ({ llm }, request, { principal }) => llm.calls.list(request, principal),
  list_llm_providers: ({ llm }) => llm.list(),
  read_audit: ({ auditLog }, request) => auditLog.read(request),
  verify_audit: ({ auditLog }) => auditLog.verify(),
  list_tokens: ({ tokens, connections }) => tokens.list(connections.all()),
  create_token: ({ tokens }, request, { principal }) => tokens.create(request, principal),
  rotate_token: ({ tokens }, request, { principal }) => tokens.rotate(request, principal),
  revoke_token: ({ tokens }, request) => tokens.revoke(request),
  examine_machine: ({ machine }) => machine.examine(),
  describe_access: ({ cluster }, _request, { principal }) => describeAccess(principal, cluster.node),
  subscribe: ({ subscriptions }, request, caller) => subscriptions.subscribe(request, caller),
  host_history: ({ host }, request) => host.history(request),
  create_dashboard_link: ({ links }, request, caller) => links.create(request, caller),
  list_nodes: ({ cluster }) => cluster.nodes.list(),
  register_node: ({ cluster }, request) => cluster.nodes.register(request),
  remove_node: ({ cluster }, request) => cluster.nodes.remove(request),
  drain_node: ({ cluster }, request) => cluster.nodes.drain(request),
};

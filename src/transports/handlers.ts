import type { Answer, Request, RequestName } from '../core/protocol/requests.js';
import type { EventSink } from '../services/audience.js';
import type { Services } from '../services/services.js';

/** Answers one kind of request. The request has been parsed; `client` gets the events that it leads to. */
type Handler<N extends RequestName> = (
  services: Services,
  request: Request<N>,
  client: EventSink,
) => Promise<Answer<N>> | Answer<N>;

/** What each request does: one line to the service that does it. Every transport uses this table. */
export const handlers: { readonly [N in RequestName]: Handler<N> } = {
  open_session: async ({ sessions }, request, client) => {
    const { id, session, expiresAt } = await sessions.open(request, client);
    return {
      session_id: id,
      shell: session.options.installed.shell.name,
      working_directory: session.workingDirectory,
      expires_at: expiresAt.toISOString(),
      sandbox: 'none',
    };
  },
  execute_command: ({ commands }, request, client) => commands.execute(request, client),
  close_session: async ({ sessions }, { session_id }) => {
    await sessions.close(session_id, 'client', 'a client closed it');
    return { session_id };
  },
  shell_metadata: ({ metadata }) => metadata.describe(),
  check_command: ({ commands }, request) => commands.check(request),
  send_input: ({ commands }, request) => commands.sendInput(request),
  signal_command: ({ commands }, request) => commands.signal(request),
  wait_command: ({ commands }, request) => commands.wait(request),
  read_output: ({ commands }, request) => commands.readOutput(request),
  list_sessions: ({ sessions }) => ({ sessions: sessions.registry.all().map((record) => sessions.describe(record)) }),
  get_session: ({ sessions }, { session_id }) => sessions.describe(sessions.registry.get(session_id)),
  reset_session: ({ sessions }, request) => sessions.reset(request),
  resize_terminal: ({ sessions }, { session_id, cols, rows }) => {
    sessions.registry.get(session_id).session.resize(cols, rows);
    return { cols, rows };
  },
  attach_session: ({ sessions }, request, client) => sessions.attach(request, client),
  checkpoint_workspace: ({ checkpoints }, request) => checkpoints.save(request),
  list_checkpoints: ({ checkpoints }) => checkpoints.list(),
  diff_workspace: ({ checkpoints }, request) => checkpoints.diff(request),
  restore_workspace: ({ checkpoints }, request) => checkpoints.restore(request),
};

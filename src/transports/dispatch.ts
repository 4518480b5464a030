import { AdapterError, type ErrorBody, type ErrorCode } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { assertPermitted } from '../core/protocol/permissions.js';
import { parsePayload } from '../core/protocol/problems.js';
import { type Answer, type Request, type RequestName, requests } from '../core/protocol/requests.js';
import type { TraceCarrier } from '../core/traces.js';
import { findNearest } from '../core/nearest.js';
import { describeAccess } from '../services/access/access.js';
import type { ClusterPort, HttpRequest } from '../services/cluster-port.js';
import type { ForwardedAnswer } from '../services/http-exchange.js';
import type { Caller } from '../services/registry/caller.js';
import { renderLimits } from '../services/registry/rendered-limits.js';
import { rememberedInfoOf } from '../services/remembered-approvals.js';
import type { Services } from '../services/services.js';
import { endConnection } from './connection.js';

/**
 * Does what a node that is being drained refuses.
 * @throws AdapterError NODE_DRAINING
 */
export async function asNewWork<T>(cluster: ClusterPort, act: () => Promise<T>): Promise<T> {
  const end = cluster.beginWork();
  try {
    return await act();
  } finally {
    end();
  }
}

/** Handler of one kind of request. The request has been parsed, and the caller's role allows it. */
type Handler<N extends RequestName> = (
  services: Services,
  request: Request<N>,
  caller: Caller,
) => Promise<Answer<N>> | Answer<N>;

/** Maps each request to the service that handles it. Every transport uses this table. */
const handlers: { readonly [N in RequestName]: Handler<N> } = {
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
  list_llm_providers: ({ llm }) => llm.providers.list(),
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

export type Reply<N extends RequestName = RequestName> = Answer<N> | { readonly error: ErrorBody };

const isRequestName = (name: string): name is RequestName => Object.hasOwn(requests, name);

export interface DispatchContext {
  readonly services: Services;
  readonly log: Log;
  /**
   * The trace that the request belongs to.
   * @default none: it begins one
   */
  readonly trace?: TraceCarrier | undefined;
}

/**
 * Checks quota and role, parses the request, calls its handler, and converts the outcome to a reply. Never throws: an
 * exception in a handler becomes `INTERNAL` for the client and a line in the log. Every request is counted, unknown
 * names included, and recorded if it changes state. Secrets in the answer are masked.
 */
export async function dispatch(
  context: DispatchContext,
  name: string,
  payload: unknown,
  caller: Caller,
): Promise<Reply> {
  const { services } = context;
  if (!isRequestName(name)) {
    const error = refusalOf(services, caller, unknownRequest(name));
    setImmediate(() => {
      countAnswer(services, 'unknown', error.code, 0);
    });
    return services.secrets.value({ error });
  }
  // Each handler's type fits its request, but TypeScript cannot correlate the union over all names.
  const handler = handlers[name] as (
    services: Services,
    request: unknown,
    caller: Caller,
  ) => Promise<Answer<RequestName>>;
  const reply = await carryOut(context, { name, payload, caller }, (request, by) => handler(services, request, by));
  // No message is answered over HTTP.
  return services.secrets.value(reply as Reply);
}

interface NamedRequest<N extends RequestName> {
  readonly name: N;
  readonly payload: unknown;
  readonly caller: Caller;
  /** What came, if its content is to be sent on as it comes; undefined for a message. */
  readonly http?: () => HttpRequest;
}

/** What a request is answered with; by another node, if it came over HTTP, with the content as it comes. */
type Outcome<T> = T | ForwardedAnswer | { readonly error: ErrorBody };

/**
 * The same for a transport that carries a request out in a way of its own, and masks the secrets in its answer itself.
 * @param act answers it here
 * @param recorded the payload as it is recorded, when the request is over; by default as it was received
 */
export async function carryOut<N extends RequestName, T extends object>(
  context: DispatchContext,
  request: NamedRequest<N>,
  act: (request: Request<N>, caller: Caller) => Promise<T>,
  recorded: () => unknown = () => request.payload,
): Promise<Outcome<T>> {
  const { services, trace } = context;
  const { name, payload, caller } = request;
  const { principal, from } = caller;
  const startedAt = performance.now();
  const answered: { isRecorded: boolean } = { isRecorded: false };
  const reply = await services.traces.request({ name, payload, principal, from, trace }, async () => {
    const handled = await handle(context, request, act);
    answered.isRecorded = handled.isRecorded;
    return handled.reply;
  });
  const outcome = 'error' in reply ? reply.error.code : 'ok';
  const tookMs = performance.now() - startedAt;
  // The client does not wait for its statistics.
  setImmediate(() => {
    countAnswer(services, name, outcome, tookMs);
  });
  if (!answered.isRecorded)
    services.requestAudit.answered(name, recorded(), reply as Exclude<typeof reply, ForwardedAnswer>, caller);
  return reply;
}

function countAnswer(
  { metrics }: Services,
  request: RequestName | 'unknown',
  outcome: 'ok' | ErrorCode,
  tookMs: number,
): void {
  metrics.count('requests_total', { request, outcome });
  metrics.observe('request_duration_seconds', tookMs / 1000, { request });
}

/** The reply to a message that exceeds the size limit. It counts as the requests that fit into its size. */
export function refuseOversized(
  { services, maxMessageBytes }: { readonly services: Services; readonly maxMessageBytes: number },
  name: string,
  bytes: number,
  caller: Caller,
): { readonly error: ErrorBody } {
  const message = `${name.slice(0, MAX_SHOWN_NAME)} takes ${bytes} bytes, the daemon at most ${maxMessageBytes} (max_message_bytes)`;
  const details = { bytes, max_bytes: maxMessageBytes };
  const weight = Math.ceil(bytes / maxMessageBytes);
  const error = refusalOf(services, caller, new AdapterError('PAYLOAD_TOO_LARGE', message, { details }), weight);
  countAnswer(services, isRequestName(name) ? name : 'unknown', error.code, 0);
  if (isRequestName(name)) services.requestAudit.answered(name, undefined, { error }, caller);
  return { error };
}

/** Counts a request that is not looked at, and returns its error, or that of the rate limit. */
function refusalOf(services: Services, caller: Caller, refusal: AdapterError, weight?: number): ErrorBody {
  try {
    countRequest(services, caller, weight);
    return refusal.toBody();
  } catch (limit) {
    return (limit as AdapterError).toBody();
  }
}

/** The node of the client has counted a request that it relays. */
function countRequest({ quotas }: Services, { relayedBy, principal }: Caller, weight?: number): void {
  if (relayedBy === undefined) quotas.countRequest(principal, weight);
}

interface Handled<T> {
  readonly reply: Outcome<T>;
  /** Whether another node has made it, and recorded it if it is to be recorded. */
  readonly isRecorded: boolean;
}

async function handle<N extends RequestName, T extends object>(
  context: DispatchContext,
  named: NamedRequest<N>,
  act: (request: Request<N>, caller: Caller) => Promise<T>,
): Promise<Handled<T>> {
  const { services, log, trace } = context;
  const { name, payload, caller } = named;
  const { cluster } = services;
  try {
    if (services.isClosing() && !requests[name].whileClosing) {
      throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
    }
    countRequest(services, caller);
    assertPermitted(caller.principal.role, name);
    const request = parsePayload(requests[name].input, name, payload) as Request<N>;
    const answerHere = async (fields?: object, by?: Partial<Caller>) => {
      try {
        // A gateway runs nothing as a user.
        if (cluster.runsSessions) await prepareUser(services, caller);
        return (await act({ ...request, ...fields }, { ...caller, ...by })) as unknown as Answer<RequestName>;
      } catch (error) {
        return { error: bodyOf(error, name, log) };
      }
    };
    const send = cluster.route({ ...named, request, trace, answerHere });
    if (send) return (await send()) as Handled<T>;
    await prepareUser(services, caller);
    return { reply: await act(request, caller), isRecorded: false };
  } catch (error) {
    return { reply: { error: bodyOf(error, name, log) }, isRecorded: false };
  } finally {
    // The request may have begun something for its connection after the end of that one.
    if (caller.sink?.isGone === true) endConnection(services, caller.sink);
  }
}

/** Makes what runs processes of the user of a token, where it has one. */
async function prepareUser({ executions }: Services, { principal: { runAs } }: Caller): Promise<void> {
  if (runAs !== undefined) await executions.prepare(runAs);
}

/** Longest request name repeated to the client, in characters. */
const MAX_SHOWN_NAME = 100;

function unknownRequest(name: string): AdapterError {
  const shown = name.slice(0, MAX_SHOWN_NAME);
  const names = Object.keys(requests);
  const meant = findNearest(shown, names);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return new AdapterError('UNKNOWN_REQUEST', `there is no request ${JSON.stringify(shown)}${hint}`, {
    details: { ...(meant !== undefined && { nearest: meant }), requests: names },
  });
}

function bodyOf(error: unknown, name: RequestName, log: Log): ErrorBody {
  if (error instanceof AdapterError) {
    if (error.code === 'INTERNAL') log.error('a request failed', { request: name, error: error.message });
    return error.toBody();
  }
  const { code, message, stack }: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error));
  if (code !== undefined && EXHAUSTED.has(code)) {
    return {
      code: 'RESOURCE_EXHAUSTED',
      message: `the machine is out of resources: ${message}`,
      details: { errno: code },
    };
  }
  log.error('a request failed unexpectedly', { request: name, error: stack ?? String(error) });
  return { code: 'INTERNAL', message: `internal error: ${message}; the log has the details` };
}

/** Errnos of temporary exhaustion: file descriptors, processes, memory, disk. */
const EXHAUSTED: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOSPC']);

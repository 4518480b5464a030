import type { ConfirmationInfo } from '../core/protocol/confirmations.js';
import type { RememberedInfo } from '../core/protocol/confirmations.js';
import type { Answer, RequestInput, RequestName } from '../core/protocol/requests.js';
import type { CommandResult, EventName, SessionInfo } from '../core/protocol/results.js';
import { ClientCommand } from './command.js';
import { Connection } from './connection/connection.js';
import { DaemonRuns, recover } from './connection/recovery.js';
import { type Endpoint, unixEndpoint } from './connection/unix-socket.js';
import {
  type AttachOptions,
  type CheckOptions,
  type ConnectionState,
  type ConnectOptions,
  connectSettings,
  type ConnectSettings,
  type Decision,
  type ExecuteOptions,
  executeRequest,
  inputSource,
  type OpenSessionOptions,
  type RequestOptions,
} from './options.js';
import { ClientError } from './errors.js';
import { ClientFiles } from './files.js';
import type { ClientLink } from './link.js';
import { askLlm, type LlmMessages, type LlmOptions, LlmStream } from './llm.js';
import { EventRouter } from './event-router.js';
import { type EventListener, randomCommandId } from './runtime.js';
import { ClientSession } from './session.js';
import { type PathWatch, type WatchOptions, watchPaths } from './watch.js';

/** Follows an existing session: see `AdapterClient.attachSession`. */
async function attachSession(link: ClientLink, id: string, options: AttachOptions): Promise<ClientSession> {
  const info = await link.request('get_session', { session_id: id });
  const { shell, working_directory: workingDirectory, next_seq: newest } = info;
  const fromSeq = options.fromSeq === undefined ? undefined : Math.min(options.fromSeq, newest);
  const { maxBytesPerSecond } = options;
  const session = new ClientSession(link, { id, shell, workingDirectory, nextSeq: fromSeq, maxBytesPerSecond });
  try {
    const request = { session_id: id, from_seq: fromSeq, max_bytes_per_second: maxBytesPerSecond };
    const { next_seq, gap } = await link.request('attach_session', request);
    if (gap) link.router.noteGap(id, gap.to_seq);
    if (link.router.session(id)?.sequence.next === undefined) link.router.noteGap(id, next_seq - 1);
    return session;
  } catch (error) {
    await session.detach();
    throw error;
  }
}

/**
 * A client of one daemon. It reconnects automatically when the connection breaks, attaches its sessions again and
 * fetches the missed events: results and outputs of commands are the same as over an unbroken connection. Created by
 * `connect`.
 */
export class AdapterClient implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #router: EventRouter;
  readonly #link: ClientLink;
  readonly #watchers = new Set<(state: ConnectionState, error?: ClientError) => void>();
  /** The last command that the daemon has answered. */
  #knownCommandId: string | undefined;
  readonly #runs = new DaemonRuns();
  /** The last subscription, which is repeated after a reconnection. */
  #subscription: RequestInput<'subscribe'> | undefined;

  /** Does not connect; call `open`. */
  constructor(endpoint: Endpoint, settings: ConnectSettings) {
    this.#connection = new Connection(endpoint, settings, {
      onEvent: (name, payload) => {
        this.#router.route(name, payload);
      },
      onLost: () => {
        this.#notifyState('lost');
      },
      onRestored: async () => {
        const earlier = { knownCommandId: this.#knownCommandId, runs: this.#runs, subscription: this.#subscription };
        await recover(this.#connection, this.#router, earlier);
        this.#notifyState('connected');
      },
      onClosed: (error) => {
        this.#notifyState('closed', error);
        this.#watchers.clear();
        this.#router.listeners.clear();
      },
    });
    this.#router = new EventRouter(
      (reason) => {
        this.#connection.noteFarewell(reason);
      },
      ({ instance_id: instanceId }) => {
        if (this.#runs.note(instanceId)) this.#notifyState('restarted');
      },
    );
    this.#link = {
      router: this.#router,
      request: (name, payload, options) => this.#runs.explain(this.#connection.request(name, payload, options)),
      noteAnswered: (commandId) => {
        this.#knownCommandId = commandId;
      },
    };
  }

  /** Files of the daemon's machine, by paths relative to its workspace. */
  get files(): ClientFiles {
    return new ClientFiles(this.#link);
  }

  /** Files as a session sees them, which need not be followed. */
  filesOf(sessionId: string): ClientFiles {
    return new ClientFiles(this.#link, sessionId);
  }

  /**
   * Watches files and directories, by paths relative to the workspace or to the directory of a session.
   * @returns the changes, to be iterated
   */
  watchPaths(paths: readonly string[], options: WatchOptions = {}): Promise<PathWatch> {
    return watchPaths(this.#link, paths, options, (listener) => this.onConnection(listener));
  }

  /** Address of the daemon. */
  get url(): string {
    return this.#connection.url;
  }

  /** Id of the connected run of the daemon; undefined before the daemon has identified itself. */
  get instanceId(): string | undefined {
    return this.#runs.current;
  }

  /** Whether the client is connected at this moment. */
  get isConnected(): boolean {
    return this.#connection.isConnected;
  }

  /**
   * Connects. Already called by `connect`.
   * @throws ClientError CONNECTION_FAILED, REFUSED
   */
  open(): Promise<void> {
    return this.#connection.open();
  }

  /**
   * Sends any request of the protocol; returns its answer. Without a connection it waits for the next one. Rejects with
   * a ClientError: the daemon's `{ error }`, or CONNECTION_LOST when the connection broke during a request that is not
   * idempotent.
   */
  request<N extends RequestName>(
    name: N,
    payload: RequestInput<N>,
    { signal, timeoutMs }: RequestOptions = {},
  ): Promise<Answer<N>> {
    const answer = this.#link.request(name, payload, { signal, timeoutMs });
    if (name === 'subscribe') void this.#noteSubscription(payload as RequestInput<'subscribe'>, answer);
    return answer;
  }

  /**
   * Subscribes to the changes of everything that this client may see, instead of the topics before; none ends it. The
   * events of `subscribe` come to the listeners of `on`. Repeated after a reconnection.
   * @param intervalMs between two events of a topic, in milliseconds
   * @default 1000
   */
  subscribe(topics: RequestInput<'subscribe'>['topics'], intervalMs?: number): Promise<Answer<'subscribe'>> {
    return this.request('subscribe', { topics, interval_ms: intervalMs });
  }

  /** Returns the machine, the shell and the limits that commands run with. */
  metadata(): Promise<Answer<'shell_metadata'>> {
    return this.request('shell_metadata', {});
  }

  /** Opens a persistent shell session. */
  async openSession(options: OpenSessionOptions = {}): Promise<ClientSession> {
    const answer = await this.request('open_session', options);
    const { session_id: id, shell, working_directory: workingDirectory } = answer;
    return new ClientSession(this.#link, { id, shell, workingDirectory, nextSeq: 0 });
  }

  /** Runs a command without a session, in a fresh environment. */
  execute(command: string, options: ExecuteOptions = {}): ClientCommand {
    const ids = { commandId: options.commandId ?? randomCommandId(), sessionId: null };
    const request = executeRequest(command, options, ids);
    return new ClientCommand(this.#link, request, options.signal, inputSource(options.stdin));
  }

  /**
   * Evaluates the policy for a command without running it. `enforced` is whether `execute` would act on the verdict.
   */
  check(command: string, { args, cwd, sessionId }: CheckOptions = {}): Promise<Answer<'check_command'>> {
    return this.request('check_command', { command, args: args && [...args], cwd, session_id: sessionId });
  }

  /** Calls an LLM: an installed command-line tool, or a configured service. */
  llmCall(messages: LlmMessages, options: LlmOptions = {}): Promise<Answer<'llm_call'>> {
    return askLlm(this.#link, messages, options);
  }

  /** Calls an LLM and streams its answer. */
  llmStream(messages: LlmMessages, options: LlmOptions = {}): LlmStream {
    return new LlmStream(this.#link, messages, options);
  }

  /**
   * Decides a pending confirmation: returns the result of the command, or one with `status: 'denied'`. Id and hash are
   * in the ConfirmationRequiredError, the event `confirmation_required`, and the entries of `listConfirmations`.
   */
  confirm(confirmationId: string, decision: Decision): Promise<CommandResult> {
    const { commandSha256, justification, remember } = decision;
    return this.request('confirm_command', {
      confirmation_id: confirmationId,
      decision: decision.decision,
      command_sha256: commandSha256,
      justification,
      remember,
    });
  }

  /** Pending confirmations: those that this client has requested, and those that it may decide. */
  async listConfirmations(): Promise<ConfirmationInfo[]> {
    return (await this.request('list_confirmations', {})).confirmations;
  }

  /** Remembered approvals: those for commands of this client; for operators, those of all clients. */
  rememberedApprovals(): Promise<Answer<'list_remembered_approvals'>> {
    return this.request('list_remembered_approvals', {});
  }

  /**
   * Revokes a remembered approval, and returns it. Rejects with a ClientError, such as APPROVAL_NOT_FOUND.
   */
  async revokeApproval(id: string): Promise<RememberedInfo> {
    return (await this.request('revoke_remembered_approval', { id })).revoked;
  }

  /**
   * Follows an existing session.
   * @param options `fromSeq`: the first event wanted. The events that the daemon has kept arrive before this resolves;
   * an `output_gap` event reports the missing ones. By default only new events arrive. `maxBytesPerSecond`: observes the
   * session, see `attach_session`
   */
  attachSession(id: string, options: AttachOptions = {}): Promise<ClientSession> {
    return attachSession(this.#link, id, options);
  }

  /** The sessions that are open. */
  async listSessions(): Promise<SessionInfo[]> {
    return (await this.request('list_sessions', {})).sessions;
  }

  /**
   * Adds a listener for one of the daemon's events; returns a function that removes it. Repeated events are delivered
   * once.
   */
  on<N extends EventName>(event: N, listener: EventListener<N>): () => void {
    return this.#router.listeners.add(event, listener);
  }

  /**
   * Adds a listener for changes of the connection state; returns a function that removes it. `error` is the reason for
   * `closed`.
   */
  onConnection(listener: (state: ConnectionState, error?: ClientError) => void): () => void {
    const entry = (state: ConnectionState, error?: ClientError) => {
      listener(state, error);
    };
    this.#watchers.add(entry);
    return () => this.#watchers.delete(entry);
  }

  /**
   * Disconnects. Sessions stay open for the daemon's grace period; pending requests are rejected with CLIENT_CLOSED.
   */
  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #noteSubscription(request: RequestInput<'subscribe'>, answer: Promise<unknown>): Promise<void> {
    try {
      await answer;
      this.#subscription = request.topics.length > 0 ? request : undefined;
    } catch {
      // The caller gets the error; the subscription before stays.
    }
  }

  #notifyState(state: ConnectionState, error?: ClientError): void {
    for (const watcher of [...this.#watchers]) watcher(state, error);
  }
}

/**
 * Connects to a daemon.
 * @param url address of the daemon, such as `http://127.0.0.1:8087`, or `unix:/PATH` for its socket
 * @throws ClientError CONNECTION_FAILED when there is no daemon, REFUSED when it does not accept this client; the
 * message says how to fix it
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<AdapterClient> {
  const client = new AdapterClient(unixEndpoint(url) ?? networkEndpoint(url), connectSettings(options));
  await client.open();
  return client;
}

/** Removes the path of an address: Socket.IO would take it for a namespace. */
function networkEndpoint(url: string): Endpoint {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && /^(?:http|ws)s?:$/.test(parsed.protocol)) {
    return { url: parsed.origin, origin: parsed.origin, socketPath: undefined };
  }
  const message = `${JSON.stringify(url)} is not the address of a daemon: give one like http://127.0.0.1:8087, or unix:/PATH`;
  throw new ClientError('CONNECTION_FAILED', message);
}

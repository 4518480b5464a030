import type { Answer, RequestInput, RequestName } from '../core/protocol/requests.js';
import type { ConfirmationInfo } from '../core/protocol/confirmations.js';
import type { CommandResult, EventName, SessionInfo } from '../core/protocol/results.js';
import { ClientCommand } from './command.js';
import { Connection } from './connection/connection.js';
import { DaemonRuns } from './connection/daemon-runs.js';
import type { ClientError } from './contract/errors.js';
import { EventRouter } from './output/event-router.js';
import { inputSource } from './contract/input-source.js';
import type { ClientLink } from './link.js';
import { askLlm, type LlmMessages, type LlmOptions, LlmStream } from './llm.js';
import type { EventListener } from './runtime/listeners.js';
import {
  type CheckOptions,
  type ConnectSettings,
  type Decision,
  type ExecuteOptions,
  executeRequest,
  type OpenSessionOptions,
  type RequestOptions,
} from './contract/options.js';
import { randomCommandId } from './runtime/random-id.js';
import { recover } from './connection/recovery.js';
import { ClientSession } from './session.js';
import type { Endpoint } from './connection/unix-socket.js';

/**
 * State of the connection: `lost` while the client tries to connect again, `closed` for good. `restarted` follows a
 * reconnection that leads to another run of the daemon: the sessions and commands of the earlier run are gone.
 */
export type ConnectionState = 'connected' | 'lost' | 'restarted' | 'closed';

/**
 * A client of one daemon. When the connection breaks it comes back by itself, follows its sessions again and gets what
 * was missed: the results and outputs of commands are those of an unbroken connection. `connect` makes one.
 */
export class AdapterClient implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #router: EventRouter;
  readonly #link: ClientLink;
  readonly #watchers = new Set<(state: ConnectionState, error?: ClientError) => void>();
  /** The last command that the daemon has answered. */
  #knownCommandId: string | undefined;
  readonly #runs = new DaemonRuns();

  /** Starts nothing: `open` does. */
  constructor(endpoint: Endpoint, settings: ConnectSettings) {
    this.#connection = new Connection(endpoint, settings, {
      onEvent: (name, payload) => {
        this.#router.route(name, payload);
      },
      onLost: () => {
        this.#tell('lost');
      },
      onRestored: async () => {
        await recover(this.#connection, this.#router, { knownCommandId: this.#knownCommandId, runs: this.#runs });
        this.#tell('connected');
      },
      onClosed: (error) => {
        this.#tell('closed', error);
        this.#watchers.clear();
        this.#router.listeners.clear();
      },
    });
    this.#router = new EventRouter(
      (reason) => {
        this.#connection.noteFarewell(reason);
      },
      ({ instance_id: instanceId }) => {
        if (this.#runs.note(instanceId)) this.#tell('restarted');
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

  /** Address of the daemon. */
  get url(): string {
    return this.#connection.url;
  }

  /** The run of the daemon that the connection leads to; undefined before the daemon has identified itself. */
  get instanceId(): string | undefined {
    return this.#runs.current;
  }

  /** Whether the connection stands at this moment. */
  get isConnected(): boolean {
    return this.#connection.isConnected;
  }

  /**
   * Connects. `connect` has done it.
   * @throws ClientError CONNECTION_FAILED, REFUSED
   */
  open(): Promise<void> {
    return this.#connection.open();
  }

  /**
   * Sends any request of the protocol; gives its answer. Without a connection it waits for the next one. Rejects with a
   * ClientError: the daemon's `{ error }`, or CONNECTION_LOST when the connection broke under a request that cannot be
   * made twice without harm.
   */
  request<N extends RequestName>(
    name: N,
    payload: RequestInput<N>,
    { signal, timeoutMs }: RequestOptions = {},
  ): Promise<Answer<N>> {
    return this.#link.request(name, payload, { signal, timeoutMs });
  }

  /** Tells what machine and shell commands run on. */
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
    return new ClientCommand(
      this.#link,
      executeRequest(command, options, ids),
      options.signal,
      inputSource(options.stdin),
    );
  }

  /** What the policy makes of a command; nothing is run. `enforced` tells whether `execute` would act on it. */
  check(command: string, { args, cwd, sessionId }: CheckOptions = {}): Promise<Answer<'check_command'>> {
    return this.request('check_command', { command, args: args && [...args], cwd, session_id: sessionId });
  }

  /** Asks an LLM: an installed command-line tool, or a service that is configured. */
  llmCall(messages: LlmMessages, options: LlmOptions = {}): Promise<Answer<'llm_call'>> {
    return askLlm(this.#link, messages, options);
  }

  /** Asks an LLM and gives its answer as it comes. */
  llmStream(messages: LlmMessages, options: LlmOptions = {}): LlmStream {
    return new LlmStream(this.#link, messages, options);
  }

  /**
   * Decides over a command that waits for its confirmation: gives its result, or one with `status: 'denied'`. Take the id and
   * the hash of a ConfirmationRequiredError, of the event `confirmation_required`, or of `listConfirmations`.
   */
  confirm(confirmationId: string, decision: Decision): Promise<CommandResult> {
    const { commandSha256, justification } = decision;
    return this.request('confirm_command', {
      confirmation_id: confirmationId,
      decision: decision.decision,
      command_sha256: commandSha256,
      justification,
    });
  }

  /** What waits for a confirmation: what this client has asked for, and what it may decide. */
  async listConfirmations(): Promise<ConfirmationInfo[]> {
    return (await this.request('list_confirmations', {})).confirmations;
  }

  /**
   * Follows a session that is there already.
   * @param options `fromSeq`: the first event wanted; those that are kept come before this resolves, an `output_gap` event
   * tells what is not. By default only what comes from now on.
   */
  async attachSession(id: string, options: { readonly fromSeq?: number | undefined } = {}): Promise<ClientSession> {
    const info = await this.request('get_session', { session_id: id });
    const { shell, working_directory: workingDirectory, next_seq: newest } = info;
    const fromSeq = options.fromSeq === undefined ? undefined : Math.min(options.fromSeq, newest);
    const session = new ClientSession(this.#link, { id, shell, workingDirectory, nextSeq: fromSeq });
    try {
      const { next_seq, gap } = await this.request('attach_session', { session_id: id, from_seq: fromSeq });
      if (gap) this.#router.noteGap(id, gap.to_seq);
      if (this.#router.session(id)?.sequence.next === undefined) this.#router.noteGap(id, next_seq - 1);
      return session;
    } catch (error) {
      await session.detach();
      throw error;
    }
  }

  /** The sessions that are open. */
  async listSessions(): Promise<SessionInfo[]> {
    return (await this.request('list_sessions', {})).sessions;
  }

  /** Adds a listener for one of the daemon's events; gives what removes it. Events that are sent again come once. */
  on<N extends EventName>(event: N, listener: EventListener<N>): () => void {
    return this.#router.listeners.add(event, listener);
  }

  /** Adds a listener for the connection's ups and downs; gives what removes it. `error` says why it is closed. */
  onConnection(listener: (state: ConnectionState, error?: ClientError) => void): () => void {
    const entry = (state: ConnectionState, error?: ClientError) => {
      listener(state, error);
    };
    this.#watchers.add(entry);
    return () => this.#watchers.delete(entry);
  }

  /** Disconnects. Sessions stay open for the daemon's grace time; what has no answer is rejected with CLIENT_CLOSED. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #tell(state: ConnectionState, error?: ClientError): void {
    for (const watcher of [...this.#watchers]) watcher(state, error);
  }
}

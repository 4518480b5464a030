import type { SignalName } from '../core/signals.js';
import type { Answer, RequestInput } from '../core/protocol/requests.js';
import type { EventName, EventPayload, SessionInfo } from '../core/protocol/results.js';
import { type AcceptedInput, ClientCommand, type InputOptions, sendInput } from './command.js';
import { ClientError, hasCode } from './errors.js';
import { ClientFiles } from './files.js';
import { type CheckOptions, type ExecuteOptions, executeRequest, inputSource } from './options.js';
import type { ClientLink } from './link.js';
import { type EventListener, randomCommandId } from './runtime.js';
import { SequenceTracker } from './event-router.js';

/** Reason for the end of a session. */
export type SessionEnd = Omit<EventPayload<'session_closed'>, 'session_id'>;

/** Names of the events that belong to a session. */
export type SessionEventName = {
  [N in EventName]: EventPayload<N> extends { readonly session_id: string | null } ? N : never;
}[EventName];

/** State of a session when a client starts to follow it. */
interface SessionStart {
  readonly id: string;
  readonly shell: string;
  readonly workingDirectory: string;
  /** Number of the first event that the client has not seen. */
  readonly nextSeq: number | undefined;
  /** Set for a session that is only observed. */
  readonly maxBytesPerSecond?: number | undefined;
}

/** A persistent shell session. Disposing of it closes it, unless it was detached. */
export class ClientSession implements AsyncDisposable {
  readonly id: string;
  /** `bash`, `zsh`, `sh`, `fish` or `pwsh`. */
  readonly shell: string;
  readonly #link: ClientLink;
  #workingDirectory: string;
  #end: SessionEnd | undefined;
  #isDetached = false;
  readonly #ignoreEnd: () => void;

  constructor(link: ClientLink, start: SessionStart) {
    const { id, shell, workingDirectory, nextSeq, maxBytesPerSecond } = start;
    this.id = id;
    this.shell = shell;
    this.#link = link;
    this.#workingDirectory = workingDirectory;
    const sequence = link.router.session(id)?.sequence ?? new SequenceTracker(nextSeq);
    link.router.followSession({ id, sequence, maxBytesPerSecond });
    this.#ignoreEnd = this.on('session_closed', ({ reason, detail, survivors }) => {
      this.#noteEnd({ reason, detail, ...(survivors && { survivors }) });
    });
  }

  /** Files as the session sees them: by paths relative to its directory, in its sandbox. */
  get files(): ClientFiles {
    return new ClientFiles(this.#link, this.id);
  }

  /** Directory of the shell after the last command of this client. */
  get workingDirectory(): string {
    return this.#workingDirectory;
  }

  /** Reason for the end of the session; undefined while it is open. */
  get end(): SessionEnd | undefined {
    return this.#end;
  }

  /**
   * Whether the daemon can reach the session. False between `session_detached` and `session_reattached`, while a gateway
   * has lost the connection to its node: requests wait, or fail with NODE_LOST or NODE_UNREACHABLE. False after its end.
   */
  get isReachable(): boolean {
    return this.#end === undefined && this.#link.router.session(this.id)?.isReachable !== false;
  }

  /** Runs a command; commands of one session run one after another. */
  execute(command: string, options: ExecuteOptions = {}): ClientCommand {
    const ids = { commandId: options.commandId ?? randomCommandId(), sessionId: this.id };
    const running = new ClientCommand(
      this.#link,
      executeRequest(command, options, ids),
      options.signal,
      inputSource(options.stdin),
    );
    running.result.then(
      ({ working_directory: directory }) => {
        this.#workingDirectory = directory ?? this.#workingDirectory;
      },
      () => undefined,
    );
    return running;
  }

  /** Evaluates the policy for a command in this session without running it. */
  check(command: string, { args, cwd }: Omit<CheckOptions, 'sessionId'> = {}): Promise<Answer<'check_command'>> {
    return this.#link.request('check_command', { command, args: args && [...args], cwd, session_id: this.id });
  }

  /** Subscribes to `resource_usage` events while something runs, at most one per `intervalMs`; 0 unsubscribes. */
  watchResources(intervalMs: number): Promise<Answer<'watch_resources'>> {
    return this.#link.request('watch_resources', { session_id: this.id, interval_ms: intervalMs });
  }

  /**
   * Types into the terminal of the running command; `eof` then signals the end of input. Input that an operator or a
   * model has to confirm waits for the decision.
   * @throws ConfirmationRequiredError when this client has to confirm it: nothing was typed
   */
  sendInput(data: string, options: InputOptions = {}): Promise<AcceptedInput> {
    return sendInput(this.#link, { session_id: this.id }, data, options);
  }

  /**
   * What the terminal of the running command shows, or that of the last one; `hasCells` adds the look of each character.
   * @throws ClientError NO_RUNNING_COMMAND when that command has no terminal
   */
  readScreen({ hasCells = false }: { readonly hasCells?: boolean } = {}): Promise<Answer<'read_screen'>> {
    return this.#link.request('read_screen', { session_id: this.id, cells: hasCells });
  }

  /** Sends a signal to the foreground processes of the running command. */
  signal(signal: SignalName): Promise<Answer<'signal_command'>> {
    return this.#link.request('signal_command', { session_id: this.id, signal });
  }

  /** Sets the size of the terminal, in characters. */
  resize(cols: number, rows: number): Promise<Answer<'resize_terminal'>> {
    return this.#link.request('resize_terminal', { session_id: this.id, cols, rows });
  }

  /** Ends all processes of the session and replaces its shell, by default with the options it was opened with. */
  async reset(options: Omit<RequestInput<'reset_session'>, 'session_id'> = {}): Promise<Answer<'reset_session'>> {
    const answer = await this.#link.request('reset_session', { session_id: this.id, ...options });
    this.#workingDirectory = answer.working_directory;
    return answer;
  }

  /** Current state of the session. */
  info(): Promise<SessionInfo> {
    return this.#link.request('get_session', { session_id: this.id });
  }

  /** Adds a listener for the session's own events; returns a function that removes it. */
  on<N extends SessionEventName>(event: N, listener: EventListener<N>): () => void {
    return this.#link.router.listeners.add(event, (payload) => {
      if (payload.session_id === this.id) listener(payload);
    });
  }

  /** Stops following the session and leaves it open: its events no longer arrive, and disposing of it has no effect. */
  async detach(): Promise<void> {
    const wasFollowed = !this.#isDetached && this.#end === undefined;
    this.#isDetached = true;
    this.#unfollow();
    if (!wasFollowed) return;
    try {
      await this.#link.request('detach_session', { session_id: this.id }, { isBound: true });
    } catch (error) {
      // Without a connection nothing is followed, and an ended session has nothing to follow.
      if (!(error instanceof ClientError)) throw error;
    }
  }

  /** Ends the session and all its processes. Idempotent. */
  async close(): Promise<void> {
    if (this.#end) return;
    try {
      await this.#link.request('close_session', { session_id: this.id });
    } catch (error) {
      if (!hasCode(error, 'SESSION_NOT_FOUND')) throw error;
    }
    this.#noteEnd({ reason: 'client', detail: 'this client closed it' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isDetached) return;
    try {
      await this.close();
    } catch (error) {
      // Without a connection nothing can be done: the daemon closes a session that no client attaches again.
      if (!hasCode(error, 'CLIENT_CLOSED', 'CONNECTION_LOST', 'SHUTTING_DOWN')) throw error;
    }
  }

  #noteEnd(end: SessionEnd): void {
    this.#end ??= end;
    this.#unfollow();
  }

  #unfollow(): void {
    this.#ignoreEnd();
    this.#link.router.leaveSession(this.id);
  }
}

import { io, type Socket } from 'socket.io-client';

import type { ErrorBody } from '../../core/errors.js';
import type { Answer, RequestInput, RequestName } from '../../core/protocol/requests.js';
import { withPlainBytes } from '../runtime/bytes.js';
import { explainFailure, refusalOf } from './connect-failure.js';
import { ClientError } from '../contract/errors.js';
import type { ConnectSettings } from '../contract/options.js';
import { checkSize } from './packet-size.js';
import { type ConnectionRequestOptions, type PendingRequest, PendingRequests } from './pending-requests.js';
import { startTimer, type Timer } from '../runtime/timer.js';
import { agentFor, type Endpoint } from './unix-socket.js';
import { endTransport, reportEarlyEnd } from './transport-end.js';

/** Longest pause between two attempts to connect again, in milliseconds. */
const MAX_RECONNECT_DELAY_MS = 2000;

/** Requests that last as long as a command or an LLM does, or as the files of the workspace take. The daemon bounds them. */
const UNLIMITED: ReadonlySet<RequestName> = new Set([
  'execute_command',
  'wait_command',
  'send_input',
  'confirm_command',
  'checkpoint_workspace',
  'diff_workspace',
  'restore_workspace',
  'llm_call',
  'llm_stream',
]);

/** What a connection tells its owner. */
export interface ConnectionListener {
  /** An event of the daemon has come. */
  onEvent(name: string, payload: unknown): void;
  /** The connection has broken; it is tried again unless `onClosed` follows. */
  onLost(): void;
  /** It stands again; requests go out once this has resolved. Only bound requests can be made meanwhile. */
  onRestored(): Promise<void>;
  /** It has ended for good; every request has been rejected with the error. */
  onClosed(error: ClientError): void;
}

/** One Socket.IO connection that comes back when it breaks, and the requests that are under way over it. */
export class Connection {
  readonly #endpoint: Endpoint;
  readonly #settings: ConnectSettings;
  readonly #listener: ConnectionListener;
  readonly #socket: Socket;
  readonly #pending = new PendingRequests();
  #maxPacketBytes = Infinity;
  #isReady = false;
  /** Counts the connections, to tell the work for an earlier one. */
  #epoch = 0;
  #giveUpTimer: Timer | undefined;
  #retryTimer: Timer | undefined;
  #closedBy: ClientError | undefined;
  #ended: Promise<void> | undefined;
  /** What the daemon said before it ended. */
  #farewell: string | undefined;

  constructor(endpoint: Endpoint, settings: ConnectSettings, listener: ConnectionListener) {
    this.#endpoint = endpoint;
    const { origin, socketPath } = endpoint;
    this.#settings = settings;
    this.#listener = listener;
    this.#socket = io(origin, {
      transports: [...settings.transports],
      autoConnect: false,
      // A manager of its own: clients in one process have nothing to do with each other.
      forceNew: true,
      // The types of Engine.IO have it as a text.
      ...(socketPath !== undefined && { agent: agentFor(socketPath) as unknown as string }),
      reconnection: settings.reconnect,
      reconnectionDelay: settings.reconnectDelayMs,
      reconnectionDelayMax: Math.max(MAX_RECONNECT_DELAY_MS, settings.reconnectDelayMs),
      timeout: settings.connectTimeoutMs,
      ...(settings.token !== undefined && { auth: { token: settings.token } }),
    });
    this.#socket.io.on('reconnect_attempt', () => {
      // The attempt itself begins after this event.
      queueMicrotask(() => {
        reportEarlyEnd(this.#socket);
      });
    });
  }

  /** Where the daemon is, as it was given. */
  get url(): string {
    return this.#endpoint.url;
  }

  /** Whether the connection stands. */
  get isConnected(): boolean {
    return this.#socket.connected && this.#closedBy === undefined;
  }

  /**
   * Connects for the first time.
   * @throws ClientError CONNECTION_FAILED, REFUSED
   */
  async open(): Promise<void> {
    try {
      await this.#openSocket();
    } catch (error) {
      const reason = await explainFailure(this.#endpoint, error as Error, !this.#socket.active);
      await this.#end(reason);
      throw reason;
    }
    this.#socket.on('connect', this.#onRestored);
    this.#socket.on('connect_error', this.#onConnectError);
    this.#socket.on('disconnect', this.#onLost);
  }

  /** Sends a request; gives its answer. Rejects with a ClientError, or the signal's reason. */
  request<N extends RequestName>(
    name: N,
    payload: RequestInput<N>,
    options: ConnectionRequestOptions = {},
  ): Promise<Answer<N>> {
    return new Promise<Answer<N>>((resolve, reject) => {
      if (this.#closedBy) throw this.#closedBy;
      options.signal?.throwIfAborted();
      checkSize(name, payload, this.#maxPacketBytes);
      if (options.isBound === true && !this.#socket.connected) throw lost(this.url);
      const timeoutMs = options.timeoutMs ?? (UNLIMITED.has(name) ? Infinity : this.#settings.requestTimeoutMs);
      const settle = {
        resolve: (answer: unknown) => {
          resolve(answer as Answer<N>);
        },
        reject,
      };
      const request = this.#pending.add(name, payload, { ...options, timeoutMs }, settle);
      if (this.#isReady || request.isBound) this.#send(request);
    });
  }

  /** The commands without a session that an earlier connection may have brought to the daemon. */
  doubtfulOneShots(): PendingRequest[] {
    return this.#pending.unsent().filter(({ name, payload, mayHaveArrived }) => {
      return mayHaveArrived && name === 'execute_command' && typeof payload['session_id'] !== 'string';
    });
  }

  /** Notes that the daemon is ending: what it has not answered when it goes was lost. */
  noteFarewell(reason: string): void {
    this.#farewell = reason;
  }

  /** Ends the connection; what has no answer is rejected with CLIENT_CLOSED. */
  close(): Promise<void> {
    return this.#end(new ClientError('CLIENT_CLOSED', 'the client was closed'));
  }

  // --- requests -----------------------------------------------------------------------------------------------------

  #send(request: PendingRequest): void {
    request.isSent = true;
    // Socket.IO forgets the callback when the connection breaks: an answer is always that of the last sending.
    this.#socket.emit(request.name, request.payload, (reply: { readonly error?: ErrorBody }) => {
      if (reply.error) request.reject(ClientError.from(reply.error));
      else request.resolve(withPlainBytes(reply));
    });
  }

  // --- the connection's life ----------------------------------------------------------------------------------------

  async #openSocket(): Promise<void> {
    const socket = this.#socket;
    const { connectTimeoutMs } = this.#settings;
    let timer: Timer | undefined;
    await new Promise<void>((resolve, reject) => {
      timer = startTimer(connectTimeoutMs, () => {
        reject(new Error('timeout'));
      });
      socket.once('connect', () => {
        this.#isReady = true;
        resolve();
      });
      socket.once('connect_error', reject);
      socket.once('disconnect', (reason) => {
        reject(new Error(reason));
      });
      socket.onAny((name: string, payload: unknown) => {
        this.#listener.onEvent(name, withPlainBytes(payload));
      });
      socket.connect();
      reportEarlyEnd(socket);
      socket.io.engine.once('handshake', ({ maxPayload }) => {
        this.#maxPacketBytes = maxPayload;
      });
    }).finally(() => {
      clearTimeout(timer);
      socket.off('connect');
      socket.off('connect_error');
      socket.off('disconnect');
    });
  }

  readonly #onLost = (reason: string): void => {
    this.#isReady = false;
    // Socket.IO would send these by itself, beside the requests that are repeated here.
    this.#socket.sendBuffer = [];
    const { reconnect, reconnectTimeoutMs, reconnectDelayMs } = this.#settings;
    const error = lost(this.url, this.#farewell ?? reason);
    this.#pending.connectionLost(error, this.#farewell === undefined);
    this.#farewell = undefined;
    this.#listener.onLost();
    if (!reconnect) {
      void this.#end(error);
      return;
    }
    this.#giveUpTimer ??= startTimer(reconnectTimeoutMs, () => {
      const message = `the connection to ${this.url} was lost and did not come back within ${reconnectTimeoutMs / 1000} s`;
      void this.#end(new ClientError('CONNECTION_LOST', message));
    });
    // A daemon that closes the connection itself is not tried again by Socket.IO.
    if (!this.#socket.active) this.#retryTimer = setTimeout(() => this.#socket.connect(), reconnectDelayMs);
  };

  readonly #onRestored = (): void => {
    const epoch = ++this.#epoch;
    const resume = () => {
      if (epoch !== this.#epoch || !this.isConnected) return;
      clearTimeout(this.#giveUpTimer);
      this.#giveUpTimer = undefined;
      this.#isReady = true;
      for (const request of this.#pending.unsent()) this.#send(request);
    };
    this.#listener.onRestored().then(resume, resume);
  };

  /** An attempt to connect again has failed; one that the daemon refused by name is the last. */
  readonly #onConnectError = (error: Error): void => {
    if (this.#socket.active) return;
    void this.#end(refusalOf(this.url, error));
  };

  #end(error: ClientError): Promise<void> {
    this.#ended ??= (async () => {
      this.#closedBy = error;
      this.#isReady = false;
      clearTimeout(this.#giveUpTimer);
      clearTimeout(this.#retryTimer);
      this.#pending.rejectAll(error);
      this.#listener.onClosed(error);
      this.#socket.offAny();
      this.#socket.off();
      this.#socket.io.off('reconnect_attempt');
      await endTransport(this.#socket);
    })();
    return this.#ended;
  }
}

function lost(url: string, reason?: string): ClientError {
  const why = reason === undefined ? '' : ` (${reason})`;
  const message = `the connection to ${url} broke${why}: what was asked may or may not have been done`;
  return new ClientError('CONNECTION_LOST', message);
}

import { io, type Socket } from 'socket.io-client';

import type { ErrorBody } from '../../core/errors.js';
import type { Answer, RequestInput, RequestName } from '../../core/protocol/requests.js';
import { withPlainBytes } from '../runtime/bytes.js';
import { explainFailure, lost, refusalOf } from './connect-failure.js';
import { ClientError } from '../contract/errors.js';
import type { ConnectSettings } from '../contract/options.js';
import { checkSize } from './packet-size.js';
import { type ConnectionRequestOptions, type PendingRequest, PendingRequests } from './pending-requests.js';
import { startTimer, type Timer } from '../runtime/timer.js';
import { UNLIMITED } from './unlimited-requests.js';
import { agentFor, type Endpoint } from './unix-socket.js';
import { endTransport, reportEarlyEnd } from './transport-end.js';

/** Longest pause between two attempts to reconnect, in milliseconds. */
const MAX_RECONNECT_DELAY_MS = 2000;

/** Callbacks of a `Connection`. */
export interface ConnectionListener {
  /** The daemon has sent an event. */
  onEvent(name: string, payload: unknown): void;
  /** The connection is lost; the client tries to reconnect unless `onClosed` follows. */
  onLost(): void;
  /**
   * The connection is restored; requests are sent once this has resolved. Until then only bound requests are possible.
   */
  onRestored(): Promise<void>;
  /** The connection is closed permanently; every request has been rejected with the error. */
  onClosed(error: ClientError): void;
}

/** One Socket.IO connection that reconnects when it breaks, and the pending requests over it. */
export class Connection {
  readonly #endpoint: Endpoint;
  readonly #settings: ConnectSettings;
  readonly #listener: ConnectionListener;
  readonly #socket: Socket;
  readonly #pending = new PendingRequests();
  #maxPacketBytes = Infinity;
  #isReady = false;
  /** Counts the connections, so that work for an earlier connection can be recognised. */
  #epoch = 0;
  #giveUpTimer: Timer | undefined;
  #retryTimer: Timer | undefined;
  #closedBy: ClientError | undefined;
  #ended: Promise<void> | undefined;
  /** Reason that the daemon has given for its shutdown. */
  #shutdownReason: string | undefined;

  constructor(endpoint: Endpoint, settings: ConnectSettings, listener: ConnectionListener) {
    this.#endpoint = endpoint;
    const { origin, socketPath } = endpoint;
    this.#settings = settings;
    this.#listener = listener;
    this.#socket = io(origin, {
      transports: [...settings.transports],
      autoConnect: false,
      // Each client gets its own manager: clients in one process share nothing.
      forceNew: true,
      // Engine.IO's types declare it as a string. By default it makes an agent for each connection, which `ws` does without.
      agent: (socketPath === undefined ? undefined : agentFor(socketPath)) as unknown as string,
      reconnection: settings.reconnect,
      reconnectionDelay: settings.reconnectDelayMs,
      reconnectionDelayMax: Math.max(MAX_RECONNECT_DELAY_MS, settings.reconnectDelayMs),
      timeout: settings.connectTimeoutMs,
      ...(settings.token !== undefined && { auth: { token: settings.token } }),
    });
    this.#socket.io.on('reconnect_attempt', () => {
      // The attempt itself starts after this event.
      queueMicrotask(() => {
        reportEarlyEnd(this.#socket);
      });
    });
  }

  /** Address of the daemon, as given by the caller. */
  get url(): string {
    return this.#endpoint.url;
  }

  /** Whether the connection is established. */
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

  /** Sends a request; returns its answer. Rejects with a ClientError, or the signal's reason. */
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
      const request = this.#pending.add(name, this.#inTrace(payload), { ...options, timeoutMs }, settle);
      if (this.#isReady || request.isBound) this.#send(request);
    });
  }

  /** The commands without a session that the daemon may have received over an earlier connection. */
  doubtfulOneShots(): PendingRequest[] {
    return this.#pending.unsent().filter(({ name, payload, mayHaveArrived }) => {
      return mayHaveArrived && name === 'execute_command' && typeof payload['session_id'] !== 'string';
    });
  }

  /** Records the daemon's shutdown notice: requests that it does not answer before it ends are lost. */
  noteFarewell(reason: string): void {
    this.#shutdownReason = reason;
  }

  /** Closes the connection; pending requests are rejected with CLIENT_CLOSED. */
  close(): Promise<void> {
    return this.#end(new ClientError('CLIENT_CLOSED', 'the client was closed'));
  }

  #inTrace<T extends object>(payload: T): T {
    const traceparent = this.#settings.traceparent?.();
    return traceparent === undefined ? payload : { ...payload, traceparent };
  }

  // --- requests -----------------------------------------------------------------------------------------------------

  #send(request: PendingRequest): void {
    request.isSent = true;
    // Socket.IO drops the callback when the connection breaks: an answer always belongs to the last attempt.
    this.#socket.emit(request.name, request.payload, (reply: { readonly error?: ErrorBody }) => {
      const { error } = reply;
      if (!error) request.resolve(withPlainBytes(reply));
      else if (this.#settings.reconnect && this.#pending.isRepeatedAfter(request, error)) this.#send(request);
      else request.reject(ClientError.from(error));
    });
  }

  // --- lifecycle of the connection ----------------------------------------------------------------------------------

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
    // Socket.IO would send these automatically, in addition to the requests that are repeated here.
    this.#socket.sendBuffer = [];
    const { reconnect, reconnectTimeoutMs, reconnectDelayMs } = this.#settings;
    const error = lost(this.url, this.#shutdownReason ?? reason);
    this.#pending.connectionLost(error, this.#shutdownReason === undefined);
    this.#shutdownReason = undefined;
    this.#listener.onLost();
    if (!reconnect) {
      void this.#end(error);
      return;
    }
    this.#giveUpTimer ??= startTimer(reconnectTimeoutMs, () => {
      const message = `the connection to ${this.url} was lost and did not come back within ${reconnectTimeoutMs / 1000} s`;
      void this.#end(new ClientError('CONNECTION_LOST', message));
    });
    // Socket.IO does not reconnect when the daemon has closed the connection.
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

  /** Handles a failed attempt to reconnect. A refusal by the daemon is final. */
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

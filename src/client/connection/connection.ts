import { io, type Socket } from 'socket.io-client';

import type { ErrorBody } from '../../core/errors.js';
import type { Answer, RequestInput, RequestName } from '../../core/protocol/requests.js';
import { ClientError } from '../errors.js';
import type { ConnectSettings } from '../options.js';
import { startTimer, type Timer, withPlainBytes } from '../runtime.js';
import { type ConnectionRequestOptions, factsOf, type PendingRequest, PendingRequests } from './pending-requests.js';
import { agentFor, type Endpoint, getOverSocket } from './unix-socket.js';

/** Time-out of the request that asks the daemon why it refused the client, in milliseconds. */
const PROBE_TIMEOUT_MS = 2000;

/**
 * Finds the reason of a failed connection, and a remedy. A WebSocket does not report the reason; a plain HTTP request
 * does.
 * @param isRefused whether the daemon itself has rejected the client
 */
async function explainFailure(endpoint: Endpoint, error: Error, isRefused: boolean): Promise<ClientError> {
  const { url } = endpoint;
  if (isRefused) return refusalOf(url, error);
  if (error.message === 'timeout') {
    return failed(`what listens at ${url} does not answer: see whether the daemon is stopped or overloaded`, error);
  }
  let answer: { readonly status: number; readonly text: string };
  try {
    answer = await ask(endpoint);
  } catch (cause) {
    // The port does not listen, the name is unknown, or the host is unreachable.
    return failed(
      `no daemon answers at ${url}${whyOf(cause)}: start one with "shell-adapter serve", or give the address of one that runs`,
      cause,
    );
  }
  const isOk = answer.status < 400;
  const reason = reasonOf(answer.text);
  if (!isOk && reason !== undefined) return refused(url, reason, error);
  if (isOk) return failed(`the daemon at ${url} answers, but no WebSocket to it comes about: ${error.message}`, error);
  return failed(
    `what answers at ${url} (HTTP ${answer.status}) is no shell-adapter daemon: check host and port`,
    error,
  );
}

async function ask({ origin, socketPath }: Endpoint): Promise<{ readonly status: number; readonly text: string }> {
  const path = '/socket.io/?EIO=4&transport=polling';
  if (socketPath !== undefined) return getOverSocket(socketPath, path, PROBE_TIMEOUT_MS);
  const abort = new AbortController();
  let timer: Timer | undefined;
  // A separate timer: that of `AbortSignal.timeout` does not keep Node.js alive, and fetch may never settle.
  const late = new Promise<never>((_resolve, reject) => {
    timer = startTimer(PROBE_TIMEOUT_MS, () => {
      abort.abort();
      reject(new Error('timeout'));
    });
  });
  const get = async () => {
    const response = await fetch(new URL(path, origin), { signal: abort.signal });
    return { status: response.status, text: await response.text() };
  };
  try {
    return await Promise.race([get(), late]);
  } finally {
    clearTimeout(timer);
  }
}

const failed = (message: string, cause: unknown): ClientError =>
  new ClientError('CONNECTION_FAILED', message, { cause });

const refused = (url: string, reason: string, cause: unknown): ClientError =>
  new ClientError('REFUSED', `the daemon at ${url} refuses this client: ${reason}`, { cause });

/** Error for a client that the daemon does not accept; `details.code` is the reason in machine-readable form. */
function refusalOf(url: string, error: Error): ClientError {
  const { code } = (error as { readonly data?: ErrorBody }).data ?? {};
  const message = `the daemon at ${url} refuses this client: ${error.message}`;
  return new ClientError('REFUSED', message, { ...(code !== undefined && { details: { code } }), cause: error });
}

/** The system's error code, if available: browsers do not expose it. */
function whyOf(error: unknown): string {
  const { code } = ((error as Error).cause ?? error) as { readonly code?: unknown };
  return typeof code === 'string' ? ` (${code})` : '';
}

/** Reason in a refusal: Engine.IO's own ones have the message at the top, the daemon's in `error`. */
function reasonOf(answer: string): string | undefined {
  try {
    const { message, error } = JSON.parse(answer) as {
      readonly message?: unknown;
      readonly error?: Partial<ErrorBody>;
    };
    const reason = error?.message ?? message;
    return typeof reason === 'string' ? reason : undefined;
  } catch {
    // Not JSON: the answer is not from the daemon.
    return undefined;
  }
}

/** The error of requests whose connection broke. */
function lost(url: string, reason?: string): ClientError {
  const why = reason === undefined ? '' : ` (${reason})`;
  const message = `the connection to ${url} broke${why}: what was asked may or may not have been done`;
  return new ClientError('CONNECTION_LOST', message);
}

/** Most bytes per character in JSON: `\u0000` has six. */
const MAX_BYTES_PER_CHARACTER = 6;
/** Size of a request on the wire besides payload and name, in bytes, with a margin. */
const ENVELOPE_BYTES = 128;

const encoder = new TextEncoder();

/**
 * Checks that a request fits into one message: the daemon closes a connection that sends a much larger one, and rejects
 * slightly larger ones.
 * @throws ClientError PAYLOAD_TOO_LARGE
 */
export function checkSize(name: string, payload: Readonly<Record<string, unknown>>, maxBytes: number): void {
  const room = maxBytes - name.length - ENVELOPE_BYTES;
  if (characters(payload) * MAX_BYTES_PER_CHARACTER <= room) return;
  const bytes = encoder.encode(JSON.stringify(withoutBytes(payload))).length + attachedBytes(payload);
  if (bytes <= room) return;
  throw new ClientError(
    'PAYLOAD_TOO_LARGE',
    `${name} takes ${bytes} bytes, the daemon at most ${room} (max_message_bytes)`,
    {
      details: { bytes, max_bytes: room },
    },
  );
}

const withoutBytes = (payload: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(payload).map(([key, value]) => [key, ArrayBuffer.isView(value) ? PLACEHOLDER : value]),
  );

/** Placeholder of an attachment in the JSON. */
const PLACEHOLDER = { _placeholder: true, num: 0 };

const attachedBytes = (payload: Readonly<Record<string, unknown>>): number =>
  Object.values(payload).reduce<number>((sum, value) => sum + (ArrayBuffer.isView(value) ? value.byteLength : 0), 0);

/** Approximate number of characters in the JSON of a value. */
function characters(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  // Binary data is sent unchanged beside the JSON.
  if (ArrayBuffer.isView(value)) return Math.ceil(value.byteLength / MAX_BYTES_PER_CHARACTER);
  return Object.entries(value).reduce((sum, [key, entry]) => sum + key.length + 1 + characters(entry), 0);
}

/** How long a daemon may take to close the connection, in milliseconds: a stopped (SIGSTOP) daemon never does. */
const LEAVE_TIMEOUT_MS = 1000;

/** The WebSocket of a transport: a browser's, or that of the `ws` package. Only the latter can be terminated. */
interface WebSocketLike {
  readonly readyState: number;
  addEventListener(event: 'close', listener: () => void, options: { readonly once: true }): void;
  terminate?(): void;
}

/** `WebSocket.CLOSED`. */
const CLOSED = 3;

/** Disconnects; resolves when the connection is closed on this machine. */
async function endTransport(socket: Socket): Promise<void> {
  const webSocket = webSocketOf(socket);
  socket.disconnect();
  if (!webSocket || webSocket.readyState === CLOSED) return;
  let timer: Timer | undefined;
  await new Promise<void>((resolve) => {
    webSocket.addEventListener('close', resolve, { once: true });
    timer = setTimeout(() => {
      webSocket.terminate?.();
      resolve();
    }, LEAVE_TIMEOUT_MS);
  });
  clearTimeout(timer);
}

/**
 * Makes an attempt to connect fail when the connection ends during the handshake. Until the handshake is complete,
 * Socket.IO's manager listens only for errors (`Manager.open`) and would wait for its time-out.
 */
function reportEarlyEnd(socket: Socket): void {
  const { engine } = socket.io;
  let isOpen = false;
  engine.once('open', () => {
    isOpen = true;
  });
  engine.once('close', (reason) => {
    if (!isOpen) (engine as unknown as FailingEngine).emit('error', new Error(reason));
  });
}

/** The engine's emitter without its types, which keep its own events private. */
interface FailingEngine {
  emit(event: 'error', error: Error): void;
}

function webSocketOf(socket: Socket): WebSocketLike | undefined {
  // The engine is undefined before the first connection, although its type says otherwise.
  const engine = socket.io.engine as Socket['io']['engine'] | undefined;
  const transport = engine?.transport as unknown as { readonly ws?: WebSocketLike | null } | undefined;
  return transport?.ws ?? undefined;
}

/** Longest pause between two attempts to reconnect, in milliseconds. */
const MAX_RECONNECT_DELAY_MS = 2000;

/** Callbacks of a `Connection`. */
interface ConnectionListener {
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
      const timeoutMs = options.timeoutMs ?? (factsOf(name)?.isLong ? Infinity : this.#settings.requestTimeoutMs);
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
      return mayHaveArrived && factsOf(name)?.repeat === 'by_id' && typeof payload['session_id'] !== 'string';
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

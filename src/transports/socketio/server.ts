import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { Server, type Socket } from 'socket.io';

import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { requests } from '../../core/protocol/requests.js';
import type { Caller } from '../../services/audience.js';
import type { Services } from '../../services/services.js';
import { dispatch, isRequestName, type Reply } from '../dispatch.js';
import type { Grant } from '../../services/access/access.js';
import { type DoorSettings, refusalOf } from './access.js';
import { Handshake } from './handshake.js';
import { createHttpServer, type TlsFiles } from './http-server.js';
import { SocketSink } from './socket-sink.js';

/** Longest wait for the answers to what the daemon's end has ended. */
const LAST_ANSWERS_MS = 300;
/** Time for a connection to join the namespace. */
const CONNECT_TIMEOUT_MS = 5000;

/** What the transport is made of. */
export interface SocketIoOptions extends Omit<DoorSettings, 'takesPages'> {
  readonly services: Services;
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | undefined;
  readonly maxMessageBytes: number;
  readonly maxConnections: number;
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
  readonly log: Log;
}

/** The Socket.IO endpoint: turns packets into requests, and replies and events into packets. */
export class SocketIoServer implements AsyncDisposable {
  readonly #options: SocketIoOptions;
  readonly #http: HttpServer;
  readonly #io: Server;
  readonly #handshake: Handshake;
  /** Requests that have no answer yet. */
  readonly #inFlight = new Set<Promise<void>>();

  constructor(options: SocketIoOptions) {
    this.#options = options;
    const { access } = options.services;
    const door = { ...options, takesPages: access.takesPages };
    this.#handshake = new Handshake({ ...options, access, door });
    this.#http = createHttpServer(options.tls, (request, response) => {
      const refusal = refusalOf(request, door);
      response.writeHead(refusal === undefined ? 404 : 403, { 'content-type': 'text/plain' });
      response.end(`${refusal ?? 'shell-adapter: connect with a Socket.IO client'}\n`);
    });
    this.#io = new Server(this.#http, {
      serveClient: false,
      perMessageDeflate: false,
      httpCompression: false,
      maxHttpBufferSize: options.maxMessageBytes,
      pingInterval: options.pingIntervalMs,
      pingTimeout: options.pingTimeoutMs,
      connectTimeout: CONNECT_TIMEOUT_MS,
      cors: { origin: corsOrigin(options.corsAllowedOrigins), credentials: false },
      allowRequest: (request, decide) => {
        this.#handshake.allowRequest(request, decide, this.#io.engine.clientsCount);
      },
    });
    this.#handshake.guard(this.#io);
    this.#io.on('connection', (socket) => {
      this.#serve(socket);
    });
  }

  /** Listens; gives the address. Rejects when the port is taken. */
  async listen(): Promise<AddressInfo> {
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(port, host, () => {
        this.#http.off('error', reject);
        resolve();
      });
    });
    return this.#http.address() as AddressInfo;
  }

  /** Tells every client that the daemon is ending. */
  announceShutdown(reason: string, graceMs: number): void {
    this.#io.emit('server_shutdown', { reason, grace_ms: graceMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#answered();
    await this.#io.close();
    this.#http.closeAllConnections();
  }

  /** Waits until every request has its answer, for a while: those that wait for something else never get one. */
  async #answered(): Promise<void> {
    const late = new AbortController();
    await Promise.race([
      Promise.all(this.#inFlight),
      sleep(LAST_ANSWERS_MS, undefined, { signal: late.signal }).catch(() => undefined),
    ]);
    late.abort();
    // Closing throws away what has not left yet.
    const deadline = performance.now() + LAST_ANSWERS_MS;
    const isPending = () =>
      [...this.#io.sockets.sockets.values()].some((socket) => new SocketSink(socket).pendingBytes() > 0);
    while (isPending() && performance.now() < deadline) await sleep(2);
  }

  #serve(socket: Socket): void {
    const { services, log } = this.#options;
    const sink = new SocketSink(socket);
    const grant = this.#handshake.grantOf(socket);
    const caller: Caller = { principal: grant.principal, sink };
    log.debug('client connected', { client: socket.id, name: grant.principal.name });
    const stopWatching = onEnd(grant, (message) => {
      log.info('a connection was ended', { client: socket.id, why: message });
      sink.send('access_ended', { message });
      socket.disconnect(true);
    });
    // Names come from the client: whatever is JSON may stand there.
    socket.onAny((name: unknown, ...args: unknown[]) => {
      const answered = this.#handle(socket, caller, String(name), args)
        .catch((error: unknown) => {
          log.error('an answer could not be given', { client: socket.id, error: String(error) });
        })
        .finally(() => this.#inFlight.delete(answered));
      this.#inFlight.add(answered);
    });
    // The namespace's errors are the client's: a packet that cannot be parsed, for example.
    socket.on('error', (error) => {
      log.warn('a client sent what could not be read', { client: socket.id, error: error.message });
    });
    socket.on('disconnect', (reason) => {
      log.debug('client disconnected', { client: socket.id, reason });
      stopWatching();
      services.sessions.detach(sink);
    });
  }

  async #handle(socket: Socket, caller: Caller, name: string, args: readonly unknown[]): Promise<void> {
    const last = args.at(-1);
    const acknowledge = typeof last === 'function' ? (last as (reply: unknown) => void) : undefined;
    const payload = typeof args[0] === 'function' ? undefined : args[0];
    const { requestId, body } = takeRequestId(payload);
    const reply = isRequestName(name)
      ? await dispatch(this.#options.services, name, body, caller, this.#options.log)
      : { error: unknownRequest(name) };
    answer(socket, name, reply, requestId, acknowledge);
  }
}

/** Calls the listener when a grant ends, until the returned function is called. */
function onEnd({ ended }: Grant, listener: (message: string) => void): () => void {
  if (!ended) return () => undefined;
  const tell = () => {
    listener((ended.reason as Error).message);
  };
  ended.addEventListener('abort', tell, { once: true });
  // The token may have ended while the connection was being made.
  if (ended.aborted) setImmediate(tell);
  return () => {
    ended.removeEventListener('abort', tell);
  };
}

const corsOrigin = (allowed: '*' | readonly string[]): string | string[] => (allowed === '*' ? '*' : [...allowed]);

function answer(
  socket: Socket,
  name: string,
  reply: Reply | { error: unknown },
  requestId: unknown,
  acknowledge: ((reply: unknown) => void) | undefined,
): void {
  const echoed = requestId === undefined ? reply : { ...reply, request_id: requestId };
  if (acknowledge) acknowledge(echoed);
  else socket.emit(`${name}_result`, echoed);
}

const unknownRequest = (name: string) =>
  new AdapterError('UNKNOWN_REQUEST', `there is no request ${JSON.stringify(name.slice(0, 100))}`, {
    details: { requests: Object.keys(requests) },
  }).toBody();

/** `request_id` belongs to the transport: it is echoed, whatever the request. */
function takeRequestId(payload: unknown): { requestId: unknown; body: unknown } {
  if (typeof payload !== 'object' || payload === null || !Object.hasOwn(payload, 'request_id')) {
    return { requestId: undefined, body: payload };
  }
  const { request_id: requestId, ...body } = payload as Record<string, unknown>;
  return { requestId, body };
}

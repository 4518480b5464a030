import type { Server as HttpServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { Server, type Socket } from 'socket.io';
import { Encoder } from 'socket.io-parser';

import { auditPrincipal } from '../../core/audit/event.js';
import type { Log } from '../../core/logging/log.js';
import type { Authentication } from '../../services/access/access.js';
import type { Caller } from '../../services/registry/caller.js';
import type { Services } from '../../services/services.js';
import type { OriginPolicy } from '../access.js';
import { dispatch, refuseOversized, type Reply } from '../dispatch.js';
import { Handshake, peerOf } from './handshake.js';
import { frameBytesFor, OversizedPayload, sizedDecoder } from './sized-decoder.js';
import { pendingBytesOf, SocketSink } from './socket-sink.js';

/** Longest wait for the answers to what the daemon's end has ended. */
const LAST_ANSWERS_MS = 300;
/** Time for a connection to join the namespace. */
const CONNECT_TIMEOUT_MS = 5000;

/** What the transport is made of. */
export interface SocketIoOptions extends Omit<OriginPolicy, 'takesPages'> {
  readonly services: Services;
  /** Where clients connect. Its listening, and its end, are not this transport's business. */
  readonly http: HttpServer;
  readonly originPolicy: OriginPolicy;
  readonly corsAllowedOrigins: '*' | readonly string[];
  readonly maxMessageBytes: number;
  readonly maxConnections: number;
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
  readonly log: Log;
}

/** The Socket.IO endpoint: turns packets into requests, and replies and events into packets. */
export class SocketIoServer implements AsyncDisposable {
  readonly #options: SocketIoOptions;
  readonly #io: Server;
  readonly #handshake: Handshake;
  /** Requests that have no answer yet. */
  readonly #inFlight = new Set<Promise<void>>();

  constructor(options: SocketIoOptions) {
    this.#options = options;
    const { access, requestAudit: audit } = options.services;
    this.#handshake = new Handshake({ ...options, access, audit });
    this.#io = new Server(options.http, {
      serveClient: false,
      perMessageDeflate: false,
      httpCompression: false,
      maxHttpBufferSize: frameBytesFor(options.maxMessageBytes),
      parser: { Encoder, Decoder: sizedDecoder(options.maxMessageBytes) },
      pingInterval: options.pingIntervalMs,
      pingTimeout: options.pingTimeoutMs,
      connectTimeout: CONNECT_TIMEOUT_MS,
      cors: { origin: corsOrigin(options.corsAllowedOrigins), credentials: false },
      allowRequest: (request, decide) => {
        this.#handshake.allowRequest(request, decide, () => ({
          all: this.#io.engine.clientsCount,
          admitted: this.#io.sockets.sockets.size,
        }));
      },
    });
    this.#handshake.guard(this.#io);
    this.#io.on('connection', (socket) => {
      this.#serve(socket);
    });
  }

  /** Clients that are connected. */
  get clients(): number {
    return this.#io.sockets.sockets.size;
  }

  /** Tells every client that the daemon is ending. */
  announceShutdown(reason: string, graceMs: number): void {
    this.#io.emit('server_shutdown', { reason, grace_ms: graceMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#answered();
    // It would wait for every connection to the port: whoever has made the HTTP server sees to these.
    void this.#io.close();
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
    const isPending = () => [...this.#io.sockets.sockets.values()].some((socket) => pendingBytesOf(socket) > 0);
    while (isPending() && performance.now() < deadline) await sleep(2);
  }

  #serve(socket: Socket): void {
    const { services, log } = this.#options;
    const sink = new SocketSink(socket, services.secrets.value);
    const grant = this.#handshake.grantOf(socket);
    const caller: Caller = { principal: grant.principal, sink, from: peerOf(socket.request.socket).from };
    sink.send('daemon_info', services.status.identity);
    services.connections.add(caller);
    services.audit.record({ event: 'connected', principal: auditPrincipal(grant.principal), from: caller.from });
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
      services.connections.remove(caller);
      services.confirmations.detach(sink);
      services.inputs.detach(sink);
      services.sessions.detach(sink);
      services.llm.detach(sink);
    });
  }

  async #handle(socket: Socket, caller: Caller, name: string, args: readonly unknown[]): Promise<void> {
    const last = args.at(-1);
    const acknowledge = typeof last === 'function' ? (last as (reply: unknown) => void) : undefined;
    const payload = typeof args[0] === 'function' ? undefined : args[0];
    if (payload instanceof OversizedPayload) {
      const { bytes, requestId } = payload;
      answer(socket, name, refuseOversized(this.#options, name, bytes, caller), requestId, acknowledge);
      return;
    }
    const { requestId, body } = takeRequestId(payload);
    const reply = await dispatch(this.#options.services, name, body, caller, this.#options.log);
    answer(socket, name, reply, requestId, acknowledge);
  }
}

/** Calls the listener when a grant ends, until the returned function is called. */
function onEnd({ ended }: Authentication, listener: (message: string) => void): () => void {
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
  reply: Reply,
  requestId: unknown,
  acknowledge: ((reply: unknown) => void) | undefined,
): void {
  const echoed = requestId === undefined ? reply : { ...reply, request_id: requestId };
  if (acknowledge) acknowledge(echoed);
  else socket.emit(`${name}_result`, echoed);
}

/** `request_id` belongs to the transport: it is echoed, whatever the request. */
function takeRequestId(payload: unknown): { requestId: unknown; body: unknown } {
  if (typeof payload !== 'object' || payload === null || !Object.hasOwn(payload, 'request_id')) {
    return { requestId: undefined, body: payload };
  }
  const { request_id: requestId, ...body } = payload as Record<string, unknown>;
  return { requestId, body };
}

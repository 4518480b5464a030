import type { Server as HttpServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { Server, type Socket } from 'socket.io';
import { Encoder } from 'socket.io-parser';

import { auditPrincipal } from '../../core/audit/event.js';
import type { Log } from '../../core/logging/log.js';
import { settledWithin } from '../../core/time.js';
import type { TraceCarrier } from '../../core/traces/traces.js';
import type { Caller } from '../../services/registry/caller.js';
import type { Services } from '../../services/services.js';
import type { OriginPolicy } from '../access.js';
import { beginConnection, endConnection, onAccessEnd } from '../connection.js';
import { dispatch, refuseOversized, type Reply } from '../dispatch.js';
import { Handshake, peerOf } from './handshake.js';
import { frameBytesFor, OversizedPayload, sizedDecoder } from './sized-decoder.js';
import { pendingBytesOf, SocketSink } from './socket-sink.js';

/** Longest wait for the answers to requests that the shutdown has ended, in milliseconds. */
const LAST_ANSWERS_MS = 300;

/** Dependencies of the transport. */
export interface SocketIoOptions extends Omit<OriginPolicy, 'takesPages'> {
  readonly services: Services;
  /** The server that clients connect to. This transport neither starts nor stops it. */
  readonly http: HttpServer;
  readonly originPolicy: OriginPolicy;
  readonly corsAllowedOrigins: '*' | readonly string[];
  readonly maxMessageBytes: number;
  /** Time for a connection to join the namespace. */
  readonly handshakeTimeoutMs: number;
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
  readonly log: Log;
}

/** The Socket.IO endpoint: converts packets to requests, and replies and events to packets. */
export class SocketIoServer implements AsyncDisposable {
  readonly #options: SocketIoOptions;
  readonly #io: Server;
  readonly #handshake: Handshake;
  /** Number of requests without an answer yet. */
  #inFlight = 0;
  #onAllAnswered: (() => void) | undefined;

  constructor(options: SocketIoOptions) {
    this.#options = options;
    const { access, admission, refusals } = options.services;
    this.#handshake = new Handshake({ ...options, access, admission, refusals });
    this.#io = new Server(options.http, {
      serveClient: false,
      perMessageDeflate: false,
      httpCompression: false,
      maxHttpBufferSize: frameBytesFor(options.maxMessageBytes),
      parser: { Encoder, Decoder: sizedDecoder(options.maxMessageBytes) },
      pingInterval: options.pingIntervalMs,
      pingTimeout: options.pingTimeoutMs,
      connectTimeout: options.handshakeTimeoutMs,
      cors: { origin: corsOrigin(options.corsAllowedOrigins), credentials: false },
      allowRequest: this.#handshake.allowRequest,
    });
    this.#handshake.guard(this.#io);
    this.#io.on('connection', (socket) => {
      this.#serve(socket);
    });
  }

  /** Number of connected clients. */
  get clients(): number {
    return this.#io.sockets.sockets.size;
  }

  /** Notifies every client of the shutdown, those of other transports included. */
  announceShutdown(reason: string, graceMs: number): void {
    for (const { sink } of this.#options.services.connections.all())
      sink?.send('server_shutdown', { reason, grace_ms: graceMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#answered();
    // Not awaited: it would wait for every connection to the port, and the owner of the HTTP server closes those.
    void this.#io.close();
  }

  /** Waits until every request is answered, for a limited time: requests that wait for something else may never be. */
  async #answered(): Promise<void> {
    if (this.#inFlight > 0) {
      const answered = new Promise<void>((resolve) => {
        this.#onAllAnswered = resolve;
      });
      await settledWithin(answered, LAST_ANSWERS_MS);
    }
    // Closing discards unsent data.
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
    beginConnection(services, caller);
    services.audit.record({ event: 'connected', principal: auditPrincipal(grant.principal), from: caller.from });
    log.debug('client connected', { client: socket.id, name: grant.principal.name });
    const stopWatching = onAccessEnd(grant, (message) => {
      log.info('a connection was ended', { client: socket.id, why: message });
      sink.send('access_ended', { message });
      socket.disconnect(true);
    });
    // Clients choose the names: any JSON value is possible. Not as events, of which one named `error` would be another thing.
    socket.use(([name, ...args]: readonly unknown[]) => {
      void this.#answer(socket, caller, String(name), args);
    });
    // Errors of the namespace are caused by the client: a packet that cannot be parsed, for example.
    socket.on('error', (error: unknown) => {
      log.warn('a client sent what could not be read', { client: socket.id, error: String(error) });
    });
    socket.on('disconnect', (reason) => {
      log.debug('client disconnected', { client: socket.id, reason });
      stopWatching();
      services.connections.remove(caller);
      endConnection(services, sink);
    });
  }

  /** Handles a request; never rejects. */
  async #answer(socket: Socket, caller: Caller, name: string, args: readonly unknown[]): Promise<void> {
    this.#inFlight += 1;
    try {
      await this.#handle(socket, caller, name, args);
    } catch (error) {
      this.#options.log.error('an answer could not be given', { client: socket.id, error: String(error) });
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#onAllAnswered?.();
    }
  }

  async #handle(socket: Socket, caller: Caller, name: string, args: readonly unknown[]): Promise<void> {
    const last = args.at(-1);
    const acknowledge = typeof last === 'function' ? (last as (reply: unknown) => void) : undefined;
    const payload = typeof args[0] === 'function' ? undefined : args[0];
    if (payload instanceof OversizedPayload) {
      const { bytes, requestId } = payload;
      const reply = refuseOversized(this.#options, name, bytes, caller);
      answer(socket, name, { reply, requestId, acknowledge });
      return;
    }
    const { requestId, trace, body } = takeOwnFields(payload);
    const context = trace ? { ...this.#options, trace } : this.#options;
    const reply = await dispatch(context, name, body, caller);
    answer(socket, name, { reply, requestId, acknowledge });
  }
}

const corsOrigin = (allowed: '*' | readonly string[]): string | string[] => (allowed === '*' ? '*' : [...allowed]);

/** A reply, and where it is sent. */
interface Addressed {
  readonly reply: Reply;
  /** `request_id` of the request; undefined when it has none. */
  readonly requestId: unknown;
  /** The acknowledgement that the client waits for; undefined when it waits for an event. */
  readonly acknowledge: ((reply: unknown) => void) | undefined;
}

function answer(socket: Socket, name: string, { reply, requestId, acknowledge }: Addressed): void {
  const echoed = requestId === undefined ? reply : { ...reply, request_id: requestId };
  if (acknowledge) acknowledge(echoed);
  else socket.emit(`${name}_result`, echoed);
}

/** Fields of a payload that belong to the transport: `request_id`, which is echoed, and the trace of the request. */
const OWN_FIELDS = ['request_id', 'traceparent', 'tracestate'] as const;

function takeOwnFields(payload: unknown): { requestId: unknown; trace: TraceCarrier | undefined; body: unknown } {
  const hasOwn = (field: string) => typeof payload === 'object' && payload !== null && Object.hasOwn(payload, field);
  if (!OWN_FIELDS.some(hasOwn)) return { requestId: undefined, trace: undefined, body: payload };
  const { request_id: requestId, traceparent, tracestate, ...body } = payload as Record<string, unknown>;
  return { requestId, trace: traceparent === undefined ? undefined : { traceparent, tracestate }, body };
}

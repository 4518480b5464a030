import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { Socket as Connection } from 'node:net';

import { Server, type Socket } from 'socket.io';
import { Decoder, Encoder, type Packet, PacketType } from 'socket.io-parser';

import { auditPrincipal } from '../core/audit-events.js';
import { AdapterError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { EventName, EventPayload } from '../core/protocol/results.js';
import type { SecretMask } from '../core/secrets.js';
import { settledWithin, until } from '../core/time.js';
import type { TraceCarrier } from '../core/traces.js';
import type { Access, Authentication, Origin } from '../services/access/access.js';
import type { Admission, Place, Refusals } from '../services/access/admission.js';
import type { Caller, EventSink } from '../services/registry/caller.js';
import type { Services } from '../services/services.js';
import { indirectnessOf, type OriginPolicy, refusalOf } from './access.js';
import { beginConnection, endConnection, onAccessEnd } from './connection.js';
import { dispatch, refuseOversized, type Reply } from './dispatch.js';
import { refuseConnection, refuseRequest } from './http/refused-connection.js';

interface HandshakeOptions {
  readonly access: Access;
  readonly admission: Admission;
  readonly originPolicy: OriginPolicy;
  readonly refusals: Refusals;
  readonly log: Log;
}

/** An Engine.IO client; its types are incomplete. */
interface EngineClient {
  readonly request: IncomingMessage;
  once(event: 'close', listener: () => void): void;
}

/** A request as Engine.IO has prepared it. */
type EngineRequest = IncomingMessage & {
  readonly _query?: { readonly sid?: string };
  /** Undefined for an upgrade. */
  readonly res?: ServerResponse;
};

/** Engine.IO's server; its types are incomplete. */
interface Engine {
  readonly clients: Readonly<Record<string, EngineClient | undefined>>;
  use(middleware: (request: EngineRequest, response: unknown, next: (error?: Error) => void) => void): void;
  on(event: 'connection', listener: (client: EngineClient) => void): void;
  on(event: 'headers', listener: (headers: Record<string, string>, request: IncomingMessage) => void): void;
}

type Decide = (refusal: string | null, isAllowed: boolean) => void;

/** What is known of a connection from its first request on. */
interface Begun {
  readonly origin: Origin;
  readonly place: Place;
  hasFinished: boolean;
}

/**
 * Authenticates connections in two steps: the HTTP request that starts a connection, for which the peer is checked; and
 * Socket.IO's own handshake, which contains the token.
 */
class Handshake {
  readonly #options: HandshakeOptions;
  /** By the first request of a connection. */
  readonly #begun = new WeakMap<IncomingMessage, Begun>();
  readonly #grants = new WeakMap<Socket, Authentication>();

  constructor(options: HandshakeOptions) {
    this.#options = options;
  }

  /** Adds the checks to a server. Has to be called before it accepts connections. */
  guard(io: Server): void {
    this.#guardRequests(io.engine as unknown as Engine);
    io.use((socket, next) => {
      try {
        this.#grants.set(socket, this.#admit(socket));
        next();
      } catch (error) {
        next(this.#refusalFor(error));
      }
    });
  }

  /** Engine.IO's `allowRequest`: decides on the first request of a connection. */
  readonly allowRequest = (request: IncomingMessage, decide: Decide): void => {
    const { originPolicy, log } = this.#options;
    const refusal = refusalOf(request, originPolicy);
    if (refusal !== undefined) {
      const { from, address } = peerOf(request.socket);
      this.#options.refusals.note(address, from, { code: 'FORBIDDEN', message: refusal });
      decide(refusal, false);
      return;
    }
    this.#begin(request, decide).catch((error: unknown) => {
      log.error('a connection could not be judged', { error: String(error) });
      decide('internal error', false);
    });
  };

  /** Returns the authentication of an accepted socket. */
  grantOf(socket: Socket): Authentication {
    const grant = this.#grants.get(socket);
    if (!grant) throw new AdapterError('INTERNAL', 'a connection has come in without being asked who it is');
    return grant;
  }

  /** Engine.IO does not call `allowRequest` for later requests of a connection. */
  #guardRequests(engine: Engine): void {
    const { originPolicy, admission } = this.#options;
    engine.use((request, _response, next) => {
      const { sid } = request._query ?? {};
      const client = sid === undefined ? undefined : engine.clients[sid];
      if (client && this.#begun.get(client.request)?.hasFinished === true) admission.finish(request.socket);
      const refusal = sid === undefined ? undefined : refusalOf(request, originPolicy);
      next(refusal === undefined ? undefined : new Error(refusal));
    });
    engine.on('connection', (client) => {
      const place = this.#begun.get(client.request)?.place;
      if (!place) return;
      // With long-polling, a client outlives the TCP connections of its requests.
      client.request.socket.off('close', place.release);
      client.once('close', place.release);
    });
    engine.on('headers', (headers, { headers: { upgrade }, socket }) => {
      // As for other requests: a connection that has shown no token serves one.
      if (upgrade === undefined && admission.isUnfinished(socket)) headers['Connection'] = 'close';
    });
  }

  async #begin(request: EngineRequest, decide: Decide): Promise<void> {
    const { access, admission } = this.#options;
    const { socket, headers } = request;
    const origin = await access.originOf(socket, indirectnessOf(headers, !access.takesPages));
    if (socket.destroyed) {
      decide('the connection is closed', false);
      return;
    }
    let place: Place;
    try {
      place = admission.admitClient(origin, socket, peerOf(socket).from);
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error;
      // Engine.IO would answer with 403, or 400: it hears no more of this request.
      if (request.res) refuseRequest(request.res, error);
      else refuseConnection(socket, error);
      return;
    }
    socket.once('close', place.release);
    const begun = { origin, place, hasFinished: false };
    this.#begun.set(request, begun);
    if (origin.whyForeign === undefined) this.#finish(begun, socket);
    decide(null, true);
  }

  #admit({ request, handshake }: Socket): Authentication {
    const begun = this.#begun.get(request);
    if (!begun) throw new AdapterError('INTERNAL', 'a connection has come in without a handshake');
    const { from } = peerOf(request.socket);
    const authentication = this.#options.access.admit({ token: tokenIn(handshake.auth), origin: begun.origin, from });
    this.#finish(begun, request.socket);
    return authentication;
  }

  #finish(begun: Begun, connection: Connection): void {
    begun.hasFinished = true;
    begun.place.finish();
    this.#options.admission.finish(connection);
  }

  /** The error that a client gets as `connect_error`, with an error body as `data`. */
  #refusalFor(error: unknown): Error {
    const known = error instanceof AdapterError ? error : new AdapterError('INTERNAL', 'internal error');
    if (known !== error) this.#options.log.error('a connection could not be judged', { error: String(error) });
    return Object.assign(new Error(known.message), { data: known.toBody() });
  }
}

/** Origin of a connection, for records. */
const peerOf = ({ remoteAddress = 'unix', remotePort }: Connection): { from: string; address: string } => ({
  from: `socketio ${remoteAddress} ${remotePort ?? ''}`.trim(),
  address: remoteAddress,
});

const tokenIn = (auth: Readonly<Record<string, unknown>>): unknown => auth['token'];

/** Lower bound of the largest frame, in bytes, so that a message that is too large can be answered. */
const MIN_FRAME_BYTES = 8 * 1024 * 1024;

/**
 * Largest frame that is read, in bytes: well above the largest message. A client that sends a larger one is
 * disconnected.
 */
export const frameBytesFor = (maxMessageBytes: number): number => Math.max(MIN_FRAME_BYTES, 2 * maxMessageBytes);

/** Replaces a payload that is larger than the configuration allows. */
class OversizedPayload {
  /** Size of the message with its attachments, in bytes. */
  readonly bytes: number;
  /** The client's own `request_id`, which the answer echoes; undefined when absent. */
  readonly requestId: unknown;

  constructor(bytes: number, requestId: unknown) {
    this.bytes = bytes;
    this.requestId = requestId;
  }
}

/**
 * A Socket.IO decoder that measures each message. The payload of a message that is too large is dropped and replaced by
 * an `OversizedPayload`: the transport can answer it, where Engine.IO would close the connection without an error.
 * Attachments beyond the largest frame end the connection.
 */
const sizedDecoder = (maxMessageBytes: number): typeof Decoder =>
  class SizedDecoder extends Decoder {
    /** Bytes of the message that is being assembled. */
    #bytes = 0;

    constructor(...options: ConstructorParameters<typeof Decoder>) {
      super(...options);
      // Registered before the server's own listener.
      this.on('decoded', (packet) => {
        if (this.#bytes > maxMessageBytes) dropPayload(packet, this.#bytes);
        this.#bytes = 0;
      });
    }

    override add(message: unknown): void {
      this.#bytes += sizeOf(message);
      if (this.#bytes > frameBytesFor(maxMessageBytes)) throw new Error('the attachments of a message are too large');
      super.add(message);
    }
  };

const sizeOf = (message: unknown): number =>
  typeof message === 'string' ? Buffer.byteLength(message) : ArrayBuffer.isView(message) ? message.byteLength : 0;

/** The data of an event is an array of its name and its payload. */
function dropPayload(packet: Packet, bytes: number): void {
  if (packet.type !== PacketType.EVENT && packet.type !== PacketType.BINARY_EVENT) return;
  const [name, payload] = packet.data as [string, unknown];
  const requestId = (payload as { readonly request_id?: unknown } | null | undefined)?.request_id;
  packet.data = [name, new OversizedPayload(bytes, requestId)];
}

/** The parts of engine.io's socket that show unsent data; its own types omit some. */
interface EngineConnection {
  readonly writeBuffer: readonly { readonly data?: string | { readonly length: number } | undefined }[];
  readonly transport: {
    readonly socket?: { readonly bufferedAmount?: number };
    once(event: 'drain', listener: () => void): void;
  };
}

/** A Socket.IO connection as a destination of events. */
class SocketSink implements EventSink {
  readonly #socket: Socket;
  readonly #mask: SecretMask['value'];

  constructor(socket: Socket, mask: SecretMask['value']) {
    this.#socket = socket;
    this.#mask = mask;
  }

  get id(): string {
    return this.#socket.id;
  }

  send<N extends EventName>(event: N, payload: EventPayload<N>): void {
    // Output was masked when it was read.
    if (this.#socket.connected) this.#socket.emit(event, event === 'command_output' ? payload : this.#mask(payload));
  }

  pendingBytes(): number {
    return pendingBytesOf(this.#socket);
  }

  onDrained(listener: () => void): void {
    (this.#socket.conn as unknown as EngineConnection).transport.once('drain', listener);
  }
}

/** Bytes in the queues of engine.io and of the WebSocket; TCP's own buffers are not visible. */
function pendingBytesOf(socket: Socket): number {
  if (!socket.connected) return 0;
  const { writeBuffer, transport } = socket.conn as unknown as EngineConnection;
  let bytes = transport.socket?.bufferedAmount ?? 0;
  for (const { data } of writeBuffer) bytes += data?.length ?? 0;
  return bytes;
}

/** Longest wait for the answers to requests that the shutdown has ended, in milliseconds. */
const LAST_ANSWERS_MS = 300;

interface SocketIoOptions extends Omit<OriginPolicy, 'takesPages'> {
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
    const isPending = () => [...this.#io.sockets.sockets.values()].some((socket) => pendingBytesOf(socket) > 0);
    await until(() => !isPending(), 2, LAST_ANSWERS_MS);
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
    const stopWatching = onAccessEnd(grant.ended, (message) => {
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

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket as Connection } from 'node:net';

import type { Server, Socket } from 'socket.io';

import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/logging/log.js';
import type { Access, Authentication, Origin } from '../../services/access/access.js';
import type { Admission, Place } from '../../services/access/admission.js';
import type { Refusals } from '../../services/access/refusals.js';
import { type OriginPolicy, indirectnessOf, refusalOf } from '../access.js';
import { refuseConnection, refuseRequest } from '../http/refused-connection.js';

/** Dependencies of the handshake. */
export interface HandshakeOptions {
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
export class Handshake {
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
export const peerOf = ({ remoteAddress = 'unix', remotePort }: Connection): { from: string; address: string } => ({
  from: `socketio ${remoteAddress} ${remotePort ?? ''}`.trim(),
  address: remoteAddress,
});

const tokenIn = (auth: Readonly<Record<string, unknown>>): unknown => auth['token'];

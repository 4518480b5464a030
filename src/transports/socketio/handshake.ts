import type { IncomingMessage } from 'node:http';

import type { Server, Socket } from 'socket.io';

import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { Access, Grant } from '../../services/access/access.js';
import { type DoorSettings, isDirect, refusalOf } from '../access.js';

/** What decides who gets in. */
export interface HandshakeOptions {
  readonly access: Access;
  readonly door: DoorSettings;
  readonly maxConnections: number;
  readonly log: Log;
}

/**
 * Lets connections in, in two steps: the HTTP request that begins one, for which the connection itself is looked at; and
 * Socket.IO's own handshake, which brings the token.
 */
export class Handshake {
  readonly #options: HandshakeOptions;
  /** Requests that programs have made which need no token. */
  readonly #local = new WeakSet<IncomingMessage>();
  readonly #grants = new WeakMap<Socket, Grant>();

  constructor(options: HandshakeOptions) {
    this.#options = options;
  }

  /** Guards a server. To be called before it takes connections. */
  guard(io: Server): void {
    io.engine.use(
      (request: IncomingMessage & { _query?: unknown }, _response: unknown, next: (error?: Error) => void) => {
        // What belongs to a connection already is not shown to `allowRequest`.
        const refusal = isContinuation(request) ? refusalOf(request, this.#options.door) : undefined;
        next(refusal === undefined ? undefined : new Error(refusal));
      },
    );
    io.use((socket, next) => {
      try {
        const isLocalPeer = this.#local.has(socket.request);
        this.#grants.set(socket, this.#options.access.admit({ token: tokenOf(socket), isLocalPeer }));
        next();
      } catch (error) {
        next(this.#refusalFor(error));
      }
    });
  }

  /** Engine.IO's `allowRequest`: decides over the first request of a connection. */
  readonly allowRequest = (
    request: IncomingMessage,
    decide: (refusal: string | null, isAllowed: boolean) => void,
    connections: number,
  ): void => {
    const { door, access, log } = this.#options;
    const refusal = refusalOf(request, door) ?? this.#overload(connections);
    if (refusal !== undefined) {
      log.warn('a connection was refused', { why: refusal });
      decide(refusal, false);
      return;
    }
    const { socket, headers } = request;
    const peer = isDirect(headers) ? access.isLocalPeer(socket) : Promise.resolve(false);
    void peer.then((isLocal) => {
      if (isLocal) this.#local.add(request);
      decide(null, true);
    });
  };

  /** Who is behind a socket that was let in. */
  grantOf(socket: Socket): Grant {
    const grant = this.#grants.get(socket);
    if (!grant) throw new AdapterError('INTERNAL', 'a connection has come in without being asked who it is');
    return grant;
  }

  #overload(connections: number): string | undefined {
    const { maxConnections } = this.#options;
    return connections >= maxConnections ? `${maxConnections} connections are open already` : undefined;
  }

  /** The error that a client gets as `connect_error`, with the body of an answer's error as `data`. */
  #refusalFor(error: unknown): Error {
    const { log } = this.#options;
    const known = error instanceof AdapterError ? error : new AdapterError('INTERNAL', 'a fault in the adapter');
    if (known === error) log.warn('a connection was refused', { why: known.message });
    else log.error('a connection could not be judged', { error: String(error) });
    return Object.assign(new Error(known.message), { data: known.toBody() });
  }
}

/** The token alone is looked at, and only here: one in a URL would stand in logs, one in a cookie would be sent unasked. */
const tokenOf = (socket: Socket): unknown => (socket.handshake.auth as { readonly token?: unknown }).token;

const isContinuation = ({ url = '' }: IncomingMessage): boolean => /[?&]sid=/.test(url);

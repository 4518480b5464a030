import type { IncomingMessage } from 'node:http';
import type { Socket as Connection } from 'node:net';

import type { Server, Socket } from 'socket.io';

import { FailedAttempts } from '../../core/access/failed-attempts.js';
import { AdapterError, type ErrorBody, type ErrorCode } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { Access, Grant } from '../../services/access/access.js';
import type { RequestAudit } from '../../services/request-audit.js';
import { type DoorSettings, isDirect, refusalOf } from '../access.js';

/** What decides who gets in. */
export interface HandshakeOptions {
  readonly access: Access;
  readonly door: DoorSettings;
  readonly maxConnections: number;
  /** Whether a connection has come by the Unix socket. */
  readonly isUnixPeer: (connection: Connection) => boolean;
  readonly audit: Pick<RequestAudit, 'connectionRefused'>;
  readonly log: Log;
}

/** Connections that may stand without having shown a token yet, those of the daemon's own user apart. */
const MAX_STRANGERS = 50;

/** Connections of a server: all, and those of them that were let in. */
export interface ConnectionCounts {
  readonly all: number;
  readonly admitted: number;
}

/**
 * Lets connections in, in two steps: the HTTP request that begins one, for which the connection itself is looked at; and
 * Socket.IO's own handshake, which brings the token.
 */
export class Handshake {
  readonly #options: HandshakeOptions;
  /** Requests that programs have made which need no token. */
  readonly #local = new WeakSet<IncomingMessage>();
  readonly #failures = new FailedAttempts();
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
        this.#grants.set(socket, this.#admit(socket));
        next();
      } catch (error) {
        next(this.#refusalFor(error, socket.request.socket));
      }
    });
  }

  /** Engine.IO's `allowRequest`: decides over the first request of a connection. */
  readonly allowRequest = (
    request: IncomingMessage,
    decide: (refusal: string | null, isAllowed: boolean) => void,
    counts: () => ConnectionCounts,
  ): void => {
    const { door } = this.#options;
    const refuse = (code: ErrorCode, why: string) => {
      this.#note({ code, message: why }, request.socket);
      decide(why, false);
    };
    const refusal = refusalOf(request, door);
    if (refusal !== undefined) {
      refuse('FORBIDDEN', refusal);
      return;
    }
    void this.#isLocal(request).then((isLocal) => {
      const overload = this.#overload(counts(), isLocal);
      const guessing = isLocal ? undefined : this.#guessing(request.socket);
      if (overload !== undefined) refuse('RESOURCE_EXHAUSTED', overload);
      else if (guessing !== undefined) refuse('RATE_LIMITED', guessing);
      else {
        if (isLocal) this.#local.add(request);
        decide(null, true);
      }
    });
  };

  /** Who is behind a socket that was let in. */
  grantOf(socket: Socket): Grant {
    const grant = this.#grants.get(socket);
    if (!grant) throw new AdapterError('INTERNAL', 'a connection has come in without being asked who it is');
    return grant;
  }

  /** Who is behind a socket; a wrong token is counted, those of the daemon's own user apart. */
  #admit({ request, handshake }: Socket): Grant {
    const isLocalPeer = this.#local.has(request);
    const guessing = isLocalPeer ? undefined : this.#guessing(request.socket);
    if (guessing !== undefined) throw new AdapterError('RATE_LIMITED', guessing);
    const token = tokenIn(handshake.auth);
    try {
      return this.#options.access.admit({ token, isLocalPeer });
    } catch (error) {
      if (!isLocalPeer && token !== undefined) this.#failures.note(addressOf(request.socket), performance.now());
      throw error;
    }
  }

  #isLocal({ headers, socket }: IncomingMessage): Promise<boolean> {
    const { access, isUnixPeer } = this.#options;
    if (!isDirect(headers)) return Promise.resolve(false);
    return access.isLocalPeer(isUnixPeer(socket) ? 'unix_socket' : socket);
  }

  #overload({ all, admitted }: ConnectionCounts, isLocal: boolean): string | undefined {
    const { maxConnections } = this.#options;
    if (all >= maxConnections) return `${maxConnections} connections are open already`;
    if (isLocal || all - admitted < MAX_STRANGERS) return undefined;
    return `${MAX_STRANGERS} connections that have shown no token yet are open already`;
  }

  /** Why an address has to wait that has shown wrong tokens. */
  #guessing(connection: Connection): string | undefined {
    const wait = this.#failures.waitOf(addressOf(connection), performance.now());
    if (wait === 0) return undefined;
    return `too many wrong tokens have come from this address; wait ${Math.ceil(wait / 1000)} s`;
  }

  /** The error that a client gets as `connect_error`, with the body of an answer's error as `data`. */
  #refusalFor(error: unknown, connection: Connection): Error {
    const { log } = this.#options;
    const known = error instanceof AdapterError ? error : new AdapterError('INTERNAL', 'a fault in the adapter');
    if (known === error) this.#note(known.toBody(), connection);
    else log.error('a connection could not be judged', { error: String(error) });
    return Object.assign(new Error(known.message), { data: known.toBody() });
  }

  #note(refusal: ErrorBody, connection: Connection): void {
    this.#options.log.warn('a connection was refused', { why: refusal.message });
    this.#options.audit.connectionRefused(originOf(connection), addressOf(connection), refusal);
  }
}

/** Where a connection comes from, for records. */
export const originOf = ({ remoteAddress, remotePort }: Connection): string =>
  remoteAddress === undefined ? 'socketio unix' : `socketio ${remoteAddress} ${remotePort ?? ''}`.trim();

const addressOf = ({ remoteAddress }: Connection): string => remoteAddress ?? 'unix';

/** The token alone is looked at, and only here: one in a URL would stand in logs, one in a cookie would be sent unasked. */
const tokenIn = (auth: Readonly<Record<string, unknown>>): unknown => auth['token'];

const isContinuation = ({ url = '' }: IncomingMessage): boolean => /[?&]sid=/.test(url);

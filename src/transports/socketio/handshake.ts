import type { IncomingMessage } from 'node:http';
import type { Socket as Connection } from 'node:net';

import type { Server, Socket } from 'socket.io';

import { AdapterError, type ErrorCode } from '../../core/errors.js';
import type { Log } from '../../core/logging/log.js';
import type { Access, Authentication } from '../../services/access/access.js';
import type { RequestAudit } from '../../services/audit/request-audit.js';
import { type OriginPolicy, indirectnessOf, refusalOf } from '../access.js';

/** Dependencies of the handshake. */
export interface HandshakeOptions {
  readonly access: Access;
  readonly originPolicy: OriginPolicy;
  readonly maxConnections: number;
  readonly audit: Pick<RequestAudit, 'connectionRefused'>;
  readonly log: Log;
}

/** Maximum number of open connections without a presented token, except those of the daemon's own user. */
const MAX_STRANGERS = 50;

/** Connections of a server: all of them, and the authenticated ones. */
export interface ConnectionCounts {
  readonly all: number;
  readonly admitted: number;
}

/**
 * Authenticates connections in two steps: the HTTP request that starts a connection, for which the peer is checked; and
 * Socket.IO's own handshake, which contains the token.
 */
export class Handshake {
  readonly #options: HandshakeOptions;
  /** Why requests need a token; requests that need none are absent. */
  readonly #foreign = new WeakMap<IncomingMessage, string>();
  readonly #grants = new WeakMap<Socket, Authentication>();

  constructor(options: HandshakeOptions) {
    this.#options = options;
  }

  /** Adds the checks to a server. Has to be called before it accepts connections. */
  guard(io: Server): void {
    io.engine.use(
      (request: IncomingMessage & { _query?: unknown }, _response: unknown, next: (error?: Error) => void) => {
        // Engine.IO does not call `allowRequest` for later requests of a connection.
        const refusal = isContinuation(request) ? refusalOf(request, this.#options.originPolicy) : undefined;
        next(refusal === undefined ? undefined : new Error(refusal));
      },
    );
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
  readonly allowRequest = (
    request: IncomingMessage,
    decide: (refusal: string | null, isAllowed: boolean) => void,
    counts: () => ConnectionCounts,
  ): void => {
    const { originPolicy, access, audit, log } = this.#options;
    const refuse = (code: ErrorCode, why: string) => {
      const { from, address } = peerOf(request.socket);
      log.warn('a connection was refused', { why });
      audit.connectionRefused(from, address, { code, message: why });
      decide(why, false);
    };
    const refusal = refusalOf(request, originPolicy);
    if (refusal !== undefined) {
      refuse('FORBIDDEN', refusal);
      return;
    }
    const { headers, socket } = request;
    const indirectness = indirectnessOf(headers);
    const judged = indirectness === undefined ? access.whyForeign(socket) : Promise.resolve(indirectness);
    void judged.then((whyForeign) => {
      const isLocal = whyForeign === undefined;
      const overload = this.#overload(counts(), isLocal);
      const guessing = isLocal ? undefined : access.retryAfter(peerOf(socket).address);
      if (overload !== undefined) refuse('RESOURCE_EXHAUSTED', overload);
      else if (guessing !== undefined) refuse('RATE_LIMITED', guessing);
      else {
        if (whyForeign !== undefined) this.#foreign.set(request, whyForeign);
        decide(null, true);
      }
    });
  };

  /** Returns the authentication of an accepted socket. */
  grantOf(socket: Socket): Authentication {
    const grant = this.#grants.get(socket);
    if (!grant) throw new AdapterError('INTERNAL', 'a connection has come in without being asked who it is');
    return grant;
  }

  #admit({ request, handshake }: Socket): Authentication {
    const whyForeign = this.#foreign.get(request);
    return this.#options.access.admit({ token: tokenIn(handshake.auth), whyForeign, ...peerOf(request.socket) });
  }

  #overload({ all, admitted }: ConnectionCounts, isLocal: boolean): string | undefined {
    const { maxConnections } = this.#options;
    if (all >= maxConnections) return `${maxConnections} connections are open already`;
    if (isLocal || all - admitted < MAX_STRANGERS) return undefined;
    return `${MAX_STRANGERS} connections that have shown no token yet are open already`;
  }

  /** The error that a client gets as `connect_error`, with an error body as `data`. */
  #refusalFor(error: unknown): Error {
    const { log } = this.#options;
    const known = error instanceof AdapterError ? error : new AdapterError('INTERNAL', 'internal error');
    if (known === error) log.warn('a connection was refused', { why: known.message });
    else log.error('a connection could not be judged', { error: String(error) });
    return Object.assign(new Error(known.message), { data: known.toBody() });
  }
}

/** Origin of a connection: for records, and for counters. */
export const peerOf = ({ remoteAddress = 'unix', remotePort }: Connection): { from: string; address: string } => ({
  from: `socketio ${remoteAddress} ${remotePort ?? ''}`.trim(),
  address: remoteAddress,
});

const tokenIn = (auth: Readonly<Record<string, unknown>>): unknown => auth['token'];

const isContinuation = ({ url = '' }: IncomingMessage): boolean => /[?&]sid=/.test(url);

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import { AdapterError } from '../../core/errors.js';
import type { Access, Authentication, Origin } from '../../services/access/access.js';
import type { Admission } from '../../services/access/admission.js';
import type { Caller } from '../../services/registry/caller.js';
import { indirectnessOf } from '../access.js';

/** Placeholder key: clients of OpenAI's API require one. */
const NO_KEY = 'local';

/** An authenticated request. */
export interface Grant extends Authentication {
  readonly origin: Origin;
}

export interface RawRequest {
  readonly raw: IncomingMessage;
}

/** The client of a request, and its access. */
export interface Admitted {
  /** See `Authentication`. */
  readonly ended: AbortSignal | undefined;
  /** Without a destination for events. */
  readonly caller: Caller;
  /** Whether it is connected by TLS. */
  readonly isEncrypted: boolean;
}

/** How the clients of an endpoint are known: by tokens, or on the port for nodes by what gateways say. */
export interface HttpAuthentication {
  /** The `onRequest` hook of the routes. */
  readonly authenticate: (request: RawRequest) => Promise<void>;
  /**
   * The client of a request whose route has the hook.
   * @throws AdapterError INTERNAL for another one
   */
  admittedOf(request: RawRequest): Admitted;
}

/** Authenticates HTTP requests before their bodies are read: a stranger's body costs memory. */
export class RequestAuthentication implements HttpAuthentication {
  readonly #access: Access;
  readonly #admission: Admission;
  readonly #grants = new WeakMap<IncomingMessage, Grant>();

  constructor(access: Access, admission: Admission) {
    this.#access = access;
    this.#admission = admission;
  }

  /**
   * The `onRequest` hook of routes that need a token: in `Authorization: Bearer`, as OpenAI clients send their key, or in
   * `x-api-key`, as Anthropic clients do. A program of the daemon's own user needs no token, or sends `local` as its key.
   * @throws AdapterError UNAUTHORIZED, with the missing part; RATE_LIMITED after too many wrong tokens
   */
  readonly authenticate = async ({ raw }: RawRequest): Promise<void> => {
    const { headers, socket } = raw;
    const key = bearerOf(headers.authorization) ?? headers['x-api-key'];
    const origin = await this.#access.originOf(socket, indirectnessOf(headers, !this.#access.takesPages));
    const token = key === NO_KEY ? undefined : key;
    const authentication = this.#access.admit({ token, origin, from: originOf(socket) });
    this.#admission.finish(socket);
    this.#grants.set(raw, { ...authentication, origin });
  };

  /**
   * Returns the authentication of a request whose route has the hook.
   * @throws AdapterError INTERNAL for another one
   */
  grantOf({ raw }: RawRequest): Grant {
    const grant = this.#grants.get(raw);
    if (!grant) throw new AdapterError('INTERNAL', 'a route without authentication asks who has sent a request');
    return grant;
  }

  admittedOf({ raw }: RawRequest): Admitted {
    const { principal, ended } = this.grantOf({ raw });
    const { socket } = raw;
    return {
      caller: { principal, sink: undefined, from: originOf(socket) },
      ended,
      isEncrypted: 'encrypted' in socket,
    };
  }
}

/** Origin of a request, for records. */
export const originOf = ({ remoteAddress = 'unix', remotePort }: Socket): string =>
  `http ${remoteAddress} ${remotePort ?? ''}`.trim();

/**
 * Returns the token of an `Authorization` header; undefined without the header.
 * @throws AdapterError UNAUTHORIZED for another scheme
 */
export function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const [, token] = /^bearer +(\S+)\s*$/i.exec(header) ?? [];
  if (token !== undefined) return token;
  throw new AdapterError('UNAUTHORIZED', 'the Authorization header must be: Bearer, a space, and a token');
}

import type { IncomingMessage } from 'node:http';

import type { FastifyRequest } from 'fastify';

import { onAbort } from '../../core/abort.js';
import { TICKET_HEADER } from '../../core/cluster/passed-headers.js';
import { AdapterError } from '../../core/errors.js';
import { randomNonce } from '../../services/access/link-proof.js';
import type { Admitted, HttpAuthentication } from '../http/authentication.js';

/** How long a ticket may be used, in milliseconds: a connection has to be made first. */
const VALID_MS = 10_000;

/**
 * Tickets of gateways: each stands for the client of one request over HTTP. Only over a link, whose other end has proven
 * that it knows the secret, is one given.
 */
export class Tickets implements HttpAuthentication {
  readonly #open = new Map<string, { readonly admitted: Admitted; readonly forget: () => void }>();
  readonly #admitted = new WeakMap<IncomingMessage, Admitted>();

  /** Makes a ticket for a client; it ends with the access of the client. */
  issue(admitted: Admitted): string {
    const ticket = randomNonce();
    const forget = () => {
      clearTimeout(timer);
      stop();
      this.#open.delete(ticket);
    };
    this.#open.set(ticket, { admitted, forget });
    const timer = setTimeout(forget, VALID_MS).unref();
    const stop = onAbort(admitted.ended, () => this.#open.get(ticket)?.forget());
    return ticket;
  }

  /** @throws AdapterError UNAUTHORIZED without a ticket, and for one that was used or has expired */
  readonly authenticate = ({ raw }: Pick<FastifyRequest, 'raw'>): Promise<void> => {
    const { [TICKET_HEADER]: ticket } = raw.headers;
    const issued = typeof ticket === 'string' ? this.#open.get(ticket) : undefined;
    if (!issued) {
      return Promise.reject(
        new AdapterError('UNAUTHORIZED', 'this port is for nodes: the request has no valid ticket'),
      );
    }
    issued.forget();
    this.#admitted.set(raw, issued.admitted);
    return Promise.resolve();
  };

  admittedOf({ raw }: Pick<FastifyRequest, 'raw'>): Admitted {
    const admitted = this.#admitted.get(raw);
    if (!admitted) throw new AdapterError('INTERNAL', 'a route without authentication asks who has sent a request');
    return admitted;
  }
}

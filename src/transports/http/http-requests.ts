import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

import type { FastifyReply, FastifyRequest } from 'fastify';

import type { ErrorDetails } from '../../core/errors.js';
import type { TraceCarrier } from '../../core/traces.js';
import type { HttpRequest } from '../../services/cluster-port.js';
import type { ForwardedAnswer } from '../../services/http-exchange.js';

/**
 * Returns a signal that is aborted when the client disconnects before the whole answer was sent. The connection is
 * closed when its authentication ends.
 * @param ended see `Authentication`
 */
export function goneSignal(
  { raw: { socket } }: FastifyRequest,
  { raw }: FastifyReply,
  ended: AbortSignal | undefined,
): AbortSignal {
  const gone = new AbortController();
  const end = () => {
    socket.destroy();
  };
  const note = () => {
    socket.off('close', note);
    ended?.removeEventListener('abort', end);
    if (!raw.writableFinished) gone.abort();
  };
  ended?.addEventListener('abort', end, { once: true });
  if (ended?.aborted) end();
  raw.once('close', note);
  // A pipelined answer gets no close event of its own, and the connection may have been closed before the listener is
  // added.
  socket.once('close', note);
  if (socket.destroyed) note();
  return gone.signal;
}

/** Resolves when the whole answer was sent, or the connection is closed. */
export const whenOver = ({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply): Promise<void> =>
  new Promise((resolve) => {
    const note = () => {
      socket.off('close', note);
      resolve();
    };
    raw.once('close', note);
    socket.once('close', note);
    if (socket.destroyed) note();
  });

/**
 * Connections whose request may take longer than the time-out of the server, because what reads it has one of its own:
 * uploads.
 */
export class PatientRequests {
  readonly #connections = new WeakSet<Duplex>();

  /** Lets the request of a connection take its time, until the returned function is called. */
  begin(connection: Duplex): () => void {
    this.#connections.add(connection);
    return () => {
      this.#connections.delete(connection);
    };
  }

  /** Has a server ask. Node.js reports the time-out of a request once, and the listener decides what becomes of it. */
  attach(server: Server): void {
    const listeners = server.listeners('clientError');
    server.removeAllListeners('clientError');
    server.on('clientError', (error: NodeJS.ErrnoException, connection) => {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && this.#connections.has(connection)) return;
      for (const listener of listeners) listener.call(server, error, connection);
    });
  }
}

/** The trace that the headers of a request name; undefined when they name none. */
export const traceIn = ({ traceparent, tracestate }: IncomingHttpHeaders): TraceCarrier | undefined =>
  traceparent === undefined ? undefined : { traceparent, tracestate };

/**
 * Returns the value of the header `Retry-After` for an error that says when to try again; undefined for others. In whole
 * seconds, as RFC 9110, 10.2.3 has it.
 */
export function retryAfterOf({ details }: { readonly details?: ErrorDetails | undefined }): string | undefined {
  const ms = details?.['retry_after_ms'];
  return typeof ms === 'number' ? String(Math.max(1, Math.ceil(ms / 1000))) : undefined;
}

/** A request as it is sent on where another node answers it; by default without a body. */
export const rawRequest = (
  { method = 'GET', url: path = '', headers }: IncomingMessage,
  more: Partial<HttpRequest> & Pick<HttpRequest, 'gone' | 'isEncrypted'>,
): HttpRequest => ({ method, path, headers, isUpgrade: false, body: undefined, ...more });

/**
 * Sends the answer of another node as it comes, and no faster than the client reads it. One that breaks off closes the
 * connection, so that the client notices.
 */
export function sendForwarded({ response, headers }: ForwardedAnswer, reply: FastifyReply): FastifyReply {
  const { trailer } = response.headers;
  for (const name of trailer?.split(',') ?? []) {
    const field = name.trim().toLowerCase();
    reply.trailer(field, () => Promise.resolve(response.trailers[field] ?? ''));
  }
  return reply
    .code(response.statusCode ?? 502)
    .headers(headers)
    .send(response);
}

import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

import type { FastifyReply, FastifyRequest } from 'fastify';

import { statusOf } from '../../core/error-catalogue.js';
import type { AdapterError, ErrorBody } from '../../core/errors.js';
import { isRepeated, openAiFailure } from '../../core/openai/failure.js';
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

/** An error as the answer to a request over HTTP, with the headers that say what a client does next. */
export interface ErrorAnswer<Body = { readonly error: ErrorBody }> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

/** The answer to a request that has failed, in the shape of the protocol. */
export function errorAnswer(error: ErrorBody): ErrorAnswer {
  const { code, details } = error;
  const ms = details?.['retry_after_ms'];
  const headers = {
    'cache-control': 'no-store',
    // RFC 9110, 11.6.1: an answer of the status 401 has it.
    ...(code === 'UNAUTHORIZED' && { 'www-authenticate': 'Bearer' }),
    // RFC 9110, 10.2.3: in whole seconds.
    ...(typeof ms === 'number' && { 'retry-after': String(Math.max(1, Math.ceil(ms / 1000))) }),
  };
  return { status: statusOf(code), headers, body: { error } };
}

/** The same in the shape of OpenAI's API, whose clients try again by themselves unless they are told not to. */
export function openAiErrorAnswer(error: AdapterError): ErrorAnswer<ReturnType<typeof openAiFailure>['body']> {
  const { status, body, retryAfterSeconds } = openAiFailure(error);
  const headers = {
    'cache-control': 'no-store',
    ...(isRepeated(error) && { 'x-retry-suppressed': 'true' }),
    ...(retryAfterSeconds === undefined ? { 'x-should-retry': 'false' } : { 'retry-after': String(retryAfterSeconds) }),
  };
  return { status, headers, body };
}

export const sendErrorAnswer = (reply: FastifyReply, { status, headers, body }: ErrorAnswer<object>): FastifyReply =>
  reply.code(status).headers(headers).send(body);

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

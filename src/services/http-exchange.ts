import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { type Duplex, pipeline, type Readable } from 'node:stream';

import { onAbort } from '../core/abort.js';
import type { ForwardedHeaders } from '../core/previews.js';

/** Longest time for a connection, in milliseconds. */
const CONNECT_MS = 5000;

/** What goes with a request for another server. */
interface ExchangeOptions {
  /** Undefined without a body. */
  readonly body: Readable | undefined;
  /** What follows a body of unknown length, once the body has ended; by default nothing. */
  readonly trailers?: (() => NodeJS.Dict<string>) | undefined;
  /** Any of them closes the connection when it is aborted. */
  readonly over: readonly AbortSignal[];
}

export interface HttpAnswer {
  /** Status and headers; the body unless the connection was upgraded. */
  readonly response: IncomingMessage;
  /** The connection after an upgrade, and what has already come over it. */
  readonly upgraded: { readonly socket: Duplex; readonly head: Buffer } | undefined;
}

/** The same, with the headers that the client gets. */
export interface ForwardedAnswer extends HttpAnswer {
  readonly headers: ForwardedHeaders;
}

/**
 * Sends a request, its body as fast as the server reads it.
 * @throws the error of the connection, when it is closed before the answer
 */
export async function exchange(
  upstream: ClientRequest,
  { body, trailers, over }: ExchangeOptions,
): Promise<HttpAnswer> {
  const answered = answerTo(upstream);
  limitConnecting(upstream);
  destroyOn(over, upstream);
  if (body) send(upstream, body, trailers);
  else upstream.end();
  const answer = await answered;
  destroyOn(over, bodyOf(answer));
  return answer;
}

/** What of an answer is read to its end: it is closed when the exchange is over. */
export const bodyOf = ({ response, upgraded }: HttpAnswer): Duplex | IncomingMessage => upgraded?.socket ?? response;

function send(upstream: ClientRequest, body: Readable, trailers: ExchangeOptions['trailers']): void {
  body.pipe(upstream, { end: false });
  body.once('end', () => {
    if (trailers && upstream.getHeader('transfer-encoding') === 'chunked') upstream.addTrailers(trailers());
    upstream.end();
  });
}

function answerTo(upstream: ClientRequest): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    upstream.once('response', (response) => {
      resolve({ response, upgraded: undefined });
    });
    upstream.once('upgrade', (response, socket, head) => {
      resolve({ response, upgraded: { socket, head } });
    });
    // After the answer an error, such as EPIPE for the rest of the body, is no news.
    upstream.on('error', reject);
    upstream.once('close', () => {
      reject(new Error('the connection was closed'));
    });
  });
}

function limitConnecting(upstream: ClientRequest): void {
  const late = setTimeout(() => {
    upstream.destroy(new Error(`no connection within ${CONNECT_MS} ms`));
  }, CONNECT_MS);
  const clear = () => {
    clearTimeout(late);
  };
  upstream.once('socket', (socket) => {
    if (socket.connecting) socket.once('connect', clear);
    else clear();
  });
  upstream.once('close', clear);
}

function destroyOn(over: readonly AbortSignal[], stream: ClientRequest | Duplex | IncomingMessage): void {
  const ends = over.map((signal) =>
    onAbort(signal, () => {
      stream.destroy();
    }),
  );
  stream.once('close', () => {
    for (const end of ends) end();
  });
}

/** A connection whose client has sent an upgrade, and what it has sent after that. */
export interface Upgrading {
  readonly client: Duplex;
  readonly head: Buffer;
}

/**
 * Answers an upgrade, and joins the two connections: each is read as fast as the other one takes it, and ends with it.
 * @param answer with the headers that the client gets; without an upgrade its body is sent
 */
export function joinUpgraded({ response, headers, upgraded }: ForwardedAnswer, { client, head }: Upgrading): void {
  const { statusCode = 502, statusMessage = '' } = response;
  const shown = upgraded ? headers : { ...headers, connection: 'close' };
  client.write(headOf(`HTTP/1.1 ${statusCode} ${statusMessage}`, shown), 'latin1');
  const ignore = () => undefined;
  if (!upgraded) {
    client.resume();
    pipeline(response, client, ignore);
    return;
  }
  const { socket } = upgraded;
  // ECONNRESET: 'close' follows. The socket is closed when the client is.
  socket.on('error', ignore);
  socket.once('close', () => {
    // Sends what the program has sent before.
    if (client instanceof Socket) client.destroySoon();
    else client.destroy();
  });
  client.write(upgraded.head);
  socket.write(head);
  socket.pipe(client);
  client.pipe(socket);
}

function headOf(statusLine: string, headers: ForwardedHeaders): string {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}`),
  );
  return `${[statusLine, ...lines].join('\r\n')}\r\n\r\n`;
}

/** Whether a request has a body: one of length 0 is none. */
export const hasBody = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Sends the answer of another server as it comes, and no faster than the client reads it. One that breaks off closes the
 * connection, so that the client notices.
 */
export function sendAnswer({ response }: HttpAnswer, headers: ForwardedHeaders, to: ServerResponse): void {
  to.writeHead(response.statusCode ?? 502, response.statusMessage, headers);
  // Events may come much later than the headers.
  to.flushHeaders();
  pipeline(response, to, () => undefined);
}

import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import type { Duplex, Readable } from 'node:stream';

import { AdapterError } from '../../core/errors.js';
import type { ForwardedHeaders } from '../../core/previews/preview-headers.js';
import type { PortConnection } from '../../services/previews/previews.js';

/** Longest time for a connection on the same machine, in milliseconds. */
const CONNECT_MS = 5000;

/** A request for the program on a port. */
export interface PortRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: ForwardedHeaders;
  /** Undefined without a body. */
  readonly body: Readable | undefined;
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
}

/** What the program has answered. */
export interface PortAnswer {
  /** Status and headers; the body unless the connection was upgraded. */
  readonly response: IncomingMessage;
  /** The connection after an upgrade, and what has already come over it. */
  readonly upgraded: { readonly socket: Duplex; readonly head: Buffer } | undefined;
}

/**
 * Sends a request to the program on a port, its body as fast as the program reads it. The connection is disposed of when
 * the exchange is over.
 * @throws AdapterError PORT_UNREACHABLE; SESSION_NOT_FOUND when the session ends before the answer
 */
export async function askPort(
  connection: PortConnection,
  { body, gone, method, path, headers }: PortRequest,
): Promise<PortAnswer> {
  const { address, port, ended } = connection;
  const over = AbortSignal.any([ended, gone]);
  try {
    const upstream = httpRequest({ host: address, port, method, path, headers, agent: false });
    const answered = answerTo(upstream);
    limitConnecting(upstream);
    destroyOn(over, upstream);
    if (body) body.pipe(upstream);
    else upstream.end();
    const answer = await answered;
    const stream = answer.upgraded?.socket ?? answer.response;
    destroyOn(over, stream);
    stream.once('close', () => {
      connection[Symbol.dispose]();
    });
    return answer;
  } catch (cause) {
    connection[Symbol.dispose]();
    throw ended.aborted ? (ended.reason as AdapterError) : unreachable(connection, cause);
  }
}

function answerTo(upstream: ClientRequest): Promise<PortAnswer> {
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
  upstream.once('socket', (socket) => socket.once('connect', clear));
  upstream.once('close', clear);
}

function destroyOn(over: AbortSignal, stream: ClientRequest | Duplex | IncomingMessage): void {
  const destroy = () => {
    stream.destroy();
  };
  over.addEventListener('abort', destroy, { once: true });
  stream.once('close', () => {
    over.removeEventListener('abort', destroy);
  });
  if (over.aborted) destroy();
}

function unreachable({ address, port }: PortConnection, cause: unknown): AdapterError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const details = { port, address };
  return new AdapterError('PORT_UNREACHABLE', `the program on port ${port} gave no answer: ${why}`, { details, cause });
}

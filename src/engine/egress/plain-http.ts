import { type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { type Destination, destinationOf, REFUSALS, RefusedConnection, showDestination } from '../../core/egress.js';

const HTTP_PORT = 80;

/** Headers of one connection alone, which a proxy does not pass on (RFC 9110, 7.6.1). */
const HOP_HEADERS: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** A request with the destination that its URL names, and the part of the URL that the server gets. */
export interface PlainRequest {
  readonly destination: Destination;
  readonly path: string;
}

/**
 * Returns where a request of plain HTTP goes.
 * @param pinned the destination of a tunnel, in which the URL is a path
 * @throws RefusedConnection when it does not say so clearly, or its Host header names another host
 */
export function readPlainRequest(message: IncomingMessage, pinned: Destination | undefined): PlainRequest {
  const url = message.url ?? '';
  const read = pinned ? { destination: pinned, path: url } : readAbsolute(url);
  if (!read || !read.path.startsWith('/')) {
    const why = `the proxy needs a URL that begins with http://, and CONNECT for anything else.`;
    throw new RefusedConnection(REFUSALS.notUnderstood(pinned, why));
  }
  const names = pairsOf(message.rawHeaders).flatMap(([name, value]) => (name.toLowerCase() === 'host' ? [value] : []));
  const named = names.length === 1 ? destinationOf(names[0] ?? '', HTTP_PORT) : undefined;
  const { destination } = read;
  if (named && showDestination(named) === showDestination(destination)) return read;
  throw new RefusedConnection(REFUSALS.otherName(destination, 'Host header', names.join(' and ')));
}

function readAbsolute(url: string): PlainRequest | undefined {
  const [, authority = '', path = ''] = /^http:\/\/(?:[^/?#@]*@)?([^/?#@]+)([/?].*)?$/i.exec(url) ?? [];
  const destination = destinationOf(authority, HTTP_PORT);
  return destination && { destination, path: path.startsWith('/') ? path : `/${path}` };
}

/** A request, and how it is passed on. */
export interface PassedRequest {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  /** A connection to its destination. */
  readonly server: Socket;
  /** Called when the server does not answer. */
  readonly onFailed: (error: Error) => void;
}

/** Passes a request on, and the answer back. */
export function passOn({ message, response, path, server, onFailed }: PassedRequest): void {
  const headers = withoutHopHeaders(message.rawHeaders);
  const isChunked = message.headers['transfer-encoding'] !== undefined;
  const request = sendRequest({
    createConnection: () => server,
    method: message.method,
    path,
    setHost: false,
    headers: [...headers, 'Connection', 'close', ...(isChunked ? ['Transfer-Encoding', 'chunked'] : [])],
  });
  request.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, withoutHopHeaders(answer.rawHeaders));
    answer.pipe(response);
    // Cut off by the server: so has to be what the client gets.
    answer.on('error', () => response.destroy());
  });
  request.on('error', onFailed);
  response.on('close', () => request.destroy());
  message.pipe(request);
}

/** Names and values one after another, as Node.js has them. */
function withoutHopHeaders(raw: readonly string[]): string[] {
  const pairs = pairsOf(raw).map(([name, value]) => ({ name, value, key: name.toLowerCase() }));
  const listed = pairs.flatMap(({ key, value }) => (key === 'connection' ? value.toLowerCase().split(/\s*,\s*/) : []));
  const dropped = new Set([...HOP_HEADERS, ...listed.filter((name) => name !== 'host')]);
  return pairs.filter(({ key }) => !dropped.has(key)).flatMap(({ name, value }) => [name, value]);
}

const pairsOf = (raw: readonly string[]): readonly (readonly [string, string])[] =>
  raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []));

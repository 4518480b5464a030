import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import { statusOf } from '../../core/error-catalogue/catalogue.js';
import type { AdapterError } from '../../core/errors.js';
import { retryAfterOf } from './retry-after.js';

/**
 * Time for the peer to read the answer and close the connection, in milliseconds: closing it before the request was read
 * would make the kernel discard the answer.
 */
const LINGER_MS = 1000;

/** Answers whatever a connection asks with an error, and closes it. Nothing more that comes over it is looked at. */
export function refuseConnection(connection: Duplex, error: AdapterError): void {
  const { status, headers, body } = answerOf(error);
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...headers.map((pair) => pair.join(': '))];
  const late = setTimeout(() => connection.destroy(), LINGER_MS).unref();
  connection.once('close', () => {
    clearTimeout(late);
  });
  // ECONNRESET: the peer has not waited for the answer.
  connection.on('error', () => undefined);
  connection.resume();
  connection.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Answers a request with an error, and closes its connection. */
export function refuseRequest(response: ServerResponse, error: AdapterError): void {
  const { status, headers, body } = answerOf(error);
  for (const [name, value] of headers) response.setHeader(name, value);
  response.writeHead(status).end(body);
}

function answerOf(error: AdapterError) {
  const body = JSON.stringify({ error: error.toBody() });
  const retryAfter = retryAfterOf(error);
  const headers: readonly (readonly [name: string, value: string])[] = [
    ['Connection', 'close'],
    ['Cache-Control', 'no-store'],
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Content-Length', String(Buffer.byteLength(body))],
    ...(retryAfter === undefined ? [] : ([['Retry-After', retryAfter]] as const)),
  ];
  return { status: statusOf(error.code), headers, body };
}

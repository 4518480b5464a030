import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';

import type { ForwardedHeaders } from '../../core/previews/http-headers.js';
import type { HttpAnswer } from './http-exchange.js';

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

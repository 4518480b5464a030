import { request as httpRequest } from 'node:http';
import type { Readable } from 'node:stream';

import { AdapterError } from '../../core/errors.js';
import type { ForwardedHeaders } from '../../core/previews/http-headers.js';
import { bodyOf, exchange, type HttpAnswer } from '../../services/exchange/http-exchange.js';
import type { PortConnection } from '../../services/previews/previews.js';

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

/**
 * Sends a request to the program on a port, its body as fast as the program reads it. The connection is disposed of when
 * the exchange is over.
 * @throws AdapterError PORT_UNREACHABLE; SESSION_NOT_FOUND when the session ends before the answer
 */
export async function askPort(
  connection: PortConnection,
  { body, gone, method, path, headers }: PortRequest,
): Promise<HttpAnswer> {
  const { address, port, ended } = connection;
  try {
    const upstream = httpRequest({ host: address, port, method, path, headers, agent: false });
    const answer = await exchange(upstream, { body, over: [ended, gone] });
    bodyOf(answer).once('close', () => {
      connection[Symbol.dispose]();
    });
    return answer;
  } catch (cause) {
    connection[Symbol.dispose]();
    throw ended.aborted ? (ended.reason as AdapterError) : unreachable(connection, cause);
  }
}

function unreachable({ address, port }: PortConnection, cause: unknown): AdapterError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const details = { port, address };
  return new AdapterError('PORT_UNREACHABLE', `the program on port ${port} gave no answer: ${why}`, { details, cause });
}

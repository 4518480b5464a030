import type { FastifyReply } from 'fastify';

import { passedAnswerHeaders } from '../../core/cluster/passed-headers.js';
import type { HttpAnswer } from '../../services/exchange/http-exchange.js';

/**
 * Sends the answer of another node as it comes, and no faster than the client reads it. One that breaks off closes the
 * connection, so that the client notices.
 */
export function sendPassed({ response }: HttpAnswer, reply: FastifyReply): FastifyReply {
  const { headers, statusCode = 502 } = response;
  const { trailer } = headers;
  for (const name of trailer?.split(',') ?? []) {
    const field = name.trim().toLowerCase();
    reply.trailer(field, () => Promise.resolve(response.trailers[field] ?? ''));
  }
  return reply.code(statusCode).headers(passedAnswerHeaders(headers)).send(response);
}

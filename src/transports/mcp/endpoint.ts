import type { ServerResponse } from 'node:http';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { RequestAuthentication } from '../http/authentication.js';
import { traceIn } from '../http/http-requests.js';
import type { McpAnswers, McpAnswersOptions } from './answers.js';
import { clientOptions } from './client-options.js';

const PATH = '/mcp';
/** Error codes of JSON-RPC 2.0, section 5.1. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
/** Time after which the headers of an answer are sent even if it has no content yet, in milliseconds. A quick answer needs one write then. */
const HEADERS_AFTER_MS = 20;

/** Dependencies of the endpoint. */
export interface McpEndpointOptions extends McpAnswersOptions {
  readonly authentication: RequestAuthentication;
  /** Largest request, in bytes. */
  readonly maxMessageBytes: number;
}

/**
 * The adapter's tools at `/mcp`, over MCP's streamable HTTP. Requests of revision 2026-07-28 are stateless, and are
 * cancelled by closing the connection; clients of earlier revisions have sessions. A refused connection is answered as
 * on the other routes. The MCP library is loaded with the first request: that takes a tenth of a daemon's start.
 */
export class McpEndpoint implements AsyncDisposable {
  readonly #options: McpEndpointOptions;
  #answers: Promise<McpAnswers> | undefined;

  constructor(options: McpEndpointOptions) {
    this.#options = options;
  }

  /** Adds the route. */
  readonly register = (routes: FastifyInstance): void => {
    const { authentication, maxMessageBytes: bodyLimit, services } = this.#options;
    routes.route({
      method: ['GET', 'POST', 'DELETE'],
      url: PATH,
      // The answers of the MCP library cannot be made into answers without a body.
      exposeHeadRoute: false,
      bodyLimit,
      onRequest: authentication.authenticate,
      errorHandler: answerUnreadable,
      handler: async (request, reply) => {
        const grant = authentication.grantOf(request);
        const trace = traceIn(request.headers);
        const client = { grant, trace, ...clientOptions(request.raw, services.access, grant) };
        const answers = await (this.#answers ??= this.#load());
        reply.header('cache-control', 'no-store').send(await answers.answer(request, reply, client));
        sendHeadersSoon(reply.raw);
        return reply;
      },
    });
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#answers)?.[Symbol.asyncDispose]();
  }

  async #load(): Promise<McpAnswers> {
    const { McpAnswers } = await import('./answers.js');
    return new McpAnswers(this.#options);
  }
}

/** Sends the headers of a stream before its first event, for which a client might wait for minutes without knowing that it is served. */
function sendHeadersSoon(answer: ServerResponse): void {
  const timer = setTimeout(() => {
    if (!answer.headersSent && answer.hasHeader('content-type')) answer.flushHeaders();
  }, HEADERS_AFTER_MS);
  answer.once('close', () => {
    clearTimeout(timer);
  });
}

/** Answers requests that never reach the MCP library in the format of MCP; other errors as on the other routes. */
function answerUnreadable(
  error: Error & { readonly statusCode?: number },
  _: FastifyRequest,
  reply: FastifyReply,
): void {
  const { statusCode: status, message } = error;
  if (status === undefined || status >= 500) throw error;
  const code = status === 400 ? PARSE_ERROR : INVALID_REQUEST;
  reply.header('cache-control', 'no-store').code(status).send({ jsonrpc: '2.0', id: null, error: { code, message } });
}

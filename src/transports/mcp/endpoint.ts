import type { IncomingMessage, ServerResponse } from 'node:http';
import { isAbsolute } from 'node:path';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { Principal } from '../../core/principal.js';
import { isToolSet, TOOL_SET_NAMES, type ToolSet } from '../../core/tools/tool-sets.js';
import type { TraceCarrier } from '../../core/traces.js';
import type { Access } from '../../services/access/access.js';
import type { Services } from '../../services/services.js';
import { type Grant, originOf, type RequestAuthentication } from '../http/authentication.js';
import { traceIn } from '../http/http-requests.js';
import type { McpAnswers } from './answers.js';

const PATH = '/mcp';
/** Error codes of JSON-RPC 2.0, section 5.1. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
/** Time after which the headers of an answer are sent even if it has no content yet, in milliseconds. A quick answer needs one write then. */
const HEADERS_AFTER_MS = 20;

interface McpEndpointOptions {
  readonly services: Services;
  /** Version of the adapter. */
  readonly version: string;
  readonly log: Log;
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
        const client = clientOf(request.raw, services.access, grant);
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
    const { services, version, log } = this.#options;
    return new McpAnswers(services, version, log);
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

/** A client of the endpoint, and what it has chosen in the URL and the headers of its request. */
export interface McpClient {
  readonly grant: Grant;
  /** The trace that the headers of the request name. */
  readonly trace: TraceCarrier | undefined;
  /**
   * `?tools=`
   * @default 'core'
   */
  readonly tools: ToolSet;
  /** `?cwd=`: directory in which commands start; undefined for the client's roots, then the workspace. */
  readonly cwd: string | undefined;
  /** Principal that decides when the person at the client is asked; undefined when the person is never asked. */
  readonly operator: Principal | undefined;
}

/** Header with the token of an operator who uses the client. */
const OPERATOR_HEADER = 'x-shell-adapter-operator-token';

/** Tool set of clients that choose none. */
const DEFAULT_TOOLS: ToolSet = 'core';

/**
 * Reads a client from the URL and the headers of its request.
 * @throws AdapterError INVALID_REQUEST for an unknown tool set or a relative directory; UNAUTHORIZED, FORBIDDEN for the
 *   operator's token
 */
function clientOf(request: IncomingMessage, access: Access, grant: Grant): McpClient {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const tools = searchParams.get('tools') ?? DEFAULT_TOOLS;
  const cwd = searchParams.get('cwd') ?? undefined;
  if (!isToolSet(tools)) {
    const shown = JSON.stringify(tools);
    throw new AdapterError('INVALID_REQUEST', `tools: ${shown} is unknown; there are ${TOOL_SET_NAMES.join(', ')}`);
  }
  if (cwd !== undefined && !isAbsolute(cwd)) {
    throw new AdapterError('INVALID_REQUEST', `cwd: ${JSON.stringify(cwd)} is not an absolute path`);
  }
  return { grant, trace: traceIn(request.headers), tools, cwd, operator: operatorOf(request, access, grant) };
}

function operatorOf({ headers, socket }: IncomingMessage, access: Access, grant: Grant): Principal | undefined {
  const token = headers[OPERATOR_HEADER];
  if (token === undefined) return undefined;
  const origin = { ...grant.origin, whyForeign: 'it names another principal' };
  const { principal } = access.admit({ token, origin, from: originOf(socket) });
  const refuse = (why: string): never => {
    throw new AdapterError('FORBIDDEN', `${OPERATOR_HEADER}: ${why}`);
  };
  if (principal.role !== 'operator' && principal.role !== 'admin') {
    refuse(`the token has the role ${principal.role}; operator or admin is needed`);
  }
  if (principal.id === grant.principal.id)
    refuse('it is the client’s own token, which cannot confirm what it has asked for');
  return principal;
}

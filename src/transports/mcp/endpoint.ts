import {
  createMcpHandler,
  INVALID_REQUEST,
  isLegacyRequest,
  type McpHttpHandler,
  type McpServer,
  PARSE_ERROR,
} from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { Principal } from '../../core/access/principal.js';
import type { Log } from '../../core/logging/log.js';
import type { TraceCarrier } from '../../core/traces/traces.js';
import type { Services } from '../../services/services.js';
import { dispatch } from '../dispatch.js';
import type { Grant, RequestAuthentication } from '../http/authentication.js';
import { goneSignal, whenOver } from '../http/gone-signal.js';
import { traceIn } from '../http/trace-headers.js';
import { clientOptions, type HttpClientOptions } from './client-options.js';
import { createCodec, createMcpServer, type OperatorAccess } from './mcp-server.js';
import { McpSessions } from './sessions.js';
import { StartDirectory } from './start-directory.js';
import type { ToolBackend } from './tool-backend.js';

const PATH = '/mcp';
const SESSION_HEADER = 'mcp-session-id';
const NO_SUCH_SESSION = { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } } as const;

/** Dependencies of the endpoint. */
export interface McpEndpointOptions {
  readonly services: Services;
  readonly authentication: RequestAuthentication;
  /** Version of the adapter. */
  readonly version: string;
  /** Largest request, in bytes. */
  readonly maxMessageBytes: number;
  readonly log: Log;
}

/**
 * The adapter's tools at `/mcp`, over MCP's streamable HTTP. Requests of revision 2026-07-28 are stateless, and are
 * cancelled by closing the connection; clients of earlier revisions have sessions. A refused connection is answered as
 * on the other routes.
 */
export class McpEndpoint implements AsyncDisposable {
  readonly #options: McpEndpointOptions;
  readonly #sessions = new McpSessions();
  readonly #modern: McpHttpHandler;
  readonly #codec = createCodec();

  constructor(options: McpEndpointOptions) {
    this.#options = options;
    this.#modern = createMcpHandler(({ authInfo }) => this.#serverFor(authInfo?.extra as unknown as Client), {
      onerror: (error) => {
        options.log.warn('an MCP request failed', { error: error.message });
      },
    });
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
        reply.header('cache-control', 'no-store').send(await this.#answer(request, reply, client));
        // Otherwise the headers of a stream are held back until its first event, while the client waits for them.
        if (reply.raw.hasHeader('content-type')) reply.raw.flushHeaders();
        return reply;
      },
    });
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#sessions[Symbol.asyncDispose](), this.#modern.close()]);
  }

  async #answer(request: FastifyRequest, reply: FastifyReply, client: Client): Promise<Response> {
    const { body } = request;
    const { grant } = client;
    const asked = toWebRequest(request, reply, grant);
    const connection = { body, grant, over: whenOver(request, reply) };
    const sessionId = request.headers[SESSION_HEADER];
    if (typeof sessionId === 'string') {
      const known = await this.#sessions.continue(sessionId, asked, connection);
      return known ?? Response.json(NO_SUCH_SESSION, { status: 404 });
    }
    if (isInitialize(body) && (await isLegacyRequest(asked, body))) {
      // Later requests of the session belong to other traces.
      const lasting = { ...client, trace: undefined };
      return this.#sessions.begin(asked, connection, (orphaned) => this.#serverFor(lasting, orphaned));
    }
    const { id: clientId, role } = grant.principal;
    const authInfo = { token: '', clientId, scopes: [role], extra: { ...client } };
    return this.#modern.fetch(asked, { authInfo, ...(body !== undefined && { parsedBody: body }) });
  }

  #serverFor({ grant: { principal }, trace, tools, cwd, operator }: Client, orphaned?: () => AbortSignal): McpServer {
    return createMcpServer({
      backend: this.#backendOf(principal, trace),
      version: this.#options.version,
      role: principal.role,
      tools,
      start: new StartDirectory({ chosen: cwd }),
      operator: operator && this.#operatorAccess(operator),
      ...(orphaned && { orphaned }),
    });
  }

  #operatorAccess(principal: Principal): OperatorAccess {
    const { access } = this.#options.services;
    const backend = this.#backendOf(principal);
    const ended = { error: { code: 'UNAUTHORIZED', message: "the operator's token no longer counts" } };
    // An MCP session may outlive the token that it was started with.
    return {
      codec: this.#codec,
      backend: { request: async (...asked) => (access.isActive(principal) ? backend.request(...asked) : ended) },
    };
  }

  #backendOf(principal: Principal, trace?: TraceCarrier): ToolBackend {
    const { services, log } = this.#options;
    const caller = { principal, sink: undefined, from: 'mcp' };
    return {
      request: (name, payload) => dispatch({ services, log, trace }, name, payload, caller),
      within: (given) => this.#backendOf(principal, given),
    };
  }
}

/** The options and the authentication of a request. */
interface Client extends HttpClientOptions {
  readonly grant: Grant;
  /** The trace that the headers of the request name. */
  readonly trace: TraceCarrier | undefined;
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

/** Converts a request for the MCP library; its signal is aborted when the client disconnects. */
function toWebRequest(request: FastifyRequest, reply: FastifyReply, { ended }: Grant): Request {
  const { url, method, headers, body } = request;
  const named = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return new Request(new URL(url, 'http://localhost'), {
    method,
    headers: named,
    signal: goneSignal(request, reply, ended),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

const isInitialize = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && (body as { readonly method?: unknown }).method === 'initialize';

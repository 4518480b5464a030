import { createMcpHandler, isLegacyRequest, type McpHttpHandler, type McpServer } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';

import type { Principal } from '../../core/access/principal.js';
import type { Log } from '../../core/logging/log.js';
import type { TraceCarrier } from '../../core/traces/traces.js';
import type { Services } from '../../services/services.js';
import { dispatch } from '../dispatch.js';
import type { Grant } from '../http/authentication.js';
import { goneSignal, whenOver } from '../http/gone-signal.js';
import type { HttpClientOptions } from './client-options.js';
import { createCodec, createMcpServer, type OperatorAccess } from './mcp-server.js';
import { McpSessions } from './sessions.js';
import { StartDirectory } from './start-directory.js';
import type { ToolBackend } from './tool-backend.js';

const SESSION_HEADER = 'mcp-session-id';
const NO_SUCH_SESSION = { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } } as const;

/** Dependencies of the answers. */
export interface McpAnswersOptions {
  readonly services: Services;
  /** Version of the adapter. */
  readonly version: string;
  readonly log: Log;
}

/** What answers the requests of the endpoint: the MCP library, its sessions and the tools. */
export class McpAnswers implements AsyncDisposable {
  readonly #options: McpAnswersOptions;
  readonly #sessions = new McpSessions();
  readonly #modern: McpHttpHandler;
  readonly #codec = createCodec();

  constructor(options: McpAnswersOptions) {
    this.#options = options;
    this.#modern = createMcpHandler(({ authInfo }) => this.#serverFor(authInfo?.extra as unknown as McpClient), {
      onerror: (error) => {
        options.log.warn('an MCP request failed', { error: error.message });
      },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#sessions[Symbol.asyncDispose](), this.#modern.close()]);
  }

  /** Answers a request. */
  async answer(request: FastifyRequest, reply: FastifyReply, client: McpClient): Promise<Response> {
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
      this.#options.services.quotas.countRequest(grant.principal);
      // Later requests of the session belong to other traces.
      const lasting = { ...client, trace: undefined };
      return this.#sessions.begin(asked, connection, (orphaned) => this.#serverFor(lasting, orphaned));
    }
    const { id: clientId, role } = grant.principal;
    const authInfo = { token: '', clientId, scopes: [role], extra: { ...client } };
    return this.#modern.fetch(asked, { authInfo, ...(body !== undefined && { parsedBody: body }) });
  }

  #serverFor(
    { grant: { principal }, trace, tools, cwd, operator }: McpClient,
    orphaned?: () => AbortSignal,
  ): McpServer {
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
export interface McpClient extends HttpClientOptions {
  readonly grant: Grant;
  /** The trace that the headers of the request name. */
  readonly trace: TraceCarrier | undefined;
}

/** Converts a request for the MCP library, which gets the parsed body beside it; its signal is aborted when the client disconnects. */
function toWebRequest(request: FastifyRequest, reply: FastifyReply, { ended }: Grant): Request {
  const { url, method, headers } = request;
  const named = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return new Request(new URL(url, 'http://localhost'), {
    method,
    headers: named,
    signal: goneSignal(request, reply, ended),
  });
}

const isInitialize = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && (body as { readonly method?: unknown }).method === 'initialize';

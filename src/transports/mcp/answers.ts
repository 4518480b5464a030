import {
  createMcpHandler,
  isLegacyRequest,
  isSpecType,
  type McpHttpHandler,
  type McpServer,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { onAbort } from '../../core/abort.js';
import type { Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import { ID_BYTES } from '../../core/ids.js';
import type { Log } from '../../core/log.js';
import { base64Url } from '../../core/output/utf8.js';
import type { TraceCarrier } from '../../core/traces.js';
import type { Authentication } from '../../services/access/access.js';
import type { Services } from '../../services/services.js';
import { dispatch } from '../dispatch.js';
import type { Grant } from '../http/authentication.js';
import { goneSignal, whenOver } from '../http/http-requests.js';
import type { McpClient } from './endpoint.js';
import { createCodec, createMcpServer } from './mcp-server.js';
import { StartDirectory } from './start-directory.js';
import type { Ask } from './tool-call.js';

/** Counts the open connections of a client, and signals when it has been disconnected for a while. */
class OpenConnections implements Disposable {
  readonly #orphanMs: number;
  #orphan = new AbortController();
  #open = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param orphanMs longest time without a connection, in milliseconds */
  constructor(orphanMs: number) {
    this.#orphanMs = orphanMs;
  }

  /** Aborted when the client stays disconnected; a client that reconnects later gets a new signal. */
  get orphaned(): AbortSignal {
    return this.#orphan.signal;
  }

  /** Whether there is a connection now. */
  get isOpen(): boolean {
    return this.#open > 0;
  }

  /** Counts a connection until `over` resolves. */
  add(over: Promise<void>): void {
    this.#open += 1;
    clearTimeout(this.#timer);
    void over.then(() => {
      this.#open -= 1;
      if (this.#open === 0) this.#waitForAnother();
    });
  }

  [Symbol.dispose](): void {
    this.#open = Infinity;
    clearTimeout(this.#timer);
  }

  #waitForAnother(): void {
    this.#timer = setTimeout(() => {
      const orphan = this.#orphan;
      this.#orphan = new AbortController();
      orphan.abort();
    }, this.#orphanMs).unref();
  }
}

/** Maximum number of sessions, of all clients together, and of those with one token. */
const MAX_SESSIONS = 256;
const MAX_SESSIONS_OF_OWNER = 32;
/**
 * Idle time after which a session may be evicted for a new one, in milliseconds: killed clients do not close theirs.
 */
const IDLE_MS = 10 * 60_000;
/**
 * Time a session may be without a connection before its calls are cancelled, in milliseconds: the client may reconnect.
 */
const ORPHAN_MS = 10_000;

interface Session {
  readonly owner: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Closes the session. Idempotent. */
  readonly close: () => Promise<void>;
  lastUsed: number;
  /** True when a message has contained several requests, whose answers share one stream. */
  hasBatches: boolean;
  readonly connections: OpenConnections;
}

/** A request of a client. */
interface McpConnection {
  readonly body: unknown;
  readonly grant: Authentication;
  /** Resolves when the whole answer was sent, or the connection is closed. */
  readonly over: Promise<void>;
}

/**
 * Sessions of clients that use a revision of MCP before 2026-07-28. These cancel a request by another request, so both
 * need the same server; a lost connection does not cancel: the client may reconnect for the answer.
 */
class McpSessions implements AsyncDisposable {
  readonly #sessions = new Map<string, Session>();

  /**
   * Starts a session with its first request, which is `initialize`.
   * @param createServer gets a function that returns the signal for a session that has been without a connection for
   *   ten seconds
   */
  async begin(
    request: Request,
    { body, grant, over }: McpConnection,
    createServer: (orphaned: () => AbortSignal) => McpServer,
  ): Promise<Response> {
    const owner = grant.principal.id;
    const evicted = this.#evictedFor(owner);
    const id = base64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => this.#end(id),
      // Not for a request that the library refuses, such as one with headers that do not fit.
      onsessioninitialized: () => {
        if (evicted !== undefined) void this.#end(evicted);
        this.#sessions.set(id, {
          owner,
          transport,
          close,
          lastUsed: performance.now(),
          hasBatches: false,
          connections,
        });
        connections.add(over);
      },
    });
    const connections = new OpenConnections(ORPHAN_MS);
    const server = createServer(() => connections.orphaned);
    await server.connect(transport);
    const stopWaiting = onAbort(grant.ended, () => void this.#end(id));
    const close = async () => {
      stopWaiting();
      await server.close();
    };
    try {
      return await transport.handleRequest(request, { parsedBody: body });
    } finally {
      if (!this.#sessions.has(id)) await close();
    }
  }

  /** Answers a request of a session; undefined when the caller has no session with this id. */
  async continue(
    id: string,
    request: Request,
    { body, grant: { principal }, over }: McpConnection,
  ): Promise<Response | undefined> {
    const session = this.#sessions.get(id);
    if (session?.owner !== principal.id) return undefined;
    session.lastUsed = performance.now();
    session.hasBatches ||= Array.isArray(body);
    session.connections.add(over);
    const response = await session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
    const cancelled = cancelledBy(body);
    // A cancelled request has no answer after which the library would end its stream: each would leak a connection.
    if (cancelled !== undefined && !session.hasBatches) session.transport.closeSSEStream(cancelled);
    return response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)));
  }

  /**
   * The session that has to end before an owner can have another one; undefined when there is room. Of its own that is
   * the one without a connection that was used longest ago: its client begins another one when it comes again.
   * @throws AdapterError SESSION_LIMIT
   */
  #evictedFor(owner: string): string | undefined {
    const byUse = [...this.#sessions].sort(([, one], [, other]) => one.lastUsed - other.lastUsed);
    const own = byUse.filter(([, session]) => session.owner === owner);
    const before = performance.now() - IDLE_MS;
    const isFull = own.length >= MAX_SESSIONS_OF_OWNER;
    if (!isFull && byUse.length < MAX_SESSIONS) return undefined;
    const [evicted] = isFull
      ? own.filter(([, { lastUsed, connections }]) => lastUsed < before || !connections.isOpen)
      : byUse.filter(([, { lastUsed }]) => lastUsed < before);
    if (evicted) return evicted[0];
    const which = isFull ? `${own.length} MCP sessions of this client` : `${byUse.length} MCP sessions`;
    throw new AdapterError('SESSION_LIMIT', `${which} are open already; close one, or wait`);
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    session?.connections[Symbol.dispose]();
    await session?.close();
  }
}

/** The id of the request that a message cancels; undefined for any other message. */
const cancelledBy = (body: unknown): RequestId | undefined =>
  isSpecType.CancelledNotification(body) ? body.params.requestId : undefined;

const SESSION_HEADER = 'mcp-session-id';
const NO_SUCH_SESSION = { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } } as const;

/** What answers the requests of the endpoint: the MCP library, its sessions and the tools. */
export class McpAnswers implements AsyncDisposable {
  readonly #services: Services;
  /** Version of the adapter. */
  readonly #version: string;
  readonly #log: Log;
  readonly #sessions = new McpSessions();
  readonly #modern: McpHttpHandler;
  readonly #codec = createCodec();

  constructor(services: Services, version: string, log: Log) {
    this.#services = services;
    this.#version = version;
    this.#log = log;
    this.#modern = createMcpHandler(({ authInfo }) => this.#serverFor(authInfo?.extra as unknown as McpClient), {
      onerror: (error) => {
        log.warn('an MCP request failed', { error: error.message });
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
      this.#services.quotas.countRequest(grant.principal);
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
      ask: this.#askAs(principal, trace),
      version: this.#version,
      role: principal.role,
      tools,
      start: new StartDirectory(cwd),
      operator: operator && { codec: this.#codec, ask: this.#askWhileActive(operator) },
      ...(orphaned && { orphaned }),
    });
  }

  #askAs(principal: Principal, own?: TraceCarrier): Ask {
    const [services, log] = [this.#services, this.#log];
    const caller = { principal, sink: undefined, from: 'mcp' };
    return (name, payload, trace = own) => dispatch({ services, log, trace }, name, payload, caller);
  }

  /** An MCP session may outlive the operator's token that it was started with. */
  #askWhileActive(principal: Principal): Ask {
    const ask = this.#askAs(principal);
    const ended = { error: { code: 'UNAUTHORIZED', message: "the operator's token no longer counts" } };
    return async (...asked) => (this.#services.access.isActive(principal) ? ask(...asked) : ended);
  }
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

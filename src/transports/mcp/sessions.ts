import {
  isSpecType,
  type McpServer,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

import { AdapterError } from '../../core/errors.js';
import { ID_BYTES } from '../../core/ids.js';
import { base64Url } from '../../core/output/base64.js';
import type { Authentication } from '../../services/access/access.js';
import { OpenConnections } from './open-connections.js';

/** Most sessions at once, of all clients together. */
const MAX_SESSIONS = 256;
/** A session that was not used for so long may make room for another: clients that were killed end none. */
const IDLE_MS = 10 * 60_000;
/** How long a session may be without any connection before its calls are given up, in milliseconds: time to come back. */
const ORPHAN_MS = 10_000;

interface Session {
  readonly owner: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Ends it. Safe to call twice. */
  readonly close: () => Promise<void>;
  lastUsed: number;
  /** Whether several requests came in one message, whose answers come on one stream. */
  hasBatches: boolean;
  readonly connections: OpenConnections;
}

/** A request of a client. */
export interface McpConnection {
  readonly body: unknown;
  readonly grant: Authentication;
  /** Resolves when it has its whole answer, or its connection has gone. */
  readonly over: Promise<void>;
}

/**
 * The sessions of clients that speak a revision of MCP before 2026-07-28. There a request is cancelled by another request, so
 * that both need one server; and a lost connection does not cancel: the client may come back for the answer.
 */
export class McpSessions implements AsyncDisposable {
  readonly #sessions = new Map<string, Session>();

  /**
   * Begins a session with its first request, which is `initialize`.
   * @param createServer gets what tells when the session has been without a connection for ten seconds
   */
  async begin(
    request: Request,
    { body, grant, over }: McpConnection,
    createServer: (orphaned: () => AbortSignal) => McpServer,
  ): Promise<Response> {
    this.#makeRoom();
    const id = base64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => this.#end(id),
    });
    const connections = new OpenConnections(ORPHAN_MS);
    const server = createServer(() => connections.orphaned);
    await server.connect(transport);
    const close = () => server.close();
    this.#sessions.set(id, {
      owner: grant.principal.id,
      transport,
      close,
      lastUsed: performance.now(),
      hasBatches: false,
      connections,
    });
    connections.add(over);
    grant.ended?.addEventListener('abort', () => void this.#end(id), { once: true });
    return transport.handleRequest(request, { parsedBody: body });
  }

  /** Answers a request of a session; undefined when the caller has none of that id. */
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
    // A cancelled request has no answer, with which the library would end its stream: each would keep a connection.
    if (cancelled !== undefined && !session.hasBatches) session.transport.closeSSEStream(cancelled);
    return response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)));
  }

  /** @throws AdapterError SESSION_LIMIT */
  #makeRoom(): void {
    if (this.#sessions.size < MAX_SESSIONS) return;
    const before = performance.now() - IDLE_MS;
    const [id] = [...this.#sessions].filter(([, { lastUsed }]) => lastUsed < before).map(([idle]) => idle);
    if (id === undefined) throw new AdapterError('SESSION_LIMIT', `${MAX_SESSIONS} MCP sessions are open already`);
    void this.#end(id);
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    session?.connections[Symbol.dispose]();
    await session?.close();
  }
}

/** The request that a message cancels; undefined for any other message. */
const cancelledBy = (body: unknown): RequestId | undefined =>
  isSpecType.CancelledNotification(body) ? body.params.requestId : undefined;

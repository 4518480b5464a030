import {
  isSpecType,
  type McpServer,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

import { onAbort } from '../../core/abort.js';
import { AdapterError } from '../../core/errors.js';
import { ID_BYTES } from '../../core/ids.js';
import { base64Url } from '../../core/output/base64.js';
import type { Authentication } from '../../services/access/access.js';
import { OpenConnections } from './open-connections.js';

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
export interface McpConnection {
  readonly body: unknown;
  readonly grant: Authentication;
  /** Resolves when the whole answer was sent, or the connection is closed. */
  readonly over: Promise<void>;
}

/**
 * Sessions of clients that use a revision of MCP before 2026-07-28. These cancel a request by another request, so both
 * need the same server; a lost connection does not cancel: the client may reconnect for the answer.
 */
export class McpSessions implements AsyncDisposable {
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

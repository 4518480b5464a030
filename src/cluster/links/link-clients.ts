import type { Socket } from 'socket.io-client';

import { announced, eventMessage } from '../../core/cluster/link-messages.js';
import type { Log } from '../../core/logging/log.js';
import type { RequestName } from '../../core/protocol/requests.js';
import type { EventName, SessionEndReason } from '../../core/protocol/results.js';
import type { LinkedCaller, LinkOptions, LinkReply, LinkRequest } from './link-types.js';
import { type FollowedSession, LinkClient } from './link-client.js';

type Fields = Readonly<Record<string, unknown>>;

/** The clients of this node that a link serves, and what they follow on the worker. */
export class LinkClients {
  readonly #node: string;
  readonly #log: Log;
  readonly #clients = new Map<string, LinkClient>();
  /** Principals whose access has ended, which the worker was not told yet. */
  readonly #ended = new Set<string>();

  /** @param options `node` is the name of the worker */
  constructor({ node, log }: Pick<LinkOptions, 'node' | 'log'>) {
    this.#node = node;
    this.#log = log;
  }

  /** How many clients of this node the worker knows, or knew. */
  get size(): number {
    return this.#clients.size;
  }

  /** Passes a message of the worker on to the client whose event it has. */
  readonly deliver = (message: unknown): void => {
    const parsed = eventMessage.safeParse(message);
    if (!parsed.success) {
      this.#log.warn('a node has sent what is no event', { node: this.#node });
      return;
    }
    const { client, name, payload, bytes } = parsed.data;
    this.#clients.get(client)?.deliver({ name: name as EventName, payload: payload as never, bytes });
  };

  /** Tells the worker that the access of a principal has ended: at once, or over the next connection. */
  endAccess(principal: string, socket: Socket | undefined): void {
    this.#ended.add(principal);
    if (socket) this.tellEnded(socket);
  }

  /** Tells the worker what it was not told yet. */
  tellEnded(socket: Socket): void {
    for (const principal of this.#ended) socket.emit('ended', { principal });
    this.#ended.clear();
  }

  /** Announces a client to the worker, unless this connection has. */
  announce(caller: LinkedCaller, socket: Socket, ownNode: string): LinkClient {
    const { id } = caller.sink;
    let client = this.#clients.get(id);
    if (!client) {
      client = new LinkClient(caller, (bytes) => this.#grant(id, bytes));
      this.#clients.set(id, client);
    }
    if (client.isAnnounced) return client;
    client.isAnnounced = true;
    client.socket = socket;
    const principal = announced(caller.principal, ownNode);
    socket.emit('client', { client: id, principal, from: caller.from, takes_text: true });
    return client;
  }

  /** Removes a client that has gone; returns whether it was there. */
  remove(id: string): boolean {
    this.#clients.get(id)?.end();
    return this.#clients.delete(id);
  }

  /** Notes what a request has begun or ended that was answered without an error. */
  note(client: LinkClient, { name, payload }: Pick<LinkRequest, 'name' | 'payload'>, reply: LinkReply): void {
    const { session_id: id, next_seq: nextSeq, watch_id: watchId } = reply as Fields;
    const asked = (payload ?? {}) as Fields;
    if (typeof id === 'string') noteSession(client, name, { id, nextSeq, rate: asked['max_bytes_per_second'] });
    if (name === 'watch_paths' && typeof watchId === 'string') client.watches.add(watchId);
    if (name === 'unwatch_paths' && typeof watchId === 'string') client.watches.delete(watchId);
    if (name === 'watch_resources') client.standing.set(`resources of ${String(id)}`, { name, payload });
  }

  /** Tells the clients that the connection has broken. */
  detached(): void {
    for (const client of this.#clients.values()) {
      client.isAnnounced = false;
      client.inTurn(() => {
        for (const session_id of client.sessions.keys())
          client.tell('session_detached', { session_id, node: this.#node, code: 'NODE_UNREACHABLE' });
        this.#endWatches(client, `the connection to node ${this.#node} has broken`);
      });
    }
  }

  /** Makes again over a new connection what the clients had. */
  resume(socket: Socket, ownNode: string): void {
    for (const client of this.#clients.values()) {
      if (client.sessions.size === 0 && client.standing.size === 0) continue;
      this.announce(client.caller, socket, ownNode);
      for (const [id, followed] of client.sessions) this.#reattach(client, id, followed);
      for (const { name, payload } of client.standing.values())
        socket.emit('request', { client: client.caller.sink.id, name, payload }, () => undefined);
    }
  }

  /** Tells the clients that what ran on the worker is gone. */
  lose(why: string): void {
    const detail = `node ${this.#node} was lost: ${why}`;
    for (const client of this.#clients.values()) {
      client.inTurn(() => {
        for (const session_id of client.sessions.keys())
          client.tell('session_closed', { session_id, reason: 'node_lost', detail });
        this.#endWatches(client, detail);
        client.standing.clear();
      });
    }
  }

  /** Tells a client that its watches have ended: those of a connection end with it on the worker. */
  #endWatches(client: LinkClient, detail: string): void {
    for (const watch_id of client.watches) client.tell('watch_ended', { watch_id, reason: 'failed', detail });
    client.watches.clear();
  }

  #grant(id: string, bytes: number): void {
    const client = this.#clients.get(id);
    if (client?.isAnnounced === true) client.socket?.emit('credit', { client: id, bytes });
  }

  #reattach(client: LinkClient, id: string, { nextSeq, maxBytesPerSecond }: FollowedSession): void {
    const rate = maxBytesPerSecond === undefined ? {} : { max_bytes_per_second: maxBytesPerSecond };
    const request = { client: client.caller.sink.id, name: 'attach_session' };
    const payload = { session_id: id, from_seq: nextSeq, ...rate };
    client.socket?.emit('request', { ...request, payload }, (reply: LinkReply) => {
      if ('error' in reply) {
        if (FINAL.has(reply.error.code)) client.tell('session_closed', closedFrom(id, reply.error));
        else this.#reattachLater(client, id);
        return;
      }
      const { next_seq, gap } = reply as { next_seq: number; gap: { from_seq: number; to_seq: number } | null };
      client.tell('session_reattached', { session_id: id, node: this.#node, next_seq, gap });
    });
  }

  #reattachLater(client: LinkClient, id: string): void {
    const { socket } = client;
    setTimeout(() => {
      const followed = client.sessions.get(id);
      if (followed && client.socket === socket && client.isAnnounced) this.#reattach(client, id, followed);
    }, REATTACH_MS).unref();
  }
}

/** Time before a worker is asked again that could not attach a client to its session, in milliseconds. */
const REATTACH_MS = 1000;
/** Errors that say that a client has no such session any more. Others pass, or the link breaks. */
const FINAL: ReadonlySet<string> = new Set(['SESSION_NOT_FOUND', 'FORBIDDEN', 'UNAUTHORIZED']);

function noteSession(
  client: LinkClient,
  name: RequestName,
  { id, nextSeq, rate }: { readonly id: string; readonly nextSeq: unknown; readonly rate: unknown },
): void {
  if (name === 'open_session' && !client.sessions.has(id)) client.sessions.set(id, { nextSeq: 0 });
  if (name === 'detach_session') client.sessions.delete(id);
  if (name !== 'attach_session') return;
  const maxBytesPerSecond = typeof rate === 'number' ? rate : undefined;
  client.sessions.set(id, { nextSeq: typeof nextSeq === 'number' ? nextSeq : 0, maxBytesPerSecond });
}

/** A session that has ended while the connection was broken: the error of the attempt says why. */
function closedFrom(
  session_id: string,
  { message, details = {} }: { readonly message: string; readonly details?: Fields },
) {
  const reason = (details['reason'] ?? 'failed') as SessionEndReason;
  return { session_id, reason, detail: typeof details['detail'] === 'string' ? details['detail'] : message };
}

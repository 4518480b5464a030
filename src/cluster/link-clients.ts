import type { Socket } from 'socket.io-client';

import { Receipts } from '../core/cluster/credit.js';
import { announced, eventMessage } from '../core/cluster/link-messages.js';
import type { ErrorBody } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { Repeat } from '../core/protocol/define-requests.js';
import { type Answer, type RequestName, requests } from '../core/protocol/requests.js';
import type { EventName, EventPayload, SessionEndReason } from '../core/protocol/results.js';
import type { TraceCarrier } from '../core/traces.js';
import type { Caller, EventSink } from '../services/registry/caller.js';
import { nodeLost, nodeUnreachable } from './failures.js';

/** A reply of a node. */
export type LinkReply = Answer<RequestName> | { readonly error: ErrorBody };

/** A client that events can be sent to. */
export type LinkedCaller = Caller & { readonly sink: EventSink };

/** A request that is sent over a link. */
export interface LinkRequest {
  readonly name: RequestName;
  readonly payload: unknown;
  readonly caller: Caller;
  readonly repeat: Repeat;
  /** The trace that it belongs to on the worker. */
  readonly trace?: TraceCarrier | undefined;
  /** Id that was reserved for the session that it opens. */
  readonly reserved?: string | undefined;
}

/** A client gets no credit while its own connection has more unsent bytes than this. */
const MAX_UNSENT_BYTES = 128 * 1024;
/** Least credit of one message, in bytes. */
const CREDIT_STEP_BYTES = 16 * 1024;
/** How often a client whose transport does not tell that it has drained is looked at, in milliseconds. */
const POLL_MS = 20;

/** Events of subscriptions, whose first one is complete for its worker only. */
const PARTIAL: ReadonlySet<EventName> = new Set(['sessions_changed', 'commands_changed', 'llm_changed']);

const partOf = (payload: object): never => ({ ...payload, complete: undefined }) as never;

/** A session whose events a client gets. */
interface FollowedSession {
  /** `seq` of the next event. */
  readonly nextSeq: number;
  /** Rate of an observer; undefined for a follower. */
  readonly maxBytesPerSecond?: number | undefined;
}

/** An event of a worker for a client. */
interface RelayedEvent {
  readonly name: EventName;
  readonly payload: never;
  readonly bytes: number;
}

/** What came over the link, and is done in this order. */
interface Entry {
  readonly act: () => void;
  /** Whether it answers a request of the client. */
  readonly isReply: boolean;
}

/** A client of this node on one link: what it follows there, and the flow of its events. */
class LinkClient {
  readonly caller: LinkedCaller;
  /** Sessions whose events it gets, by id: those that it has opened, attached to, or streams a command of. */
  readonly sessions = new Map<string, FollowedSession>();
  readonly watches = new Set<string>();
  /** Payloads of requests whose effect ends with the connection, and which are made again: by what they are about. */
  readonly standing = new Map<string, { readonly name: 'watch_resources'; readonly payload: unknown }>();
  /** Whether the worker knows it: an announcement holds for one connection. */
  isAnnounced = false;
  /** The connection over which it was announced. */
  socket: Socket | undefined;
  readonly #grant: (bytes: number) => void;
  readonly #receipts = new Receipts(CREDIT_STEP_BYTES);
  /** What has come after a reply that is still on its way to the client. */
  #waiting: Entry[] = [];
  #isHolding = false;
  #isAwaitingDrain = false;
  #timer: NodeJS.Timeout | undefined;
  #isGone = false;

  /** @param grant gives the worker room for so many bytes more */
  constructor(caller: LinkedCaller, grant: (bytes: number) => void) {
    this.caller = caller;
    this.#grant = grant;
  }

  /** Answers a request of the client: after the events that came before the reply, and before those that came after it. */
  reply(answer: () => void): void {
    this.#inOrder({ act: answer, isReply: true });
  }

  /** Does something after what has come over the link so far. */
  inTurn(act: () => void): void {
    this.#inOrder({ act, isReply: false });
  }

  /** Passes an event on to the client. */
  deliver(event: RelayedEvent): void {
    this.inTurn(() => {
      this.#pass(event);
    });
  }

  /** Sends an event of this node itself, after those of the worker before it. */
  tell<N extends EventName>(name: N, payload: EventPayload<N>): void {
    this.deliver({ name, payload: payload as never, bytes: 0 });
  }

  /** Notes that the client has gone. */
  end(): void {
    this.#isGone = true;
    clearTimeout(this.#timer);
  }

  #inOrder(entry: Entry): void {
    if (this.#waiting.length > 0 || (this.#isHolding && !entry.isReply)) {
      this.#waiting.push(entry);
      return;
    }
    entry.act();
    if (entry.isReply) this.#hold();
  }

  /** The client gets a reply some promises later, when nothing else of this turn of the event loop is left to do. */
  #hold(): void {
    if (this.#isHolding) return;
    this.#isHolding = true;
    setImmediate(this.#goOn);
  }

  readonly #goOn = (): void => {
    this.#isHolding = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const entry of waiting) this.#inOrder(entry);
  };

  #pass({ name, payload, bytes }: RelayedEvent): void {
    if (this.#isGone) return;
    this.#note(name, payload);
    this.caller.sink.send(name, PARTIAL.has(name) ? partOf(payload) : payload);
    if (bytes === 0) return;
    this.#receipts.take(bytes);
    this.#settle();
  }

  #note(name: EventName, payload: never): void {
    if (name === 'command_output') {
      const { session_id: id, seq } = payload as EventPayload<'command_output'>;
      if (id !== null) this.sessions.set(id, { ...this.sessions.get(id), nextSeq: seq + 1 });
    } else if (name === 'session_closed') {
      this.sessions.delete((payload as EventPayload<'session_closed'>).session_id);
    } else if (name === 'watch_ended') {
      this.watches.delete((payload as EventPayload<'watch_ended'>).watch_id);
    }
  }

  readonly #settle = (): void => {
    const { sink } = this.caller;
    if (this.#isGone) return;
    if (sink.pendingBytes() > MAX_UNSENT_BYTES) {
      this.#settleLater(sink);
      return;
    }
    const credit = this.#receipts.settle();
    if (credit > 0) this.#grant(credit);
  };

  #settleLater(sink: EventSink): void {
    if (this.#isAwaitingDrain) return;
    this.#isAwaitingDrain = true;
    const go = () => {
      if (!this.#isAwaitingDrain) return;
      this.#isAwaitingDrain = false;
      clearTimeout(this.#timer);
      this.#settle();
    };
    sink.onDrained?.(go);
    this.#timer = setTimeout(go, POLL_MS);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** The clients of this node that a link serves, and what they follow on the worker. */
export class LinkClients {
  readonly #node: string;
  readonly #log: Log;
  readonly #clients = new Map<string, LinkClient>();
  /** Principals whose access has ended, which the worker was not told yet. */
  readonly #ended = new Set<string>();

  /** @param node name of the worker */
  constructor(node: string, log: Log) {
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
  note(client: LinkClient, { name, payload }: LinkRequest, reply: LinkReply): void {
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
  if (requests[name].begins === 'session_id' && !client.sessions.has(id)) client.sessions.set(id, { nextSeq: 0 });
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

/** A request without an answer yet. All have the same fields from the start: there is one for each relayed command. */
class Pending {
  readonly request: LinkRequest;
  /** `name-incarnation` of the worker that it is for; undefined before the first connection. */
  readonly run: string | undefined;
  readonly resolve: (reply: LinkReply) => void;
  /** Whether it was sent, so that it may have been done. */
  isSent = false;
  /** Its client, once it was sent; undefined for one without events. */
  client: LinkClient | undefined = undefined;
  /** Since when it has waited for a connection, on the clock of `performance.now`. */
  waitsSince = performance.now();

  constructor(request: LinkRequest, run: string | undefined, resolve: (reply: LinkReply) => void) {
    this.request = request;
    this.run = run;
    this.resolve = resolve;
  }
}

/** The requests of a link that have no answer yet. */
export class PendingRequests {
  readonly #node: string;
  readonly #ownNode: string;
  readonly #clients: LinkClients;
  readonly #pending = new Set<Pending>();

  constructor(node: string, ownNode: string, clients: LinkClients) {
    this.#node = node;
    this.#ownNode = ownNode;
    this.#clients = clients;
  }

  /** How many there are. */
  get size(): number {
    return this.#pending.size;
  }

  /**
   * Adds a request; gives its answer, and never rejects.
   * @param socket over which it is sent; undefined while there is no connection
   * @param run `name-incarnation` of the worker, as far as it is known
   */
  add(request: LinkRequest, socket: Socket | undefined, run: string | undefined): Promise<LinkReply> {
    return new Promise((resolve) => {
      const pending = new Pending(request, run, resolve);
      this.#pending.add(pending);
      if (socket) this.#send(socket, pending);
    });
  }

  /** Sends all of them over a new connection. Those for an earlier run of the worker fail: another one has nothing of it. */
  sendAll(socket: Socket, run: string | undefined): void {
    for (const pending of this.#pending)
      if (pending.run === undefined || pending.run === run) this.#send(socket, pending);
      else this.#fail(pending, 'it was started again');
  }

  /** Fails those that were sent over a connection that has broken, and must not be sent again. The others wait from now on. */
  detach(why: string): void {
    for (const pending of this.#pending) {
      pending.waitsSince = performance.now();
      if (pending.isSent && pending.request.repeat === 'never') this.#fail(pending, why);
    }
  }

  /**
   * Fails those that have waited for a connection so long.
   * @param ms by default any time
   */
  fail(why: string, ms = 0): void {
    const latest = performance.now() - ms;
    for (const pending of this.#pending) if (pending.waitsSince <= latest) this.#fail(pending, why);
  }

  #fail(pending: Pending, why: string): void {
    const { isSent, request } = pending;
    const error = isSent ? nodeLost(this.#node, request.repeat, why) : nodeUnreachable(this.#node, why);
    this.#settle(pending, { error: error.toBody() });
  }

  #send(socket: Socket, pending: Pending): void {
    const { name, payload, caller, trace, reserved } = pending.request;
    pending.isSent = true;
    const client = hasSink(caller) ? this.#clients.announce(caller, socket, this.#ownNode) : undefined;
    pending.client = client;
    // What is undefined is not sent.
    const about = client ? undefined : { principal: announced(caller.principal, this.#ownNode), from: caller.from };
    const message = { client: caller.sink?.id, caller: about, name, payload, trace, reserved };
    socket.emit('request', message, (reply: LinkReply) => {
      this.#settle(pending, reply);
    });
  }

  #settle(pending: Pending, reply: LinkReply): void {
    if (!this.#pending.delete(pending)) return;
    const { client, request, resolve } = pending;
    if (!client) {
      resolve(reply);
      return;
    }
    client.reply(() => {
      if (!('error' in reply)) this.#clients.note(client, request, reply);
      resolve(reply);
    });
  }
}

const hasSink = (caller: Caller): caller is LinkedCaller => caller.sink !== undefined;

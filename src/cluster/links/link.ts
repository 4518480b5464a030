import { setTimeout as sleep } from 'node:timers/promises';

import type { Socket } from 'socket.io-client';

import {
  announced,
  eventMessage,
  heldMessage,
  load as loadSchema,
  type NodeLoad,
} from '../../core/cluster/link-messages.js';
import { nodeIdFrom } from '../../core/cluster/node-id.js';
import type { Repeat } from '../../core/cluster/routes.js';
import type { Log } from '../../core/logging/log.js';
import type { RequestName } from '../../core/protocol/requests.js';
import type { EventName } from '../../core/protocol/results.js';
import type { TraceCarrier } from '../../core/traces/traces.js';
import type { Caller, EventSink } from '../../services/registry/caller.js';
import type { HeldSession } from '../../services/sessions/sessions-options.js';
import { DialError, type Dialled } from './dial.js';
import { nodeLost, nodeUnreachable } from '../failures.js';
import type { LinkClient } from './link-client.js';
import { LinkClients } from './link-clients.js';
import type { LinkedCaller, LinkReply } from './link-types.js';

/** First and longest pause between two attempts to connect, in milliseconds. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;

/** `live`: connected. `suspect`: not for less than the lease. `lost`: what ran there counts as lost. */
export type LinkState = 'live' | 'suspect' | 'lost';

/** Dependencies of a link. */
export interface LinkOptions {
  /** Name of the worker. */
  readonly node: string;
  /** Name of this node. */
  readonly ownNode: string;
  readonly dial: (signal: AbortSignal) => Promise<Dialled>;
  readonly leaseMs: number;
  /** Clients that the worker has to know before they make a request. */
  readonly audience: () => readonly LinkedCaller[];
  /** Called when the worker has been connected, or is lost. */
  readonly onChange: () => void;
  /** Called when a worker that was connected is lost, unless it was removed. */
  readonly onLost: () => void;
  readonly log: Log;
}

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

/** A request without an answer yet. */
interface Pending extends LinkRequest {
  readonly answer: (reply: LinkReply) => void;
  /** Whether it was sent, so that it may have been done. */
  isSent: boolean;
  /** Its client, once it was sent; undefined for one without events. */
  client?: LinkClient | undefined;
}

/** An open connection to a worker. */
export interface OpenLink {
  readonly socket: Socket;
  /** Aborted when it breaks; the reason says why. */
  readonly broken: AbortSignal;
}

/** What the worker has said of itself. */
export interface LinkedNode extends Pick<Dialled['welcome'], 'version' | 'instance_id' | 'labels'> {
  /** `name-incarnation`. */
  readonly id: string;
  readonly load: NodeLoad;
}

/**
 * The connection to one worker. It is made again when it breaks: requests that may be sent again are, and clients follow
 * their sessions on. A worker that was started again, refuses connections, or stays away for the lease is lost.
 */
export class Link implements AsyncDisposable {
  readonly #options: LinkOptions;
  readonly #clients: LinkClients;
  readonly #pending = new Set<Pending>();
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #socket: Socket | undefined;
  #broken = new AbortController();
  #state: LinkState = 'suspect';
  #known: LinkedNode | undefined;
  #problem: string | undefined = 'it has not been connected to yet';
  #seenAt: Date | undefined;
  #lossTimer: NodeJS.Timeout | undefined;
  #noteAttempt: () => void = () => undefined;
  /** Resolves after the first attempt to connect. */
  readonly attempted = new Promise<void>((resolve) => {
    this.#noteAttempt = resolve;
  });

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#clients = new LinkClients(options.node);
    this.#startLease();
    this.#running = this.#keepConnected();
  }

  /** How the worker is. */
  get state(): LinkState {
    return this.#state;
  }

  /** What the worker said last; undefined before the first connection. */
  get known(): LinkedNode | undefined {
    return this.#known;
  }

  /** The connection; undefined while there is none. */
  get open(): OpenLink | undefined {
    return this.#socket && { socket: this.#socket, broken: this.#broken.signal };
  }

  /** Why there is no connection; undefined while there is one. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** When the worker has said something last. */
  get seenAt(): Date | undefined {
    return this.#seenAt;
  }

  /** Sends a request; never rejects. Without a connection it waits for one, at most for the lease. */
  request(request: LinkRequest): Promise<LinkReply> {
    if (this.#state === 'lost') {
      const error = nodeUnreachable(this.#options.node, this.#problem ?? 'it is lost');
      return Promise.resolve({ error: error.toBody() });
    }
    return new Promise((resolve) => {
      const pending: Pending = {
        ...request,
        isSent: false,
        answer: (reply) => {
          if (!this.#pending.delete(pending)) return;
          if (pending.client) this.#answer(pending.client, request, reply, resolve);
          else resolve(reply);
        },
      };
      this.#pending.add(pending);
      if (this.#socket) this.#send(this.#socket, pending);
    });
  }

  /** Announces a client that gets events without a request of its own, such as an operator. */
  announce(caller: LinkedCaller): void {
    if (this.#socket) this.#clients.announce(caller, this.#socket, this.#options.ownNode);
  }

  /** Ends what belongs to a connection. */
  detach({ id }: EventSink): void {
    if (this.#clients.remove(id)) this.#socket?.emit('gone', { client: id });
  }

  /** Tells the worker that the access of a principal has ended. */
  endAccess(principal: string): void {
    this.#socket?.emit('ended', { principal });
  }

  /** Has the worker take no new sessions, or take them again; returns false without a connection. */
  async drain(drain: boolean): Promise<boolean> {
    const answered = this.#socket?.timeout(this.#options.leaseMs).emitWithAck('drain', { drain });
    const load: unknown = await answered?.catch(() => undefined);
    if (load === undefined) return false;
    this.#take(load);
    return true;
  }

  /** The sessions that the worker has open; undefined when it does not say. */
  async held(): Promise<readonly HeldSession[] | undefined> {
    const asked = this.#socket?.timeout(this.#options.leaseMs).emitWithAck('held', {});
    return heldMessage.safeParse(await asked?.catch(() => undefined)).data;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#socket?.disconnect();
    await this.#running;
    this.#lose('it was removed from the nodes, or this node is being stopped');
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    let pause = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      try {
        const dialled = await this.#options.dial(signal);
        pause = FIRST_PAUSE_MS;
        await this.#serve(dialled);
      } catch (error) {
        this.#noteFailure(error);
        await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
        pause = Math.min(2 * pause, MAX_PAUSE_MS);
      }
      this.#noteAttempt();
    }
    this.#noteAttempt();
  }

  #noteFailure(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    const { message } = error as Error;
    if (message !== this.#problem)
      this.#options.log.warn('a node cannot be connected to', { node: this.#options.node, why: message });
    this.#problem = message;
    // Nothing listens there any more: what ran there is gone.
    if (error instanceof DialError && error.isRefused && this.#known) this.#lose(message);
  }

  /** Uses a connection until it ends. */
  async #serve({ socket, welcome }: Dialled): Promise<void> {
    const ended = new Promise<string>((resolve) => socket.once('disconnect', resolve));
    if (socket.disconnected) return;
    const { load, labels, version, instance_id } = welcome;
    const id = nodeIdFrom(welcome.node, welcome.incarnation);
    if (this.#known && this.#known.id !== id) this.#lose('it was started again');
    this.#known = { id, load, labels, version, instance_id };
    socket.on('event', this.#onEvent);
    socket.on('load', this.#take);
    this.#begin(socket);
    const why = await ended;
    this.#break(why);
  }

  #begin(socket: Socket): void {
    const { node, ownNode, log } = this.#options;
    clearTimeout(this.#lossTimer);
    this.#socket = socket;
    this.#broken = new AbortController();
    this.#state = 'live';
    this.#problem = undefined;
    this.#seenAt = new Date();
    this.#noteAttempt();
    log.info('a node is connected', { node, id: this.#known?.id });
    for (const caller of this.#options.audience()) this.#clients.announce(caller, socket, ownNode);
    this.#clients.resume(socket, ownNode);
    for (const pending of this.#pending) this.#send(socket, pending);
    this.#options.onChange();
  }

  #break(why: string): void {
    const { node, log } = this.#options;
    this.#socket = undefined;
    this.#broken.abort(new Error(why));
    if (this.#closing.signal.aborted) return;
    this.#state = 'suspect';
    this.#problem = `the connection was lost: ${why}`;
    log.warn('the connection to a node has broken', { node, why });
    this.#startLease();
    this.#clients.detached();
    for (const pending of this.#pending) if (pending.isSent && pending.repeat === 'never') this.#failLost(pending, why);
  }

  #startLease(): void {
    this.#lossTimer = setTimeout(() => {
      this.#lose('it has not come back within the lease');
    }, this.#options.leaseMs).unref();
  }

  /** Gives up what ran on the worker. The connection is tried further. */
  #lose(why: string): void {
    clearTimeout(this.#lossTimer);
    if (this.#state === 'lost') return;
    this.#state = 'lost';
    this.#options.log.warn('a node is lost', { node: this.#options.node, why });
    this.#clients.lose(why);
    for (const pending of this.#pending) this.#failLost(pending, why);
    if (this.#closing.signal.aborted) return;
    if (this.#known) this.#options.onLost();
    this.#options.onChange();
  }

  #failLost(pending: Pending, why: string): void {
    const { node } = this.#options;
    const error = pending.isSent ? nodeLost(node, pending.repeat, why) : nodeUnreachable(node, why);
    pending.answer({ error: error.toBody() });
  }

  #answer(client: LinkClient, { name, payload }: LinkRequest, reply: LinkReply, resolve: Pending['answer']): void {
    client.reply(() => {
      if (!('error' in reply)) this.#clients.note(client, { name, payload, reply });
      resolve(reply);
    });
  }

  #send(socket: Socket, pending: Pending): void {
    const { name, payload, caller, trace, reserved } = pending;
    pending.isSent = true;
    const { sink } = caller;
    const client = sink && this.#clients.announce({ ...caller, sink }, socket, this.#options.ownNode);
    const about = client
      ? { client: client.caller.sink.id }
      : { caller: { principal: announced(caller.principal, this.#options.ownNode), from: caller.from } };
    pending.client = client;
    socket.emit('request', { ...about, name, payload, trace, reserved }, pending.answer);
  }

  readonly #take = (message: unknown): void => {
    const load = loadSchema.parse(message);
    this.#seenAt = new Date();
    if (this.#known) this.#known = { ...this.#known, load };
  };

  readonly #onEvent = (message: unknown): void => {
    const parsed = eventMessage.safeParse(message);
    if (!parsed.success) {
      this.#options.log.warn('a node has sent what is no event', { node: this.#options.node });
      return;
    }
    const { client, name, payload, bytes } = parsed.data;
    this.#clients.find(client)?.deliver({ name: name as EventName, payload: payload as never, bytes });
  };
}

import { setTimeout as sleep } from 'node:timers/promises';

import type { Socket } from 'socket.io-client';

import { announced, heldMessage, load as loadSchema, type NodeLoad } from '../../core/cluster/link-messages.js';
import { nodeIdFrom } from '../../core/cluster/address.js';
import { Deferred } from '../../engine/system/promises.js';
import type { Caller, EventSink } from '../../services/registry/caller.js';
import type { HeldSession } from '../../services/sessions/session-description.js';
import { nodeLost, nodeUnreachable } from '../failures.js';
import { DialError, type Dialled } from './dial.js';
import { type LinkClient, LinkClients } from './link-clients.js';
import {
  LastSeen,
  type LinkedCaller,
  type LinkedNode,
  type LinkOptions,
  type LinkReply,
  type LinkRequest,
  type LinkState,
  LinkUse,
  type OpenLink,
} from './link-types.js';

/** The answer of a worker to a message; undefined without a connection, or an answer in time. */
async function ask(open: OpenLink | undefined, name: string, message: object, timeoutMs: number): Promise<unknown> {
  try {
    return await open?.socket.timeout(timeoutMs).emitWithAck(name, message);
  } catch {
    // It has not answered in time.
    return undefined;
  }
}

/** First and longest pause between two attempts to connect, in milliseconds. */
const FIRST_MS = 5;
const LONGEST_MS = 1000;
/** A connection that has lasted longer has worked, in milliseconds. A node, or a proxy, may welcome each and close it. */
const LASTING_MS = 10_000;

/** The pauses between attempts to connect: each is twice as long as the one before. */
class DialPause {
  #nextMs = FIRST_MS;

  /** Whether the connection that has ended has lasted: then the next one needs no pause, and later ones the shortest. */
  endsAfter(lastedMs: number): boolean {
    if (lastedMs < LASTING_MS) return false;
    this.#nextMs = FIRST_MS;
    return true;
  }

  /** Waits, at most until the signal. */
  async wait(signal: AbortSignal): Promise<void> {
    const ms = this.#nextMs;
    this.#nextMs = Math.min(2 * ms, LONGEST_MS);
    await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** How often in the time of a lease it is looked whether a worker that cannot be reached still has its own. */
const CHECKS_PER_LEASE = 3;

const AWAY_TOO_LONG = 'it has not come back within the lease';

/** Called when a worker has not come back within the lease. */
interface LeaseListener {
  /** The worker has a lease in the registry: it runs, and its sessions with it. What waits for it has waited long enough. */
  onWaited(why: string): void;
  /** What ran on the worker counts as lost. */
  onExpired(why: string): void;
}

/** The time for which a worker may be away. */
class LeaseTimer {
  readonly #options: Pick<LinkOptions, 'leaseMs' | 'hasLease'>;
  readonly #nodeId: () => string | undefined;
  readonly #listener: LeaseListener;
  #timer: NodeJS.Timeout | undefined;

  /** @param nodeId the run of the worker, once it is known */
  constructor(
    options: Pick<LinkOptions, 'leaseMs' | 'hasLease'>,
    nodeId: () => string | undefined,
    listener: LeaseListener,
  ) {
    this.#options = options;
    this.#nodeId = nodeId;
    this.#listener = listener;
  }

  /** Starts the time. */
  start(ms = this.#options.leaseMs): void {
    this.#timer = setTimeout(this.#onEnd, ms).unref();
  }

  /** Ends it: the worker is there, or lost. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  readonly #onEnd = (): void => {
    const { leaseMs, hasLease } = this.#options;
    const id = this.#nodeId();
    if (id === undefined || !hasLease(id)) {
      this.#listener.onExpired(AWAY_TOO_LONG);
      return;
    }
    this.#listener.onWaited(AWAY_TOO_LONG);
    this.start(leaseMs / CHECKS_PER_LEASE);
  };
}

/** How a worker is, as the link to it sees it, with the connection while there is one. */
class LinkStatus {
  /** When the worker has said something last, or the registry had its lease. */
  readonly seen = new LastSeen();
  #state: LinkState = 'suspect';
  #socket: Socket | undefined;
  #broken = new AbortController();
  #known: LinkedNode | undefined;
  #problem: string | undefined = 'it has not been connected to yet';

  /** How the worker is. */
  get state(): LinkState {
    return this.#state;
  }

  /** What the worker said last; undefined before the first connection. */
  get known(): LinkedNode | undefined {
    return this.#known;
  }

  /** Why there is no connection; undefined while there is one. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The connection; undefined while there is none. */
  get socket(): Socket | undefined {
    return this.#socket;
  }

  /** The connection, with a signal of its end; undefined while there is none. */
  get open(): OpenLink | undefined {
    return this.#socket && { socket: this.#socket, broken: this.#broken.signal };
  }

  /** Whether a welcome comes from another run of the worker than the known one. */
  isOther({ node, incarnation }: Dialled['welcome']): boolean {
    return this.#known !== undefined && this.#known.id !== nodeIdFrom(node, incarnation);
  }

  /** Notes a new connection, and what the worker has said at its start. */
  connected(socket: Socket, { node, incarnation, load, labels, version, instance_id }: Dialled['welcome']): void {
    this.#known = { id: nodeIdFrom(node, incarnation), load, labels, version, instance_id };
    this.#socket = socket;
    this.#broken = new AbortController();
    this.#state = 'live';
    this.#problem = undefined;
    this.seen.note();
  }

  /** Notes the end of the connection. */
  disconnected(why: string): void {
    this.#socket = undefined;
    this.#broken.abort(new Error(why));
  }

  /** The worker may come back. */
  suspect(problem: string): void {
    this.#state = 'suspect';
    this.#problem = problem;
  }

  /** No connection is needed. */
  rest(leased: LinkedNode | undefined): void {
    this.#state = 'resting';
    this.#known = leased;
    this.#problem = undefined;
  }

  /** What ran on the worker counts as lost. */
  lose(): void {
    this.#state = 'lost';
  }

  /** Notes why an attempt to connect has failed. */
  noteProblem(problem: string): void {
    this.#problem = problem;
  }

  /** Notes what the worker says about its load. */
  noteLoad(load: NodeLoad): void {
    if (this.#known) this.#known = { ...this.#known, load };
  }
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

/** Dependencies of `PendingRequests`. */
interface PendingOptions {
  /** Name of the worker. */
  readonly node: string;
  /** Name of this node. */
  readonly ownNode: string;
  readonly clients: LinkClients;
}

/** The requests of a link that have no answer yet. */
class PendingRequests {
  readonly #options: PendingOptions;
  readonly #pending = new Set<Pending>();

  constructor(options: PendingOptions) {
    this.#options = options;
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
    const { node } = this.#options;
    const error = pending.isSent ? nodeLost(node, pending.request.repeat, why) : nodeUnreachable(node, why);
    this.#settle(pending, { error: error.toBody() });
  }

  #send(socket: Socket, pending: Pending): void {
    const { clients, ownNode } = this.#options;
    const { name, payload, caller, trace, reserved } = pending.request;
    pending.isSent = true;
    const client = hasSink(caller) ? clients.announce(caller, socket, ownNode) : undefined;
    pending.client = client;
    // What is undefined is not sent.
    const about = client ? undefined : { principal: announced(caller.principal, ownNode), from: caller.from };
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
      if (!('error' in reply)) this.#options.clients.note(client, request, reply);
      resolve(reply);
    });
  }
}

const hasSink = (caller: Caller): caller is LinkedCaller => caller.sink !== undefined;

/**
 * The connection to one worker. It is made again when it breaks: requests that may be sent again are, and clients follow
 * their sessions on. While the registry says that the worker lives, it is made when it is needed, and closed when it has
 * not been for a while. A worker that was started again, or refuses connections, is lost; one that stays away is after the
 * lease, unless the registry has its own.
 */
export class Link implements AsyncDisposable {
  readonly #options: LinkOptions;
  readonly #clients: LinkClients;
  readonly #pending: PendingRequests;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  readonly #status = new LinkStatus();
  #leased: LinkedNode | undefined;
  readonly #use: LinkUse;
  /** Resolved when a link that rests is needed, and after the attempt to connect that follows. */
  #wanted = new Deferred<void>();
  #woken = new Deferred<void>();
  /** When the worker has said something last, or the registry had its lease. */
  readonly seen = this.#status.seen;
  readonly #lease: LeaseTimer;
  readonly #attempted = new Deferred<void>();
  /** Resolves after the first attempt to connect, or when none is needed. */
  readonly attempted = this.#attempted.promise;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#clients = new LinkClients(options);
    this.#pending = new PendingRequests({ ...options, clients: this.#clients });
    this.#use = new LinkUse(options.idleMs, () => {
      if (this.#mayRest) this.#rest();
    });
    this.#lease = new LeaseTimer(options, () => this.known?.id, {
      onWaited: (why) => {
        this.#pending.fail(why, options.leaseMs);
      },
      onExpired: (why) => {
        this.#lose(why);
      },
    });
    this.setLease(options.leased);
    if (this.#mayRest) this.#beginRest();
    else this.#lease.start();
    this.#running = this.#keepConnected();
  }

  /** How the worker is. */
  get state(): LinkStatus['state'] {
    return this.#status.state;
  }

  /** What the worker said last; undefined before the first connection. */
  get known(): LinkedNode | undefined {
    return this.#status.known;
  }

  /** The connection; undefined while there is none. */
  get open(): OpenLink | undefined {
    return this.#status.open;
  }

  /** Why there is no connection; undefined while there is one. */
  get problem(): string | undefined {
    return this.#status.problem;
  }

  /**
   * Takes what the worker says in the registry, where it has a lease of its own: it lives, so that it need not be
   * connected to. Undefined for a worker that is known by its link only.
   */
  setLease(leased: LinkedNode | undefined): void {
    this.#leased = leased;
    if (leased) this.seen.note();
    if (this.state !== 'resting') return;
    if (leased) this.#status.rest(leased);
    else this.#wanted.resolve();
  }

  /** The connection, after an attempt to make it if the link rests; undefined when there is none. */
  async connect(): Promise<OpenLink | undefined> {
    this.#wanted.resolve();
    if (this.state === 'resting') await this.#woken.promise;
    return this.open;
  }

  /** Keeps the connection from being closed until the function that is returned is called. */
  hold(): () => void {
    return this.#use.begin();
  }

  /** Sends a request; never rejects. Without a connection it waits for one, at most for the lease. */
  request(request: LinkRequest): Promise<LinkReply> {
    if (this.state === 'lost')
      return Promise.resolve({ error: nodeUnreachable(this.#options.node, this.problem ?? 'it is lost').toBody() });
    this.#use.touch();
    if (!this.#status.socket) this.#wanted.resolve();
    return this.#pending.add(request, this.#status.socket, this.known?.id);
  }

  /** Announces a client that gets events without a request of its own, such as an operator. */
  announce(caller: LinkedCaller): void {
    if (this.#status.socket) this.#clients.announce(caller, this.#status.socket, this.#options.ownNode);
    else this.#wanted.resolve();
  }

  /** Ends what belongs to a connection. */
  detach({ id }: EventSink): void {
    if (this.#clients.remove(id)) this.#status.socket?.emit('gone', { client: id });
  }

  /** Tells the worker that the access of a principal has ended. */
  endAccess(principal: string): void {
    this.#clients.endAccess(principal, this.#status.socket);
    this.#wanted.resolve();
  }

  /** Has the worker take no new sessions, or take them again; returns false without a connection. */
  async drain(drain: boolean): Promise<boolean> {
    const load = await ask(await this.connect(), 'drain', { drain }, this.#options.leaseMs);
    if (load !== undefined) this.#take(load);
    return load !== undefined;
  }

  /** The sessions that the worker has open; undefined when it does not say. */
  async held(): Promise<readonly HeldSession[] | undefined> {
    return heldMessage.safeParse(await ask(this.open, 'held', {}, this.#options.leaseMs)).data;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#use.rest();
    this.#wanted.resolve();
    this.#status.socket?.disconnect();
    await this.#running;
    this.#lose('it was removed from the nodes, or this node is being stopped');
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    const pause = new DialPause();
    for (;;) {
      if (this.state === 'resting') await this.#wanted.promise;
      if (signal.aborted) break;
      try {
        const dialled = await this.#options.dial(signal);
        const since = performance.now();
        await this.#serve(dialled);
        if (!pause.endsAfter(performance.now() - since) && this.state !== 'resting') await pause.wait(signal);
      } catch (error) {
        this.#noteFailure(error);
        await pause.wait(signal);
      }
      this.#attempted.resolve();
    }
    this.#attempted.resolve();
    this.#woken.resolve();
  }

  #noteFailure(error: unknown): void {
    this.#woken.resolve();
    if (this.#closing.signal.aborted) return;
    const { message } = error as Error;
    const isNew = message !== this.problem;
    if (this.state === 'resting') {
      this.#status.suspect(message);
      // It counted as live; what has waited for it can go elsewhere.
      this.#pending.fail(message);
      this.#lease.start();
    }
    if (isNew) this.#options.log.warn('a node cannot be connected to', { node: this.#options.node, why: message });
    this.#status.noteProblem(message);
    // Nothing listens there any more: what ran there is gone.
    if (error instanceof DialError && error.isRefused && this.known) this.#lose(message);
  }

  /** Uses a connection until it ends. */
  async #serve({ socket, welcome }: Dialled): Promise<void> {
    const ended = new Promise<string>((resolve) => socket.once('disconnect', resolve));
    if (socket.disconnected) return;
    if (this.#status.isOther(welcome) && this.state !== 'resting') this.#lose('it was started again');
    this.#status.connected(socket, welcome);
    socket.io.on('ping', this.seen.note);
    socket.on('event', this.#clients.deliver);
    socket.on('load', this.#take);
    this.#begin(socket);
    const why = await ended;
    if (this.#status.socket === socket) this.#break(why);
  }

  #begin(socket: Socket): void {
    const { node, ownNode, log } = this.#options;
    this.#lease.stop();
    this.#attempted.resolve();
    log.info('a node is connected', { node, id: this.known?.id });
    this.#use.watch();
    this.#woken.resolve();
    this.#clients.tellEnded(socket);
    for (const caller of this.#options.audience()) this.#clients.announce(caller, socket, ownNode);
    this.#clients.resume(socket, ownNode);
    this.#pending.sendAll(socket, this.known?.id);
    this.#options.onChange();
  }

  #break(why: string): void {
    const { node, log } = this.#options;
    this.#use.rest();
    this.#status.disconnected(why);
    if (this.#closing.signal.aborted) return;
    this.#status.suspect(`the connection was lost: ${why}`);
    log.warn('the connection to a node has broken', { node, why });
    this.#lease.start();
    this.#clients.detached();
    this.#pending.detach(why);
  }

  /** Whether nothing needs the connection. */
  get #mayRest(): boolean {
    const { size } = this.#clients;
    return this.#leased !== undefined && size + this.#pending.size + this.#options.audience().length === 0;
  }

  /** Closes the connection. */
  #rest(): void {
    const { socket } = this.#status;
    this.#use.rest();
    this.#status.disconnected('the connection was not needed');
    this.#beginRest();
    socket?.disconnect();
    this.#options.log.info('the connection to a node is closed: it is not needed', { node: this.#options.node });
  }

  #beginRest(): void {
    this.#wanted = new Deferred();
    this.#woken = new Deferred();
    this.#status.rest(this.#leased);
    this.#attempted.resolve();
  }

  /** Gives up what ran on the worker. The connection is tried further. */
  #lose(why: string): void {
    this.#lease.stop();
    if (this.state === 'lost') return;
    this.#status.lose();
    this.#options.log.warn('a node is lost', { node: this.#options.node, why });
    this.#clients.lose(why);
    this.#pending.fail(why);
    if (this.#closing.signal.aborted) return;
    if (this.known) this.#options.onLost();
    this.#options.onChange();
  }

  readonly #take = (message: unknown): void => {
    this.seen.note();
    const { data: load } = loadSchema.safeParse(message);
    if (this.known && load) this.#status.noteLoad(load);
  };
}

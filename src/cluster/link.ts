import { setTimeout as sleep } from 'node:timers/promises';

import type { Socket } from 'socket.io-client';

import { heldMessage, load as loadSchema, type NodeLoad } from '../core/cluster/link-messages.js';
import { nodeIdFrom } from '../core/cluster/address.js';
import type { Log } from '../core/log.js';
import { Deferred } from '../engine/system/promises.js';
import type { EventSink } from '../services/registry/caller.js';
import type { HeldSession } from '../services/sessions/session-description.js';
import { DialError, type Dialled } from './dial.js';
import { nodeUnreachable } from './failures.js';
import { LinkClients, type LinkedCaller, type LinkReply, type LinkRequest, PendingRequests } from './link-clients.js';

/** First and longest pause between two attempts to connect, in milliseconds. */
const FIRST_MS = 5;
const LONGEST_MS = 1000;
/** A connection that has lasted longer has worked, in milliseconds. A node, or a proxy, may welcome each and close it. */
const LASTING_MS = 10_000;
/** How often in the time of a lease it is looked whether a worker that cannot be reached still has its own. */
const CHECKS_PER_LEASE = 3;
const AWAY_TOO_LONG = 'it has not come back within the lease';

/** How the worker is, as the link to it sees it. `broken` is aborted with the connection. */
type Status =
  | { readonly state: 'live'; readonly socket: Socket; readonly broken: AbortController }
  /** `wanted` is resolved when the connection is needed, `woken` after the attempt to connect that follows. */
  | { readonly state: 'resting'; readonly wanted: Deferred<void>; readonly woken: Deferred<void> }
  /** `timer` ends with the lease of the worker; undefined while the link is closed for ever. */
  | { readonly state: 'suspect'; readonly problem: string; readonly timer: NodeJS.Timeout | undefined }
  | { readonly state: 'lost'; readonly problem: string };

const resting = (): Status => ({ state: 'resting', wanted: new Deferred(), woken: new Deferred() });

/**
 * `live`: connected. `resting`: not, since it is not needed. `suspect`: not, but it may come back. `lost`: what ran there
 * counts as lost.
 */
export type LinkState = 'live' | 'resting' | 'suspect' | 'lost';

/** What a link asks its node, and tells it. */
export interface LinkListener {
  /** Whether a run of the worker, by its `name-incarnation`, has a lease: it lives, though it cannot be reached from here. */
  readonly hasLease: (nodeId: string) => boolean;
  /** Clients that the worker has to know before they make a request. */
  readonly audience: () => readonly LinkedCaller[];
  /** Called when the worker has been connected, or is lost. */
  readonly onChange: () => void;
  /** Called when a worker that was connected is lost, unless it was removed. */
  readonly onLost: () => void;
}

export interface LinkOptions extends LinkListener {
  readonly node: string;
  readonly ownNode: string;
  readonly dial: (signal: AbortSignal) => Promise<Dialled>;
  readonly leaseMs: number;
  /** Time without use after which a connection is closed, in milliseconds. */
  readonly idleMs: number;
  /** See `Link.setLease`. */
  readonly leased: LinkedNode | undefined;
  readonly log: Log;
}

/** An open connection to a worker. */
export interface OpenLink {
  readonly socket: Socket;
  /** Aborted when it breaks; the reason says why. */
  readonly broken: AbortSignal;
}

/** What the worker has said of itself, to this node or in the registry. */
export interface LinkedNode extends Pick<Dialled['welcome'], 'version' | 'instance_id' | 'labels'> {
  /** `name-incarnation`. */
  readonly id: string;
  readonly load: NodeLoad;
}

/** Looks in the time after which a link is idle. */
const LOOKS = 4;

/** Whether a link is used, and since when it is not. */
export class LinkUse {
  readonly #idleMs: number;
  readonly #onIdle: () => void;
  #users = 0;
  #usedAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  /** @param onIdle called when the link was not used for the time, and again while that stays so */
  constructor(idleMs: number, onIdle: () => void) {
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
  }

  /** Notes a use that is over. */
  touch(): void {
    this.#usedAt = performance.now();
  }

  /** Notes a use until the function that is returned is called. */
  begin(): () => void {
    this.#users += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#users -= 1;
      this.touch();
    };
  }

  /** Begins to look at the link. */
  watch(): void {
    this.touch();
    this.#timer ??= setInterval(this.#look, this.#idleMs / LOOKS).unref();
  }

  /** Ends that. */
  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  readonly #look = (): void => {
    if (this.#users > 0) this.touch();
    else if (performance.now() - this.#usedAt >= this.#idleMs) this.#onIdle();
  };
}

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
  #status: Status = { state: 'suspect', problem: 'it has not been connected to yet', timer: undefined };
  #known: LinkedNode | undefined;
  #leased: LinkedNode | undefined;
  #seenAt: Date | undefined;
  readonly #use: LinkUse;
  readonly #attempted = new Deferred<void>();
  /** Resolves after the first attempt to connect, or when none is needed. */
  readonly attempted = this.#attempted.promise;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#clients = new LinkClients(options.node, options.log);
    this.#pending = new PendingRequests(options.node, options.ownNode, this.#clients);
    this.#use = new LinkUse(options.idleMs, () => {
      if (this.#mayRest) this.#rest();
    });
    this.setLease(options.leased);
    if (this.#mayRest) this.#enter(resting());
    else this.#suspect('it has not been connected to yet', options.leaseMs);
    this.#running = this.#keepConnected();
  }

  get state(): LinkState {
    return this.#status.state;
  }

  /** What the worker said last; undefined before the first connection. */
  get known(): LinkedNode | undefined {
    return this.#known;
  }

  /** When the worker has said something last, or the registry had its lease. */
  get seenAt(): Date | undefined {
    return this.#seenAt;
  }

  /** The connection; undefined while there is none. */
  get open(): OpenLink | undefined {
    if (this.#status.state !== 'live') return undefined;
    const { socket, broken } = this.#status;
    return { socket, broken: broken.signal };
  }

  /** Why there is no connection; undefined while there is one, or none is needed. */
  get problem(): string | undefined {
    return 'problem' in this.#status ? this.#status.problem : undefined;
  }

  /**
   * Takes what the worker says in the registry, where it has a lease of its own: it lives, so that it need not be
   * connected to. Undefined for a worker that is known by its link only.
   */
  setLease(leased: LinkedNode | undefined): void {
    this.#leased = leased;
    if (leased) this.#noteSeen();
    if (this.state === 'resting' && leased) this.#known = leased;
    else if (!leased) this.#want();
  }

  /** The connection, after an attempt to make it if the link rests; undefined when there is none. */
  async connect(): Promise<OpenLink | undefined> {
    this.#want();
    if (this.#status.state === 'resting') await this.#status.woken.promise;
    return this.open;
  }

  /** Keeps the connection from being closed until the function that is returned is called. */
  hold(): () => void {
    return this.#use.begin();
  }

  /** Sends a request; never rejects. Without a connection it waits for one, at most for the lease. */
  request(request: LinkRequest): Promise<LinkReply> {
    if (this.#status.state === 'lost')
      return Promise.resolve({ error: nodeUnreachable(this.#options.node, this.#status.problem).toBody() });
    this.#use.touch();
    const { open } = this;
    if (!open) this.#want();
    return this.#pending.add(request, open?.socket, this.known?.id);
  }

  /** Announces a client that gets events without a request of its own, such as an operator. */
  announce(caller: LinkedCaller): void {
    const { open } = this;
    if (open) this.#clients.announce(caller, open.socket, this.#options.ownNode);
    else this.#want();
  }

  /** Ends what belongs to a connection. */
  detach({ id }: EventSink): void {
    if (this.#clients.remove(id)) this.open?.socket.emit('gone', { client: id });
  }

  /** Tells the worker that the access of a principal has ended. */
  endAccess(principal: string): void {
    this.#clients.endAccess(principal, this.open?.socket);
    this.#want();
  }

  /** Has the worker take no new sessions, or take them again; returns false without a connection. */
  async drain(drain: boolean): Promise<boolean> {
    const load = await this.#ask(await this.connect(), 'drain', { drain });
    if (load !== undefined) this.#take(load);
    return load !== undefined;
  }

  /** The sessions that the worker has open; undefined when it does not say. */
  async held(): Promise<readonly HeldSession[] | undefined> {
    return heldMessage.safeParse(await this.#ask(this.open, 'held', {})).data;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#use.rest();
    this.#want();
    this.open?.socket.disconnect();
    await this.#running;
    this.#lose('it was removed from the nodes, or this node is being stopped');
  }

  /** The answer of the worker to a message; undefined without a connection, or without an answer within the lease. */
  async #ask(open: OpenLink | undefined, name: string, message: object): Promise<unknown> {
    try {
      return await open?.socket.timeout(this.#options.leaseMs).emitWithAck(name, message);
    } catch {
      // It has not answered in time.
      return undefined;
    }
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    let pauseMs = FIRST_MS;
    for (;;) {
      if (this.#status.state === 'resting') await this.#status.wanted.promise;
      if (signal.aborted) break;
      const lastedMs = await this.#connectOnce(signal);
      // After one that has lasted the next attempt needs no pause, and later ones the shortest.
      if (lastedMs >= LASTING_MS) pauseMs = FIRST_MS;
      else if (this.state !== 'resting') {
        await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
        pauseMs = Math.min(2 * pauseMs, LONGEST_MS);
      }
      this.#attempted.resolve();
    }
    this.#attempted.resolve();
  }

  /** Connects, and serves the connection until its end; gives the time for which it lasted, in milliseconds. */
  async #connectOnce(signal: AbortSignal): Promise<number> {
    try {
      const dialled = await this.#options.dial(signal);
      const since = performance.now();
      await this.#serve(dialled);
      return performance.now() - since;
    } catch (error) {
      this.#noteFailure(error);
      return 0;
    }
  }

  #noteFailure(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    const { message } = error as Error;
    const isNew = message !== this.problem;
    // A link that rests counted as live; what has waited for it can go elsewhere.
    if (this.state === 'resting') this.#pending.fail(message);
    if (this.state === 'lost') this.#enter({ state: 'lost', problem: message });
    else this.#suspect(message, this.#options.leaseMs);
    if (isNew) this.#options.log.warn('a node cannot be connected to', { node: this.#options.node, why: message });
    // Nothing listens there any more: what ran there is gone.
    if (error instanceof DialError && error.isRefused && this.known) this.#lose(message);
  }

  /** Uses a connection until it ends. */
  async #serve({ socket, welcome }: Dialled): Promise<void> {
    const ended = new Promise<string>((resolve) => socket.once('disconnect', resolve));
    if (socket.disconnected) return;
    const { node, incarnation, load, labels, version, instance_id } = welcome;
    const id = nodeIdFrom(node, incarnation);
    if (this.known && this.known.id !== id && this.state !== 'resting') this.#lose('it was started again');
    this.#known = { id, load, labels, version, instance_id };
    this.#noteSeen();
    socket.io.on('ping', this.#noteSeen);
    socket.on('event', this.#clients.deliver);
    socket.on('load', this.#take);
    this.#enter({ state: 'live', socket, broken: new AbortController() });
    this.#begin(socket);
    const why = await ended;
    if (this.open?.socket === socket) this.#break(why);
  }

  #begin(socket: Socket): void {
    const { node, ownNode, log } = this.#options;
    log.info('a node is connected', { node, id: this.known?.id });
    this.#clients.tellEnded(socket);
    for (const caller of this.#options.audience()) this.#clients.announce(caller, socket, ownNode);
    this.#clients.resume(socket, ownNode);
    this.#pending.sendAll(socket, this.known?.id);
    this.#options.onChange();
  }

  #break(why: string): void {
    const { node, log } = this.#options;
    this.#suspect(`the connection was lost: ${why}`, this.#options.leaseMs, why);
    if (this.#closing.signal.aborted) return;
    log.warn('the connection to a node has broken', { node, why });
    this.#clients.detached();
    this.#pending.detach(why);
  }

  /** Whether nothing needs the connection. */
  get #mayRest(): boolean {
    const { size } = this.#clients;
    return this.#leased !== undefined && size + this.#pending.size + this.#options.audience().length === 0;
  }

  #rest(): void {
    const { open } = this;
    this.#enter(resting(), 'the connection was not needed');
    open?.socket.disconnect();
    this.#options.log.info('the connection to a node is closed: it is not needed', { node: this.#options.node });
  }

  /** Gives up what ran on the worker. The connection is tried further. */
  #lose(why: string): void {
    if (this.state === 'lost') return;
    this.#enter({ state: 'lost', problem: this.problem ?? why }, why);
    this.#options.log.warn('a node is lost', { node: this.#options.node, why });
    this.#clients.lose(why);
    this.#pending.fail(why);
    if (this.#closing.signal.aborted) return;
    if (this.known) this.#options.onLost();
    this.#options.onChange();
  }

  /** Has a link that rests connect. */
  #want(): void {
    if (this.#status.state === 'resting') this.#status.wanted.resolve();
  }

  /**
   * There is no connection, though one is needed: the worker is lost after its lease.
   * @param leaseMs what is left of it, unless it is running out already
   * @param why the connection that there was has ended
   */
  #suspect(problem: string, leaseMs: number, why?: string): void {
    const running = this.#status.state === 'suspect' ? this.#status.timer : undefined;
    const isClosing = this.#closing.signal.aborted;
    const timer = running ?? (isClosing ? undefined : setTimeout(this.#onLeaseEnd, leaseMs).unref());
    this.#enter({ state: 'suspect', problem, timer }, why);
  }

  /**
   * Enters a state, and ends what belongs to the one before: all that changes the state comes here.
   * @param why the connection that there was has ended
   */
  #enter(status: Status, why = ''): void {
    const before = this.#status;
    this.#status = status;
    switch (before.state) {
      case 'live':
        this.#use.rest();
        before.broken.abort(new Error(why));
        break;
      case 'resting':
        before.woken.resolve();
        break;
      case 'suspect':
        if (status.state !== 'suspect') clearTimeout(before.timer);
        break;
      case 'lost':
        break;
    }
    if (status.state === 'live') this.#use.watch();
    if (status.state === 'resting') this.#known = this.#leased;
    if (status.state === 'live' || status.state === 'resting') this.#attempted.resolve();
  }

  /** The worker has been away for too long. One with a lease in the registry runs, and its sessions with it. */
  readonly #onLeaseEnd = (): void => {
    const { leaseMs, hasLease } = this.#options;
    if (!this.known || !hasLease(this.known.id)) {
      this.#lose(AWAY_TOO_LONG);
      return;
    }
    // What waits for it has waited long enough.
    this.#pending.fail(AWAY_TOO_LONG, leaseMs);
    if (this.#status.state !== 'suspect') return;
    const timer = setTimeout(this.#onLeaseEnd, leaseMs / CHECKS_PER_LEASE).unref();
    this.#enter({ ...this.#status, timer });
  };

  readonly #noteSeen = (): void => {
    this.#seenAt = new Date();
  };

  readonly #take = (message: unknown): void => {
    this.#noteSeen();
    const { data: load } = loadSchema.safeParse(message);
    if (this.#known && load) this.#known = { ...this.#known, load };
  };
}

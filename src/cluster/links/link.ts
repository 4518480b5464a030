import type { Socket } from 'socket.io-client';

import { heldMessage, load as loadSchema } from '../../core/cluster/link-messages.js';
import { Deferred } from '../../engine/system/promises.js';
import type { EventSink } from '../../services/registry/caller.js';
import type { HeldSession } from '../../services/sessions/held-session.js';
import { nodeUnreachable } from '../failures.js';
import { ask } from './ask.js';
import { DialPause } from './dial-pause.js';
import { DialError, type Dialled } from './dial.js';
import { LinkClients } from './link-clients.js';
import type { LinkedCaller, LinkedNode, LinkOptions, LinkReply, LinkRequest, OpenLink } from './link-types.js';
import { LeaseTimer } from './lease-timer.js';
import { LinkStatus } from './link-status.js';
import { LinkUse } from './link-use.js';
import { PendingRequests } from './pending-requests.js';

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

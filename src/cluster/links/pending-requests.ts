import type { Socket } from 'socket.io-client';

import { announced } from '../../core/cluster/link-messages.js';
import type { Caller } from '../../services/registry/caller.js';
import { nodeLost, nodeUnreachable } from '../failures.js';
import type { LinkClient } from './link-client.js';
import type { LinkClients } from './link-clients.js';
import type { LinkedCaller, LinkReply, LinkRequest } from './link-types.js';

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
export interface PendingOptions {
  /** Name of the worker. */
  readonly node: string;
  /** Name of this node. */
  readonly ownNode: string;
  readonly clients: LinkClients;
}

/** The requests of a link that have no answer yet. */
export class PendingRequests {
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

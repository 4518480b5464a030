import type { Socket } from 'socket.io-client';

import { announced } from '../../core/cluster/link-messages.js';
import { nodeLost, nodeUnreachable } from '../failures.js';
import type { LinkClient } from './link-client.js';
import type { LinkClients } from './link-clients.js';
import type { LinkReply, LinkRequest } from './link-types.js';

/** A request without an answer yet. */
interface Pending extends LinkRequest {
  readonly answer: (reply: LinkReply) => void;
  /** Whether it was sent, so that it may have been done. */
  isSent: boolean;
  /** Its client, once it was sent; undefined for one without events. */
  client?: LinkClient | undefined;
  /** `name-incarnation` of the worker that it is for; undefined before the first connection. */
  readonly run: string | undefined;
  /** Since when it has waited for a connection, on the clock of `performance.now`. */
  waitsSince: number;
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
      const pending: Pending = {
        ...request,
        run,
        isSent: false,
        waitsSince: performance.now(),
        answer: (reply) => {
          if (!this.#pending.delete(pending)) return;
          if (pending.client) this.#answer(pending.client, request, reply, resolve);
          else resolve(reply);
        },
      };
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
      if (pending.isSent && pending.repeat === 'never') this.#fail(pending, why);
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
    const error = pending.isSent ? nodeLost(node, pending.repeat, why) : nodeUnreachable(node, why);
    pending.answer({ error: error.toBody() });
  }

  #send(socket: Socket, pending: Pending): void {
    const { clients, ownNode } = this.#options;
    const { name, payload, caller, trace, reserved } = pending;
    const { sink } = caller;
    pending.isSent = true;
    pending.client = sink && clients.announce({ ...caller, sink }, socket, ownNode);
    const about = sink
      ? { client: sink.id }
      : { caller: { principal: announced(caller.principal, ownNode), from: caller.from } };
    socket.emit('request', { ...about, name, payload, trace, reserved }, pending.answer);
  }

  #answer(client: LinkClient, { name, payload }: LinkRequest, reply: LinkReply, resolve: Pending['answer']): void {
    client.reply(() => {
      if (!('error' in reply)) this.#options.clients.note(client, { name, payload, reply });
      resolve(reply);
    });
  }
}

import type { Socket } from 'socket.io-client';

import type { NodeLoad } from '../../core/cluster/link-messages.js';
import { nodeIdFrom } from '../../core/cluster/node-id.js';
import type { Dialled } from './dial.js';
import type { LinkedNode, LinkState, OpenLink } from './link-types.js';
import { LastSeen } from './link-use.js';

/** How a worker is, as the link to it sees it, with the connection while there is one. */
export class LinkStatus {
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

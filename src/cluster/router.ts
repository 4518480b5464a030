import { addressOf } from '../core/cluster/address.js';
import { nameOfNode } from '../core/cluster/node-id.js';
import { ROUTES } from '../core/cluster/routes.js';
import { AdapterError } from '../core/errors.js';
import type { PassedRequest, ReceivedRequest, RoutedReply } from '../services/ports/cluster-port.js';
import { noCapacity, nodeDraining, nodeLost, sessionLost } from './failures.js';
import { askAll, askOwner } from './gather.js';
import type { LinkReply } from './links/link-types.js';
import { ObjectPlaces } from './object-places.js';
import { choosePlace, placeable } from './placement.js';
import type { KnownWorkers } from './known-workers.js';
import type { PassedTo } from './pass.js';
import type { SharedPlaces } from './places.js';
import { type Placed, withId } from './placed-request.js';
import type { Relay } from './relay.js';
import { answeredBy, refusingNode, withNoClaim } from './replies.js';
import type { ClusterSubscriptions } from './subscribe.js';
import type { Worker, Workers } from './workers.js';

/** Sends a request to other nodes; rejects with AdapterErrors only. */
type Send = () => Promise<RoutedReply>;

/** What all gateways share, where there is a registry. */
export interface Shared {
  readonly known: Pick<KnownWorkers, 'find' | 'assertAvailable'>;
  readonly places: Pick<SharedPlaces, 'open' | 'claim' | 'unclaim'>;
}

/** A command that is claimed before it is sent. */
interface Claimed {
  readonly commandId: string;
  /** Where it runs, unless it was sent elsewhere before. */
  readonly first: Worker;
  readonly wish: Wish;
}

/** Where something may be placed. */
interface Wish {
  readonly placement?: Placed['placement'];
  readonly key?: string | undefined;
}

/** Finds the worker of each request that a gateway receives, and sends it there. */
export class Router {
  readonly #workers: Workers;
  readonly #subscriptions: ClusterSubscriptions;
  readonly #relay: Relay;
  readonly #shared: Shared | undefined;
  readonly #places = new ObjectPlaces();

  constructor(workers: Workers, subscriptions: ClusterSubscriptions, relay: Relay, shared: Shared | undefined) {
    this.#shared = shared;
    this.#workers = workers;
    this.#subscriptions = subscriptions;
    this.#relay = relay;
  }

  /**
   * How workers answer a request; undefined for one that is answered here.
   * @throws AdapterError SESSION_NOT_FOUND for a session of a lost node, INVALID_REQUEST for a node that there is not,
   *   NO_CAPACITY when none can take it
   */
  route(received: ReceivedRequest): Send | undefined {
    const { name, request } = received;
    const address = addressOf(name, request);
    switch (address.to) {
      case 'here':
      case 'machine':
        return undefined;
      case 'node':
        return this.#toNode(address, received);
      case 'named':
        return this.#to(this.#workers.get(address.name), received);
      case 'only_worker':
        return this.#to(this.#onlyWorker(received), received);
      case 'owner':
        return this.#toOwner(address.id, received);
      case 'all':
        return this.#toAll(received);
      case 'place':
        return this.#toPlace(received);
    }
  }

  /**
   * The worker that answers a request over HTTP; undefined for one that is answered here. What is placed counts as a part
   * of its load.
   * @throws AdapterError as `route`
   */
  passing({ name, request, caller, repeatKey }: PassedRequest): PassedTo | undefined {
    const address = addressOf(name, request);
    switch (address.to) {
      case 'node':
        return { worker: this.#ofSession(address), isPlaced: false };
      case 'named':
        return { worker: this.#workers.get(address.name), isPlaced: false };
      case 'only_worker':
        return { worker: this.#onlyWorker({ name }), isPlaced: false };
      case 'place': {
        const earlier = this.#earlierPlace(caller.principal.id, repeatKey);
        const worker = earlier && placeable([earlier], {}).length > 0 ? earlier : this.#choose({});
        if (repeatKey !== undefined) this.#places.note(caller.principal.id, repeatKey, worker.name);
        return { worker, isPlaced: true };
      }
      default:
        return undefined;
    }
  }

  /** @throws AdapterError SESSION_NOT_FOUND, REGISTRY_UNAVAILABLE */
  #ofSession({ node, sessionId = '' }: { readonly node: string; readonly sessionId?: string }): Worker {
    const worker = this.#workers.find(node);
    if (worker) return worker;
    this.#shared?.known.assertAvailable();
    throw sessionLost(sessionId, nameOfNode(node));
  }

  #toNode(
    { node, sessionId }: { readonly node: string; readonly sessionId?: string },
    received: ReceivedRequest,
  ): Send {
    const worker = this.#workers.find(node);
    if (worker) return this.#to(worker, received);
    if (sessionId !== undefined && !this.#shared) throw sessionLost(sessionId, nameOfNode(node));
    return async () => {
      // It may have come since the last beat.
      const found = await this.#shared?.known.find(node);
      if (found) return this.#to(found, received)();
      if (sessionId !== undefined) throw sessionLost(sessionId, nameOfNode(node));
      // The id may be one that a client has chosen, or of an earlier run of a node.
      return this.#askOwner(received);
    };
  }

  #to(worker: Worker, received: ReceivedRequest): Send {
    return async () => answeredBy(await this.#request(worker, received));
  }

  #toOwner(id: string, received: ReceivedRequest): Send {
    const worker = this.#earlierPlace(received.caller.principal.id, id);
    return worker ? this.#to(worker, received) : () => this.#askOwner(received);
  }

  async #askOwner(received: ReceivedRequest): Promise<RoutedReply> {
    const reply = await askOwner(this.#workers.all(), (worker) => this.#request(worker, received));
    // Without a worker the services of this node know what is not there.
    return reply ? answeredBy(reply) : { reply: await received.answerHere(), isRecorded: false };
  }

  #toAll(received: ReceivedRequest): Send {
    if (received.name === 'subscribe') return () => this.#subscriptions.subscribe(received);
    return async () => answeredBy(await askAll(this.#workers.all(), received, this.#relay));
  }

  #toPlace(received: ReceivedRequest): Send {
    const { name, request, caller } = received;
    const { command_id: commandId, call_id: callId, placement } = request as Placed;
    const id = commandId ?? callId;
    const earlier = this.#earlierPlace(caller.principal.id, id);
    const wish = { placement, key: keyOf(caller.principal.id, id) };
    const shared = earlier ? undefined : this.#shared;
    if (shared && name === 'open_session') return this.#toReserved(shared, received, wish);
    const first = earlier ?? this.#choose(wish);
    if (name === 'check_command') return this.#to(first, received);
    if (shared && name === 'execute_command' && commandId !== undefined)
      return this.#toClaimed(shared, received, { commandId, first, wish });
    return this.#untilTaken(wish, (except) => this.#begin(this.#next(first, wish, except), received));
  }

  /** Sends something to a worker that is a part of its load meanwhile. */
  async #begin(worker: Worker, received: ReceivedRequest, reserved?: string): Promise<LinkReply> {
    const end = worker.begin();
    const reply = await this.#request(worker, received, reserved);
    end();
    return reply;
  }

  /** Begins something on another node, when one that is drained meanwhile refuses it, unless the request names the node. */
  #untilTaken(wish: Wish, begin: (except: ReadonlySet<string>) => Promise<LinkReply>): Send {
    return async () => {
      const refusing = new Set<string>();
      for (;;) {
        const reply = await begin(refusing);
        const node = refusingNode(reply);
        if (node === undefined || refusing.has(node) || wish.placement?.node !== undefined) return answeredBy(reply);
        refusing.add(node);
      }
    };
  }

  /** Opens a session where all gateways together have a place for it. */
  #toReserved({ places }: Shared, received: ReceivedRequest, wish: Wish): Send {
    const { placement } = wish;
    const all = this.#wished(placement);
    const { principal } = received.caller;
    const about = { labels: placement?.labels, principal, whyNone: () => this.#whyNone(placement) };
    return this.#untilTaken(wish, (except) => {
      const workers = all.filter(({ name }) => !except.has(name));
      return places.open({ ...about, workers }, (worker, id) => this.#begin(worker, received, id));
    });
  }

  /** Runs a command on the node of its first try, whichever gateway that came to. */
  #toClaimed({ places, known }: Shared, received: ReceivedRequest, { commandId, first, wish }: Claimed): Send {
    const { principal } = received.caller;
    return this.#untilTaken(wish, async (except) => {
      const chosen = this.#next(first, wish, except);
      const own = chosen.link.known?.id ?? chosen.name;
      const holder = await places.claim(principal, commandId, own);
      const node = holder ?? own;
      const worker = node === own ? chosen : await this.#holder(node, known);
      const reply = await this.#begin(worker, received);
      if ('error' in reply && reply.error.code === 'NODE_UNREACHABLE') places.unclaim(principal, commandId, own);
      // A node that knows the command answers it also while it is drained.
      if (refusingNode(reply) !== undefined) places.unclaim(principal, commandId, node);
      return holder === undefined ? withNoClaim(reply) : reply;
    });
  }

  /** The worker of the first try of a command. */
  async #holder(node: string, known: Shared['known']): Promise<Worker> {
    const worker = this.#workers.find(node) ?? (await known.find(node));
    if (!worker) throw nodeLost(nameOfNode(node), 'by_id', 'the command was sent there before');
    return worker;
  }

  /** The first choice, or another one once that has refused. */
  #next(first: Worker, wish: Wish, except: ReadonlySet<string>): Worker {
    return except.size === 0 ? first : this.#choose(wish, except);
  }

  #wished(placement: Placed['placement']): readonly Worker[] {
    return placement?.node === undefined ? this.#workers.all() : [this.#usable(placement.node)];
  }

  /** @throws AdapterError NO_CAPACITY, and as `#usable` */
  #choose(wish: Wish, except: ReadonlySet<string> = new Set()): Worker {
    const { placement, key } = wish;
    const left = this.#wished(placement).filter(({ name }) => !except.has(name));
    const worker = choosePlace(left, { labels: placement?.labels, key });
    if (!worker) throw noCapacity(this.#whyNone(placement));
    return worker;
  }

  /** Where this gateway has sent something of this id before; undefined when it has not, or that run of the worker is over. */
  #earlierPlace(owner: string, id: string | undefined): Worker | undefined {
    const node = id === undefined ? undefined : this.#places.find(owner, id);
    return node === undefined ? undefined : this.#workers.find(node);
  }

  /** @throws AdapterError INVALID_REQUEST, NODE_DRAINING */
  #usable(name: string): Worker {
    const worker = this.#workers.get(name);
    if (worker.isDraining) throw nodeDraining(name);
    return worker;
  }

  /** The worker of a request that is about files or a machine, and names none. */
  #onlyWorker({ name }: Pick<ReceivedRequest, 'name'>): Worker {
    const workers = this.#workers.all();
    const [only] = workers;
    if (!only) throw noCapacity('no worker is registered at this gateway: shell-adapter nodes register adds one');
    if (workers.length === 1) return only;
    const nodes = workers.map((worker) => worker.name);
    const message = `${name} is about one node: give session_id, or node: ${nodes.join(', ')}`;
    throw new AdapterError('INVALID_REQUEST', message, { details: { field: 'node', nodes } });
  }

  #whyNone(placement: Placed['placement']): string {
    const workers = this.#workers.all();
    if (workers.length === 0) return 'no worker is registered at this gateway: shell-adapter nodes register adds one';
    const wish = placement ? ` with ${JSON.stringify(placement)}` : '';
    return `none of ${workers.length} workers${wish} is connected, takes new work and has room`;
  }

  async #request(
    worker: Worker,
    { name, payload, request, caller, trace }: ReceivedRequest,
    reserved?: string,
  ): Promise<LinkReply> {
    const named = withId(worker, name, payload, request);
    const { repeat } = ROUTES[name];
    // A worker that was started again has none of what ran there.
    const node = worker.link.known?.id ?? worker.name;
    if (named.id !== undefined) this.#places.note(caller.principal.id, named.id, node);
    const reply = await this.#relay(worker, { name, payload: named.payload, caller, repeat, trace, reserved });
    const { command_id: commandId } = reply as Placed;
    if (typeof commandId === 'string') this.#places.note(caller.principal.id, commandId, node);
    return reply;
  }
}

const keyOf = (owner: string, id: string | undefined): string | undefined =>
  id === undefined ? undefined : `${owner} ${id}`;

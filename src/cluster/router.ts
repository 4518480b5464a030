import { addressOf, nameOfNode } from '../core/cluster/address.js';
import { AdapterError } from '../core/errors.js';
import { requests } from '../core/protocol/requests.js';
import type { ReceivedRequest, RoutedReply } from '../services/cluster-port.js';
import { bodyOf } from '../services/http-exchange.js';
import { noCapacity, nodeDraining, nodeLost, sessionLost } from './failures.js';
import { askAll, askOwner } from './gather.js';
import type { KnownWorkers } from './known-workers.js';
import { choosePlace, connected, isConnected, placeable, type SessionNode, type SessionNodes } from './placement.js';
import type { SharedPlaces } from './places.js';
import { refusingNode, type Relay, unusedNode, withEarlierTry, withNoClaim } from './relay.js';
import {
  type Begin,
  type Claimed,
  newIdFor,
  ownIdOf,
  type Placed,
  type Send,
  untilTaken,
  type Wish,
} from './placed-request.js';
import type { ClusterSubscriptions } from './subscribe.js';

/** Chooses the node of what names none. */
class NodeChoice {
  readonly #nodes: SessionNodes;

  constructor(nodes: SessionNodes) {
    this.#nodes = nodes;
  }

  /** The first choice, or another one once that has refused. */
  next(first: SessionNode, wish: Wish, except: ReadonlySet<string>): SessionNode {
    return except.size === 0 ? first : this.choose(wish, except);
  }

  /** The nodes that a placement allows. */
  wished(placement: Placed['placement']): readonly SessionNode[] {
    return placement?.node === undefined ? this.#nodes.all() : [this.#usable(placement.node)];
  }

  /**
   * Chooses the node of something new.
   * @throws AdapterError NO_CAPACITY, INVALID_REQUEST, NODE_DRAINING
   */
  choose(wish: Wish, except: ReadonlySet<string> = new Set()): SessionNode {
    const { placement, key } = wish;
    const left = this.wished(placement).filter(({ name }) => !except.has(name));
    const node = choosePlace(left, { labels: placement?.labels, key, preferred: this.#nodes.own?.name });
    if (!node) throw noCapacity(this.whyNone(placement));
    return node;
  }

  /** @throws AdapterError INVALID_REQUEST, NODE_DRAINING */
  #usable(name: string): SessionNode {
    const node = this.#nodes.get(name);
    if (node.isDraining) throw nodeDraining(name);
    return node;
  }

  /** The node of a request that is about files or a machine, and names none: this one, or the only one. */
  defaultNode({ name }: Pick<ReceivedRequest, 'name'>): SessionNode {
    const all = this.#nodes.all();
    const only = this.#nodes.own ?? all[0];
    if (!only) throw noCapacity('no worker is registered at this gateway: shell-adapter nodes register adds one');
    if (only.isHere || all.length === 1) return only;
    const nodes = all.map((node) => node.name);
    const message = `${name} is about one node: give session_id, or node: ${nodes.join(', ')}`;
    throw new AdapterError('INVALID_REQUEST', message, { details: { field: 'node', nodes } });
  }

  /** Why none of the nodes that a placement allows can take anything. */
  whyNone(placement: Placed['placement']): string {
    const { length } = this.#nodes.all();
    if (length === 0) return 'no worker is registered at this gateway: shell-adapter nodes register adds one';
    const wish = placement ? ` with ${JSON.stringify(placement)}` : '';
    return `none of ${length} ${this.#nodes.own ? 'nodes' : 'workers'}${wish} is connected, takes new work and has room`;
  }
}

/** Most objects whose node is remembered. */
const MAX_PLACES = 10_000;

/** On which node the objects are whose ids clients have chosen: those that were used last. */
class ObjectPlaces {
  /** By owner and id, the one used last at the end. */
  readonly #nodes = new Map<string, string>();

  /** Notes the node of an object. */
  note(owner: string, id: string, node: string): void {
    const key = keyOf(owner, id);
    this.#nodes.delete(key);
    this.#nodes.set(key, node);
    if (this.#nodes.size <= MAX_PLACES) return;
    for (const oldest of this.#nodes.keys()) {
      this.#nodes.delete(oldest);
      break;
    }
  }

  /** The node of an object; undefined when it is not known. */
  find(owner: string, id: string): string | undefined {
    const node = this.#nodes.get(keyOf(owner, id));
    if (node !== undefined) this.note(owner, id, node);
    return node;
  }
}

const keyOf = (owner: string, id: string): string => `${owner}\0${id}`;

/** What all nodes share, where there is a registry. */
export interface Shared {
  readonly known: Pick<KnownWorkers, 'find' | 'isAvailable'>;
  readonly places: Pick<SharedPlaces, 'open' | 'claim' | 'unclaim'>;
}

/** Finds the node of each request that this node receives from a client, and has it answered there. */
export class Router {
  readonly #nodes: SessionNodes;
  readonly #choice: NodeChoice;
  readonly #subscriptions: ClusterSubscriptions;
  readonly #relay: Relay;
  readonly #shared: Shared | undefined;
  readonly #places = new ObjectPlaces();

  constructor(nodes: SessionNodes, subscriptions: ClusterSubscriptions, relay: Relay, shared: Shared | undefined) {
    this.#shared = shared;
    this.#nodes = nodes;
    this.#choice = new NodeChoice(nodes);
    this.#subscriptions = subscriptions;
    this.#relay = relay;
  }

  /**
   * How nodes answer a request; undefined for one that is answered here as by a daemon alone.
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
        return this.#to(this.#nodes.get(address.name), received);
      case 'only_worker':
        return this.#to(this.#choice.defaultNode(received), received);
      case 'owner':
        return this.#toOwner(address.id, received);
      case 'all':
        return this.#toAll(received);
      case 'place':
        return this.#toPlace(received);
    }
  }

  #toNode(
    { node, sessionId }: { readonly node: string; readonly sessionId?: string },
    received: ReceivedRequest,
  ): Send | undefined {
    const known = this.#nodes.find(node);
    if (known) return this.#to(known, received);
    if (sessionId !== undefined && !this.#shared) throw sessionLost(sessionId, nameOfNode(node));
    return async () => {
      // It may have come since the last beat.
      const found = await this.#shared?.known.find(node);
      if (found) return this.ask(found, received);
      if (sessionId !== undefined) throw sessionLost(sessionId, nameOfNode(node));
      // The id may be one that a client has chosen, or of an earlier run of a node.
      return this.#askOwner(received);
    };
  }

  #to(node: SessionNode, received: ReceivedRequest): Send | undefined {
    return node.isHere ? undefined : () => this.ask(node, received);
  }

  #toOwner(id: string, received: ReceivedRequest): Send | undefined {
    const node = this.#earlierPlace(received.caller.principal.id, id);
    return node ? this.#to(node, received) : () => this.#askOwner(received);
  }

  async #askOwner(received: ReceivedRequest): Promise<RoutedReply> {
    const answer = await askOwner(this.#nodes.all(), (node) => this.ask(node, received));
    // Without a worker the services of a gateway know what is not there.
    return answer ?? { reply: await received.answerHere(), isRecorded: false };
  }

  #toAll(received: ReceivedRequest): Send {
    if (received.name === 'subscribe') return () => this.#subscriptions.subscribe(received);
    return () => askAll(this.#nodes.all(), received, this.#relay);
  }

  #toPlace(received: ReceivedRequest): Send | undefined {
    const { name, request, caller } = received;
    if (received.http) return this.#toPlaceOverHttp(received);
    const { placement } = request as Placed;
    const id = ownIdOf(received);
    const earlier = this.#earlierPlace(caller.principal.id, id);
    const shared = this.#sharedFor(earlier);
    const key = id === undefined ? undefined : `${caller.principal.id} ${id}`;
    const { begins, repeat } = requests[name];
    if (shared && begins === 'session_id') return this.#toReserved(shared, received, { placement });
    if (shared && repeat === 'by_id' && id !== undefined)
      return this.#toClaimed(shared, received, this.#claimOf(shared, id, { placement, key }, earlier));
    const wish = { placement, key };
    const first = earlier ?? this.#choice.choose(wish);
    if (!begins) return this.#to(first, received);
    return untilTaken(wish, (except) => this.#begin(this.#choice.next(first, wish, except), received));
  }

  /** Content is sent once: to the node that had it before, if that takes something more. */
  #toPlaceOverHttp(received: ReceivedRequest): Send | undefined {
    const { repeatKey, caller } = received;
    const { id: owner } = caller.principal;
    const earlier = this.#earlierPlace(owner, repeatKey);
    const node = earlier && placeable([earlier], {}).length > 0 ? earlier : this.#choice.choose({});
    if (repeatKey !== undefined) this.#places.note(owner, repeatKey, node.name);
    return node.isHere ? undefined : () => this.#begin(node, received);
  }

  /** What all nodes share, unless this node knows where something was sent before. */
  #sharedFor(earlier: SessionNode | undefined): Shared | undefined {
    return earlier && isConnected(earlier) ? undefined : this.#shared;
  }

  /** All nodes agree by the claim; while it cannot be made by the id, as long as the nodes stay the same. */
  #claimOf({ known }: Shared, commandId: string, { placement, key }: Wish, earlier: SessionNode | undefined): Claimed {
    const wish = known.isAvailable ? { placement } : { placement, key };
    return { commandId, first: earlier ?? this.#choice.choose(wish), wish };
  }

  /** Has a node answer something that is a part of its load meanwhile: until its answer, with what comes over HTTP. */
  async #begin(node: SessionNode, received: ReceivedRequest, reserved?: string): Promise<RoutedReply> {
    const end = node.begin();
    try {
      const answer = await this.ask(node, received, reserved);
      if ('response' in answer.reply) bodyOf(answer.reply).once('close', end);
      else end();
      return answer;
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Opens a session where all nodes together have a place for it. */
  #toReserved({ places }: Shared, received: ReceivedRequest, wish: Wish): Send {
    const { placement } = wish;
    const all = this.#choice.wished(placement);
    const { principal } = received.caller;
    const preferred = this.#nodes.own?.name;
    const about = { labels: placement?.labels, preferred, principal, whyNone: () => this.#choice.whyNone(placement) };
    const begin: Begin = (except) => {
      const nodes = all.filter(({ name }) => !except.has(name));
      return places.open({ ...about, nodes }, (node, id) => this.#begin(node, received, id));
    };
    return untilTaken(wish, begin);
  }

  /** Runs a command on the node of its first try, whichever node that came to. */
  #toClaimed({ places, known }: Shared, received: ReceivedRequest, { commandId, first, wish }: Claimed): Send {
    const { principal } = received.caller;
    const begin: Begin = async (except) => {
      const chosen = await connected(this.#choice.next(first, wish, except));
      const wanted = chosen.nodeId ?? chosen.name;
      const claimed = await places.claim(principal, commandId, wanted);
      const { nodeId, isFirst } = claimed ?? { nodeId: wanted, isFirst: false };
      const node = !claimed || isFirst ? chosen : await this.#holder(nodeId, known);
      const answer = await this.#begin(node, received);
      if (!claimed) return withNoClaim(answer);
      // A node that knows the command answers it also while it is drained.
      if (refusingNode(answer) !== undefined) await places.unclaim(principal, commandId, nodeId, true);
      else if (unusedNode(answer) === undefined) return answer;
      // Another gateway may have sent it there, before or meanwhile.
      else if (!isFirst || !(await places.unclaim(principal, commandId, nodeId, false))) return withEarlierTry(answer);
      return answer;
    };
    return untilTaken(wish, begin, refusingNode);
  }

  /** The node of the first try of a command. */
  async #holder(nodeId: string, known: Shared['known']): Promise<SessionNode> {
    const found = this.#nodes.find(nodeId) ?? (await known.find(nodeId));
    const node = found && (await connected(found));
    if (!node || (node.nodeId !== nodeId && node.name !== nodeId))
      throw nodeLost(nameOfNode(nodeId), 'by_id', 'the command was sent there before');
    return node;
  }

  /** Where this node has sent something of this id before; undefined when it has not, or that run of the node is over. */
  #earlierPlace(owner: string, id: string | undefined): SessionNode | undefined {
    const node = id === undefined ? undefined : this.#places.find(owner, id);
    return node === undefined ? undefined : this.#nodes.find(node);
  }

  /** Has a node answer a request, and notes what is there. */
  async ask(node: SessionNode, received: ReceivedRequest, reserved?: string): Promise<RoutedReply> {
    const { principal } = received.caller;
    const id = ownIdOf(received);
    // A node that was started again has none of what ran there.
    const place = node.nodeId ?? node.name;
    if (id !== undefined) this.#places.note(principal.id, id, place);
    // Content is sent as it came.
    const fields = received.http ? undefined : newIdFor(received, node.nodeId);
    const answer = await this.#relay(node, received, { fields, reserved });
    const { command_id: commandId } = answer.reply as Placed;
    // A new id names the node, so that it is found without.
    const isNamed = fields !== undefined && node.nodeId !== undefined;
    if (typeof commandId === 'string' && !isNamed) this.#places.note(principal.id, commandId, place);
    return answer;
  }
}

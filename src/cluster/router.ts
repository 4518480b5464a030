import { addressOf } from '../core/cluster/address.js';
import { nameOfNode } from '../core/cluster/node-id.js';
import { ROUTES } from '../core/cluster/routes.js';
import { AdapterError } from '../core/errors.js';
import { callIdFrom, commandIdFrom, ID_BYTES } from '../core/ids.js';
import type { Request } from '../core/protocol/requests.js';
import { randomText } from '../engine/system/random.js';
import type { PassedRequest, ReceivedRequest, RoutedReply } from '../services/ports/cluster-port.js';
import { noCapacity, nodeLost, sessionLost } from './failures.js';
import { askAll, askOwner } from './gather.js';
import type { LinkReply } from './link-types.js';
import { ObjectPlaces } from './object-places.js';
import { choosePlace, placeable } from './placement.js';
import type { KnownWorkers } from './known-workers.js';
import type { PassedTo } from './pass.js';
import type { SharedPlaces } from './places.js';
import type { Relay } from './relay.js';
import type { ClusterSubscriptions } from './subscribe.js';
import type { Worker, Workers } from './workers.js';

/** Sends a request to other nodes; rejects with AdapterErrors only. */
type Send = () => Promise<RoutedReply>;

/** Fields of a request that say where it goes. */
interface Placed {
  readonly command_id?: string | undefined;
  readonly call_id?: string | undefined;
  readonly placement?: Request<'open_session'>['placement'];
}

/** What all gateways share, where there is a registry. */
export interface Shared {
  readonly known: Pick<KnownWorkers, 'find' | 'assertAvailable'>;
  readonly places: Pick<SharedPlaces, 'open' | 'claim' | 'unclaim'>;
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
    if (earlier) return this.#to(earlier, received);
    if (this.#shared && name === 'open_session') return this.#toReserved(this.#shared, received, placement);
    const key = id === undefined ? undefined : `${caller.principal.id} ${id}`;
    const worker = this.#choose({ placement, key });
    if (name === 'check_command') return this.#to(worker, received);
    if (this.#shared && name === 'execute_command' && commandId !== undefined)
      return this.#toClaimed(this.#shared, received, commandId, worker);
    return async () => answeredBy(await this.#begin(worker, received));
  }

  /** Sends something to a worker that is a part of its load meanwhile. */
  async #begin(worker: Worker, received: ReceivedRequest, reserved?: string): Promise<LinkReply> {
    const end = worker.begin();
    const reply = await this.#request(worker, received, reserved);
    end();
    return reply;
  }

  /** Opens a session where all gateways together have a place for it. */
  #toReserved({ places }: Shared, received: ReceivedRequest, placement: Placed['placement']): Send {
    const workers = this.#wished(placement);
    const { principal } = received.caller;
    const wish = { workers, labels: placement?.labels, principal, whyNone: () => this.#whyNone(placement) };
    return async () => answeredBy(await places.open(wish, (worker, id) => this.#begin(worker, received, id)));
  }

  /** Runs a command on the node of its first try, whichever gateway that came to. */
  #toClaimed({ places, known }: Shared, received: ReceivedRequest, commandId: string, chosen: Worker): Send {
    const { principal } = received.caller;
    return async () => {
      const own = chosen.link.known?.id ?? chosen.name;
      const holder = await places.claim(principal, commandId, own);
      const node = holder ?? own;
      const worker = node === own ? chosen : (this.#workers.find(node) ?? (await known.find(node)));
      if (!worker) throw nodeLost(nameOfNode(node), 'by_id', 'the command was sent there before');
      const reply = await this.#begin(worker, received);
      if ('error' in reply && reply.error.code === 'NODE_UNREACHABLE') places.unclaim(principal, commandId, own);
      return answeredBy(holder === undefined ? withNoClaim(reply) : reply);
    };
  }

  #wished(placement: Placed['placement']): readonly Worker[] {
    return placement?.node === undefined ? this.#workers.all() : [this.#usable(placement.node)];
  }

  /** @throws AdapterError NO_CAPACITY, and as `#usable` */
  #choose({ placement, key }: { readonly placement?: Placed['placement']; readonly key?: string | undefined }): Worker {
    const worker = choosePlace(this.#wished(placement), { labels: placement?.labels, key });
    if (!worker) throw noCapacity(this.#whyNone(placement));
    return worker;
  }

  /** Where this gateway has sent something of this id before; undefined when it has not, or the worker was removed. */
  #earlierPlace(owner: string, id: string | undefined): Worker | undefined {
    const node = id === undefined ? undefined : this.#places.find(owner, id);
    return node === undefined ? undefined : this.#workers.find(node);
  }

  /** @throws AdapterError INVALID_REQUEST, NODE_DRAINING */
  #usable(name: string): Worker {
    const worker = this.#workers.get(name);
    if (!worker.isDraining) return worker;
    const details = { node: name, retry_safe: true, maybe_executed: false };
    throw new AdapterError('NODE_DRAINING', `node ${name} is being drained, and takes no new sessions`, { details });
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
    if (named.id !== undefined) this.#places.note(caller.principal.id, named.id, worker.name);
    const reply = await this.#relay(worker, { name, payload: named.payload, caller, repeat, trace, reserved });
    const { command_id: commandId } = reply as Placed;
    if (typeof commandId === 'string') this.#places.note(caller.principal.id, commandId, worker.name);
    return reply;
  }
}

const answeredBy = (reply: LinkReply): RoutedReply => ({ reply, isRecorded: !isOfThisNode(reply) });

/** Says that another gateway may have run the same command: the registry could not be asked. */
function withNoClaim(reply: LinkReply): LinkReply {
  if ('error' in reply || !('warnings' in reply)) return reply;
  const message =
    'the registry of the cluster does not answer: if the same command_id is sent to another gateway, the command may run twice';
  return { ...reply, warnings: [...(reply.warnings ?? []), { code: 'NO_CLAIM', message }] };
}

/** Errors of this node itself, which no worker has recorded. */
const isOfThisNode = (reply: LinkReply): boolean =>
  'error' in reply && (reply.error.code === 'NODE_LOST' || reply.error.code === 'NODE_UNREACHABLE');

/** A request that begins something has an id, so that it can be sent again. */
function withId(
  worker: Worker,
  name: ReceivedRequest['name'],
  payload: unknown,
  { command_id: commandId, call_id: callId }: Placed,
): { readonly id: string | undefined; readonly payload: unknown } {
  const node = worker.link.known?.id;
  const fields = payload as object;
  if (name === 'execute_command') {
    if (commandId !== undefined) return { id: commandId, payload };
    return { id: undefined, payload: { ...fields, command_id: commandIdFrom(randomText(ID_BYTES), node) } };
  }
  if (name !== 'llm_call' && name !== 'llm_stream') return { id: undefined, payload };
  if (callId !== undefined) return { id: callId, payload };
  const random = Buffer.from(randomText(ID_BYTES), 'base64url');
  return { id: undefined, payload: { ...fields, call_id: callIdFrom(random, node) } };
}

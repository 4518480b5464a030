import { addressOf, nameOfNode } from '../core/cluster/address.js';
import { BoundedMap } from '../core/bounded-map.js';
import type { ErrorCode } from '../core/errors.js';
import { callIdFrom, commandIdFrom, ID_BYTES } from '../core/ids.js';
import { type Answer, requests, type SessionRequest } from '../core/protocol/requests.js';
import type { WarningCode } from '../core/warnings.js';
import { randomBytes, randomText } from '../engine/system/random.js';
import type { ClusterPort, ReceivedRequest, RoutedReply } from '../services/cluster-port.js';
import { bodyOf } from '../services/http-exchange.js';
import { nodeLost, sessionLost } from './failures.js';
import { askAll, askOwner } from './gather.js';
import type { KnownWorkers } from './known-workers.js';
import {
  connected,
  isConnected,
  placeable,
  type PlacementRequest,
  type SessionNode,
  type SessionNodes,
} from './placement.js';
import type { SharedPlaces } from './places.js';
import type { Relay } from './relay.js';
import type { ClusterSubscriptions } from './subscribe.js';
import type { Worker, Workers } from './workers.js';

/** Most objects whose node is remembered. */
const MAX_PLACES = 10_000;

const keyOf = (owner: string, id: string): string => `${owner}\0${id}`;

/** Fields of a request that say where it goes. */
interface Placed {
  readonly command_id?: string | undefined;
  readonly call_id?: string | undefined;
  readonly placement?: SessionRequest['placement'];
}

/** The id that the client has given to what a request begins; undefined when it has given none. */
function ownIdOf({ name, request }: ReceivedRequest): string | undefined {
  const { begins } = requests[name];
  return begins === 'command_id' || begins === 'call_id' ? (request as Placed)[begins] : undefined;
}

/**
 * A request that begins something has an id, so that it can be sent again: the field with it, unless it has one.
 * @param nodeId `name-incarnation` of its node
 */
function newIdFor(received: ReceivedRequest, nodeId: string | undefined): object | undefined {
  const { begins } = requests[received.name];
  if (ownIdOf(received) !== undefined) return undefined;
  if (begins === 'command_id') return { command_id: commandIdFrom(randomText(ID_BYTES), nodeId) };
  return begins === 'call_id' ? { call_id: callIdFrom(randomBytes(ID_BYTES), nodeId) } : undefined;
}

/** Has the nodes of a request answer it; rejects with AdapterErrors only. */
type Send = () => Promise<RoutedReply>;

/** A command that is claimed before it is sent. */
interface Claimed {
  readonly commandId: string;
  /** Where it runs, unless it was sent elsewhere before. */
  readonly first: SessionNode;
  readonly wish: PlacementRequest;
}

/** Has a node that is none of these begin something. */
type Begin = (except: ReadonlySet<string>) => Promise<RoutedReply>;

/**
 * Begins something on another node when one has not begun it, unless the request names the node.
 * @param nodeOf the node that has not, by its answer. What has an id may have run on one that cannot be reached
 */
function untilTaken(
  wish: PlacementRequest,
  begin: Begin,
  nodeOf = wish.key === undefined ? unusedNode : refusingNode,
): Send {
  return async () => {
    const refusing = new Set<string>();
    for (;;) {
      const answer = await begin(refusing);
      const node = nodeOf(answer);
      if (node === undefined || refusing.has(node) || wish.placement?.node !== undefined) return answer;
      refusing.add(node);
    }
  };
}

/** The node that has refused a request since it is drained; undefined for other replies. */
const refusingNode = (answer: RoutedReply): string | undefined => nodeIn(answer, ['NODE_DRAINING']);

/** The same, and the node that a request was not sent to, since it cannot be connected to. */
const unusedNode = (answer: RoutedReply): string | undefined => nodeIn(answer, ['NODE_DRAINING', 'NODE_UNREACHABLE']);

function nodeIn({ reply }: RoutedReply, codes: readonly ErrorCode[]): string | undefined {
  if (!('error' in reply) || !codes.includes(reply.error.code)) return undefined;
  const { node } = (reply.error.details ?? {}) as { readonly node?: unknown };
  return typeof node === 'string' ? node : undefined;
}

/** Says of a command that could not be sent now that it may have run: it was sent before. */
function withEarlierTry(answer: RoutedReply): RoutedReply {
  const { reply } = answer;
  if (!('error' in reply) || reply.error.code !== 'NODE_UNREACHABLE') return answer;
  const details = { ...(reply.error.details as object | undefined), maybe_executed: true };
  const message = `${reply.error.message}; the command was sent there before, and may have been done`;
  return { ...answer, reply: { error: { ...reply.error, message, details } } };
}

/** Says that another gateway may have run the same command: the registry could not be asked. */
function withNoClaim(answer: RoutedReply): RoutedReply {
  const { reply } = answer;
  if ('error' in reply || !('warnings' in reply)) return answer;
  const code: WarningCode = 'NO_CLAIM';
  const message =
    'the registry of the cluster does not answer: if the same command_id is sent to another node, the command may run twice';
  return { ...answer, reply: { ...reply, warnings: [...(reply.warnings ?? []), { code, message }] } };
}

/** What all nodes share, where there is a registry. */
export interface Shared {
  readonly known: KnownWorkers;
  readonly places: SharedPlaces;
}

/** Finds the node of each request that this node receives from a client, and has it answered there. */
export class Router {
  readonly #nodes: SessionNodes;
  readonly #subscriptions: ClusterSubscriptions;
  readonly #relay: Relay;
  readonly #shared: Shared | undefined;
  /** The node of each object whose id its client has chosen, by owner and id: of those that were used last. */
  readonly #places = new BoundedMap<string, string>(MAX_PLACES);

  constructor(nodes: SessionNodes, subscriptions: ClusterSubscriptions, relay: Relay, shared: Shared | undefined) {
    this.#shared = shared;
    this.#nodes = nodes;
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
        return this.#to(this.#nodes.defaultNode(received.name), received);
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
    const first = earlier ?? this.#nodes.choose(wish);
    if (!begins) return this.#to(first, received);
    return untilTaken(wish, (except) => this.#begin(this.#next(first, wish, except), received));
  }

  /** Content is sent once: to the node that had it before, if that takes something more. */
  #toPlaceOverHttp(received: ReceivedRequest): Send | undefined {
    const { repeatKey, caller } = received;
    const { id: owner } = caller.principal;
    const earlier = this.#earlierPlace(owner, repeatKey);
    const node = earlier && placeable([earlier], {}).length > 0 ? earlier : this.#nodes.choose({});
    if (repeatKey !== undefined) this.#note(owner, repeatKey, node.name);
    return node.isHere ? undefined : () => this.#begin(node, received);
  }

  /** What all nodes share, unless this node knows where something was sent before. */
  #sharedFor(earlier: SessionNode | undefined): Shared | undefined {
    return earlier && isConnected(earlier) ? undefined : this.#shared;
  }

  /** All nodes agree by the claim; while it cannot be made by the id, as long as the nodes stay the same. */
  #claimOf(
    { known }: Shared,
    commandId: string,
    { placement, key }: PlacementRequest,
    earlier: SessionNode | undefined,
  ): Claimed {
    const wish = known.isAvailable ? { placement } : { placement, key };
    return { commandId, first: earlier ?? this.#nodes.choose(wish), wish };
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
  #toReserved({ places }: Shared, received: ReceivedRequest, wish: PlacementRequest): Send {
    const { placement } = wish;
    const all = this.#nodes.wished(placement);
    const { principal } = received.caller;
    const preferred = this.#nodes.own?.name;
    const about = { labels: placement?.labels, preferred, principal, whyNone: () => this.#nodes.whyNone(placement) };
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
      const chosen = await connected(this.#next(first, wish, except));
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
    const node = id === undefined ? undefined : this.#places.get(keyOf(owner, id));
    if (id === undefined || node === undefined) return undefined;
    this.#note(owner, id, node);
    return this.#nodes.find(node);
  }

  #note(owner: string, id: string, node: string): void {
    this.#places.set(keyOf(owner, id), node);
  }

  /** The first choice, or another one once that has refused. */
  #next(first: SessionNode, wish: PlacementRequest, except: ReadonlySet<string>): SessionNode {
    return except.size === 0 ? first : this.#nodes.choose(wish, except);
  }

  /** Has a node answer a request, and notes what is there. */
  async ask(node: SessionNode, received: ReceivedRequest, reserved?: string): Promise<RoutedReply> {
    const { principal } = received.caller;
    const id = ownIdOf(received);
    // A node that was started again has none of what ran there.
    const place = node.nodeId ?? node.name;
    if (id !== undefined) this.#note(principal.id, id, place);
    // Content is sent as it came.
    const fields = received.http ? undefined : newIdFor(received, node.nodeId);
    const answer = await this.#relay(node, received, { fields, reserved });
    const { command_id: commandId } = answer.reply as Placed;
    // A new id names the node, so that it is found without.
    const isNamed = fields !== undefined && node.nodeId !== undefined;
    if (typeof commandId === 'string' && !isNamed) this.#note(principal.id, commandId, place);
    return answer;
  }
}

/**
 * Routing where all workers are processes of this machine: one of them takes what is new, and what is about a file or
 * the machine. The others keep what they have until it ends.
 */
export class OneMachine {
  readonly #router: Router;
  readonly #workers: Workers;
  readonly #relay: Relay;

  constructor(router: Router, workers: Workers, relay: Relay) {
    this.#router = router;
    this.#workers = workers;
    this.#relay = relay;
  }

  /** As `Router.route`. */
  readonly route: ClusterPort['route'] = (received) => {
    const { name, request } = received;
    if (name === 'daemon_status') return () => this.#status(received);
    const address = addressOf(name, request);
    const worker = this.#taking;
    const namesNone = address.to === 'machine' || address.to === 'all';
    const isAny = address.to === 'only_worker' || (namesNone && requests[name].isShared === true);
    if (isAny && worker) return () => this.#router.ask(worker, received);
    const isRepeated = address.to === 'place' && ownIdOf(received) !== undefined;
    return isRepeated ? this.#oldestFirst(received) : this.#router.route(received);
  };

  get #taking(): Worker | undefined {
    return this.#workers.all().find(({ isLive, isDraining }) => isLive && !isDraining);
  }

  /** A worker that takes nothing new still answers a command that it knows. */
  #oldestFirst(received: ReceivedRequest): Send | undefined {
    const retired = this.#workers.all().filter(({ isLive, isDraining }) => isLive && isDraining);
    if (retired.length === 0) return this.#router.route(received);
    return async () => {
      for (const worker of retired) {
        const routed = await this.#router.ask(worker, received);
        if (refusingNode(routed) === undefined) return routed;
      }
      const send = this.#router.route(received);
      return send ? send() : { reply: await received.answerHere(), isRecorded: false };
    };
  }

  /** The status of this daemon with what its workers run. One that does not answer counts as one that runs nothing. */
  async #status(received: ReceivedRequest): Promise<RoutedReply> {
    const own = (await received.answerHere()) as Answer<'daemon_status'>;
    const live = this.#workers.all().filter(({ isLive }) => isLive);
    const replies = await Promise.all(live.map((worker) => this.#relay(worker, received)));
    const answers = replies.flatMap(({ reply }) => ('error' in reply ? [] : [reply as Answer<'daemon_status'>]));
    const sum = (field: 'sessions' | 'running_commands') => answers.reduce((all, answer) => all + answer[field], 0);
    if ('error' in own) return { reply: own, isRecorded: false };
    const reply = { ...own, sessions: sum('sessions'), running_commands: sum('running_commands') };
    return { reply, isRecorded: false };
  }
}

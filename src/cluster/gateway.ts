import type { Role } from '../core/principal.js';
import { addressOf } from '../core/cluster/address.js';
import type { NodeLoad } from '../core/cluster/link-messages.js';
import { AdapterError, type ErrorBody } from '../core/errors.js';
import { type Answer, requests } from '../core/protocol/requests.js';
import type { NodeInfo } from '../core/protocol/requests/nodes.js';
import type { ClusterPort, HeldCounts, NodesPort, ReceivedRequest, RoutedReply } from '../services/cluster-port.js';
import type { Caller, Connections, EventSink } from '../services/registry/caller.js';
import { noCapacity, nodeUnreachable } from './failures.js';
import { KnownWorkers } from './known-workers.js';
import type { LinkedCaller } from './links/link-types.js';
import type { Link } from './links/link.js';
import { Membership, obstacleOf } from './membership.js';
import { describeSelf, drainingObstacle, type NodeWork, ownSessionNode } from './own-work.js';
import { makeRelay, refusingNode, type Relay, type RelayRecorders } from './relay.js';
import { placeable, SessionNodes } from './placement.js';
import { SharedPlaces } from './places.js';
import type { RedisRegistry } from './registry/redis-registry.js';
import { ownIdOf, type Send } from './placed-request.js';
import { Router, type Shared } from './router.js';
import { ClusterSubscriptions } from './subscribe.js';
import { type Worker, Workers, type WorkersOptions } from './workers.js';

/**
 * Routing where all workers are processes of this machine: one of them takes what is new, and what is about a file or
 * the machine. The others keep what they have until it ends.
 */
class OneMachine {
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

/** Roles whose clients decide for others: every worker has to know them. */
const DECIDING_ROLES: readonly Role[] = ['operator', 'admin'];

interface GatewayOptions extends Omit<WorkersOptions, 'audience' | 'hasLease' | 'onChange' | 'onLost'>, RelayRecorders {
  readonly connections: Pick<Connections, 'all'>;
  readonly role: 'gateway' | 'node';
  /** What this node runs itself. */
  readonly work: NodeWork;
  /** Undefined where workers are registered at each gateway. */
  readonly registry: RedisRegistry | undefined;
  /** Most sessions of a token; with a registry on all nodes together. */
  readonly maxSessions: () => number;
  /** Whether all workers are processes of this machine, of which one takes what is new. */
  readonly isOneMachine: boolean;
}

/**
 * The cluster of a node that takes clients: it sends their requests on to the nodes that they are about. A gateway runs
 * nothing itself.
 */
export class Gateway implements ClusterPort {
  readonly node: string | undefined;
  readonly runsSessions: boolean;
  readonly route: ClusterPort['route'];
  readonly #options: GatewayOptions;
  readonly #workers: Workers;
  readonly #sessionNodes: SessionNodes;
  readonly #subscriptions: ClusterSubscriptions;
  readonly #known: KnownWorkers | undefined;
  readonly membership: Membership | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.node = options.isOneMachine ? undefined : options.identity.node;
    this.runsSessions = options.work.runsSessions;
    this.#workers = new Workers({
      ...options,
      hasLease: (nodeId) => this.#known?.hasLease(nodeId) === true,
      audience: () => options.connections.all().filter(isDeciding),
      onChange: () => {
        this.#subscriptions.refresh();
      },
      onLost: () => {
        options.metrics.count('cluster_node_losses_total', {});
      },
    });
    this.#subscriptions = new ClusterSubscriptions(() => this.#workers.all());
    const { registry, identity, role, work, leaseMs, log } = options;
    if (registry) {
      this.#known = new KnownWorkers(registry, this.#workers, identity.node, leaseMs);
      this.membership = new Membership({ registry, leaseMs, identity, role, work, onView: this.#known.update, log });
    }
    this.#sessionNodes = new SessionNodes(ownSessionNode(identity, work), this.#workers);
    const relay = makeRelay(options);
    const router = new Router(this.#sessionNodes, this.#subscriptions, relay, this.#shared());
    const routing = options.isOneMachine ? new OneMachine(router, this.#workers, relay) : router;
    // A node answers what another one has sent on to it.
    this.route = (received) => (received.caller.relayedBy === undefined ? routing.route(received) : undefined);
  }

  attach(caller: Caller): void {
    if (isDeciding(caller)) this.#each((link) => link.announce(caller));
  }

  detach(sink: EventSink): void {
    this.#subscriptions.detach(sink);
    this.#each((link) => link.detach(sink));
  }

  endAccess(principal: string): void {
    this.#each((link) => link.endAccess(principal));
  }

  readonly nodes: NodesPort = {
    list: () => ({ nodes: [this.#describe(), ...this.#workers.all().map((worker) => worker.describe())] }),
    register: async (registration) => {
      if (registration.node === this.#options.identity.node) throw ownName(registration.node);
      await this.#known?.register(registration);
      return { node: (await this.#workers.register(registration)).describe() };
    },
    remove: async ({ node }) => {
      await this.#known?.remove(this.#workers.get(node));
      this.#workers.get(node);
      this.#workers.remove(node);
      return { node };
    },
    drain: async ({ node, drain }) => {
      if (node === this.#options.identity.node) {
        this.setDraining(drain);
        return { node: this.#describe() };
      }
      const worker = this.#workers.get(node);
      const isTold = await worker.link.drain(drain);
      if (!isTold) throw nodeUnreachable(node, worker.link.problem ?? 'it is not connected');
      return { node: worker.describe() };
    },
  };

  load(): NodeLoad {
    return this.#options.work.load();
  }

  heldCounts(): HeldCounts {
    const { isOneMachine } = this.#options;
    const loads = isOneMachine ? this.#workers.all().flatMap(({ link }) => link.known?.load ?? []) : [];
    return {
      sessions: loads.reduce((sum, { sessions }) => sum + sessions, 0),
      commandsRunning: loads.reduce((sum, { commands_running: running = 0 }) => sum + running, 0),
    };
  }

  beginWork(): () => void {
    return this.#options.work.beginWork();
  }

  get isIdle(): boolean {
    return this.#options.work.isIdle;
  }

  setDraining(isDraining: boolean): void {
    this.#options.work.setDraining(isDraining);
    this.membership?.hasten();
  }

  findObstacle(): ErrorBody | undefined {
    const obstacle = obstacleOf(this.membership) ?? drainingObstacle(this.#options.work);
    if (obstacle) return obstacle;
    if (this.runsSessions || placeable(this.#workers.all(), {}).length > 0) return undefined;
    return noCapacity('no worker is connected that takes new work and has room').toBody();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.membership?.[Symbol.asyncDispose]();
    await this.#workers[Symbol.asyncDispose]();
  }

  #shared(): Shared | undefined {
    const { registry, identity, maxSessions, log } = this.#options;
    if (!registry || !this.#known) return undefined;
    return { known: this.#known, places: new SharedPlaces(registry, identity.node, maxSessions, log) };
  }

  #each(act: (link: Link) => void): void {
    for (const { link } of this.#workers.all()) act(link);
  }

  #describe(): NodeInfo {
    const { identity, role, work } = this.#options;
    return describeSelf(identity, role, work);
  }
}

/** Whether a client of this node decides. The other nodes know those of theirs. */
const isDeciding = (caller: Caller): caller is LinkedCaller =>
  caller.sink !== undefined && caller.relayedBy === undefined && DECIDING_ROLES.includes(caller.principal.role);

const ownName = (node: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', `this node itself is called ${node}: a worker needs another name`, {
    details: { field: 'node' },
  });

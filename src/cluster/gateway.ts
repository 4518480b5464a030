import type { Role } from '../core/principal.js';
import { AdapterError, type ErrorBody } from '../core/errors.js';
import type { ClusterPort, HeldCounts, NodesPort } from '../services/cluster-port.js';
import type { Caller, Connections, EventSink } from '../services/registry/caller.js';
import { noCapacity, nodeUnreachable } from './failures.js';
import { ClusterNode } from './cluster-node.js';
import { KnownWorkers } from './known-workers.js';
import type { LinkedCaller } from './link-clients.js';
import type { Link } from './link.js';
import { Membership, obstacleOf } from './membership.js';
import { drainingObstacle, type NodeWork, ownSessionNode } from './own-work.js';
import { makeRelay, type RelayRecorders } from './relay.js';
import { placeable, SessionNodes } from './placement.js';
import { SharedPlaces } from './places.js';
import type { RedisRegistry } from './registry/redis-registry.js';
import { OneMachine, Router, type Shared } from './router.js';
import { ClusterSubscriptions } from './subscribe.js';
import { Workers, type WorkersOptions } from './workers.js';

/** Roles whose clients decide for others: every worker has to know them. */
const DECIDING_ROLES: readonly Role[] = ['operator', 'admin'];

interface GatewayOptions extends WorkersOptions, RelayRecorders {
  readonly connections: Connections;
  readonly role: 'gateway' | 'node';
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
export class Gateway extends ClusterNode implements ClusterPort {
  readonly node: string | undefined;
  readonly route: ClusterPort['route'];
  readonly #options: GatewayOptions;
  readonly #workers: Workers;
  readonly #subscriptions: ClusterSubscriptions;
  readonly #known: KnownWorkers | undefined;
  readonly membership: Membership | undefined;

  constructor(options: GatewayOptions) {
    super(options.identity, options.role, options.work);
    this.#options = options;
    this.node = options.isOneMachine ? undefined : options.identity.node;
    this.#workers = new Workers(options, {
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
    const nodes = new SessionNodes(ownSessionNode(identity, work), this.#workers);
    const relay = makeRelay(options);
    const router = new Router(nodes, this.#subscriptions, relay, this.#shared());
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
    list: () => ({ nodes: [this.describe(), ...this.#workers.all().map((worker) => worker.describe())] }),
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
        return { node: this.describe() };
      }
      const worker = this.#workers.get(node);
      const isTold = await worker.link.drain(drain);
      if (!isTold) throw nodeUnreachable(node, worker.link.problem ?? 'it is not connected');
      return { node: worker.describe() };
    },
  };

  heldCounts(): HeldCounts {
    const { isOneMachine } = this.#options;
    const loads = isOneMachine ? this.#workers.all().flatMap(({ link }) => link.known?.load ?? []) : [];
    return {
      sessions: loads.reduce((sum, { sessions }) => sum + sessions, 0),
      commandsRunning: loads.reduce((sum, { commands_running: running = 0 }) => sum + running, 0),
    };
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
}

/** Whether a client of this node decides. The other nodes know those of theirs. */
const isDeciding = (caller: Caller): caller is LinkedCaller =>
  caller.sink !== undefined && caller.relayedBy === undefined && DECIDING_ROLES.includes(caller.principal.role);

const ownName = (node: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', `this node itself is called ${node}: a worker needs another name`, {
    details: { field: 'node' },
  });

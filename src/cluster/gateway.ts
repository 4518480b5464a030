import type { Role } from '../core/access/roles.js';
import type { NodeLoad } from '../core/cluster/link-messages.js';
import { AdapterError, type ErrorBody } from '../core/errors.js';
import type { NodeInfo } from '../core/protocol/requests/nodes.js';
import type { ClusterPort, NodesPort } from '../services/ports/cluster-port.js';
import type { Caller, EventSink } from '../services/registry/caller.js';
import type { Connections } from '../services/registry/connections.js';
import { nodeUnreachable, noCapacity } from './failures.js';
import { KnownWorkers } from './known-workers.js';
import type { Link } from './links/link.js';
import type { LinkedCaller } from './links/link-types.js';
import { Membership, obstacleOf } from './membership.js';
import { placeable } from './placement.js';
import { SharedPlaces } from './places.js';
import { makePass } from './pass.js';
import type { Registry } from './registry/registry.js';
import { makeRelay, type RelayRecorders } from './relay.js';
import { Router, type Shared } from './router.js';
import { ClusterSubscriptions } from './subscribe.js';
import { Workers, type WorkersOptions } from './workers.js';

/** Roles whose clients decide for others: every worker has to know them. */
const DECIDING_ROLES: readonly Role[] = ['operator', 'admin'];

/** Dependencies of `Gateway`. */
export interface GatewayOptions extends Omit<WorkersOptions, 'audience' | 'onChange' | 'onLost'>, RelayRecorders {
  readonly connections: Pick<Connections, 'all'>;
  /** Undefined where workers are registered at each gateway. */
  readonly registry: Registry | undefined;
  /** Most sessions of a token; with a registry on all nodes together. */
  readonly maxSessions: () => number;
}

/** The cluster of a gateway: it sends the requests of its clients on to workers, and runs nothing itself. */
export class Gateway implements ClusterPort {
  readonly runsSessions = false;
  readonly route: ClusterPort['route'];
  readonly passageFor: ClusterPort['passageFor'];
  readonly #options: GatewayOptions;
  readonly #workers: Workers;
  readonly #subscriptions: ClusterSubscriptions;
  readonly #known: KnownWorkers | undefined;
  readonly membership: Membership | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#workers = new Workers({
      ...options,
      audience: () => options.connections.all().filter(isDeciding),
      onChange: () => {
        this.#subscriptions.refresh();
      },
      onLost: () => {
        options.metrics.nodeLost();
      },
    });
    this.#subscriptions = new ClusterSubscriptions(() => this.#workers.all());
    const { registry, identity, leaseMs, log } = options;
    if (registry) {
      this.#known = new KnownWorkers({ registry, workers: this.#workers, ownNode: identity.node });
      const held = () => ({ sessions: [], claims: [] });
      const own = { registry, leaseMs, identity, role: 'gateway', labels: {}, load: () => this.load(), held } as const;
      this.membership = new Membership({ ...own, onView: this.#known.update, log });
    }
    const router = new Router(this.#workers, this.#subscriptions, makeRelay(options), this.#shared());
    this.route = (received) => router.route(received);
    const pass = makePass(options);
    this.passageFor = (request) => {
      const found = router.passing(request);
      return found && { send: (exchange) => pass(found, request, exchange) };
    };
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
      const worker = this.#workers.get(node);
      const isTold = await worker.link.drain(drain);
      if (!isTold) throw nodeUnreachable(node, worker.link.problem ?? 'it is not connected');
      return { node: worker.describe() };
    },
  };

  load(): NodeLoad {
    return { sessions: 0, one_shots: 0, capacity: 0, is_draining: false };
  }

  beginWork(): () => void {
    return () => undefined;
  }

  get isIdle(): boolean {
    return true;
  }

  setDraining(): void {
    throw new AdapterError('INVALID_REQUEST', 'a gateway runs no sessions, so it cannot be drained');
  }

  findObstacle(): ErrorBody | undefined {
    const conflict = obstacleOf(this.membership);
    if (conflict) return conflict;
    if (placeable(this.#workers.all(), {}).length > 0) return undefined;
    return noCapacity('no worker is connected that takes new work and has room').toBody();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.membership?.[Symbol.asyncDispose]();
    await this.#workers[Symbol.asyncDispose]();
  }

  #shared(): Shared | undefined {
    const { registry, identity, maxSessions, log } = this.#options;
    if (!registry || !this.#known) return undefined;
    return { known: this.#known, places: new SharedPlaces({ registry, ownNode: identity.node, maxSessions, log }) };
  }

  #each(act: (link: Link) => void): void {
    for (const { link } of this.#workers.all()) act(link);
  }

  #describe(): NodeInfo {
    const { node, version, instance_id } = this.#options.identity;
    const own = { role: 'gateway', state: 'live', problem: null, url: null } as const;
    return { node, ...own, version, instance_id, labels: {}, sessions: 0, capacity: 0, seen_at: null };
  }
}

const isDeciding = (caller: Caller): caller is LinkedCaller =>
  caller.sink !== undefined && DECIDING_ROLES.includes(caller.principal.role);

const ownName = (node: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', `this gateway itself is called ${node}: a worker needs another name`, {
    details: { field: 'node' },
  });

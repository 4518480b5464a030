import type { LinkIdentity, NodeLoad } from '../core/cluster/link-messages.js';
import { AdapterError, type ErrorBody } from '../core/errors.js';
import type { HeldSession } from '../services/sessions/sessions-options.js';
import type { CommandClaim } from './registry/registry.js';
import { Membership, type MembershipOptions, obstacleOf } from './membership.js';
import type { NodeInfo } from '../core/protocol/requests/nodes.js';
import type { ClusterPort, NodesPort } from '../services/ports/cluster-port.js';
import { nodeDraining } from './failures.js';

/** Dependencies of `WorkerNode`. */
export interface WorkerNodeOptions {
  readonly identity: LinkIdentity;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: () => number;
  readonly workload: () => Pick<NodeLoad, 'sessions' | 'one_shots'>;
  /** Undefined for a worker that is registered at gateways. */
  readonly registry: WorkerRegistry | undefined;
}

/** How a worker is in the registry. */
interface WorkerRegistry extends Pick<MembershipOptions, 'registry' | 'leaseMs' | 'log'> {
  /** The sessions that it has open, which the registry counts. */
  readonly sessions: () => readonly HeldSession[];
  /** The commands that run, and must run nowhere else. */
  readonly claims: () => readonly CommandClaim[];
}

const onGateways = (): never => {
  throw new AdapterError('INVALID_REQUEST', 'this node is a worker: nodes are registered at a gateway');
};

const otherNode = (node: string, own: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', `this worker is ${own}: ${node} is drained at a gateway`, {
    details: { field: 'node', nodes: [own] },
  });

/** The cluster of a worker: it answers everything itself, for the clients of gateways. */
export class WorkerNode implements ClusterPort {
  readonly runsSessions = true;
  readonly membership: Membership | undefined;
  readonly #options: WorkerNodeOptions;
  #isDraining = false;
  /** New work that is not over, or not yet a part of the workload. */
  #begun = 0;

  constructor(options: WorkerNodeOptions) {
    this.#options = options;
    const { registry, identity, labels } = options;
    this.membership =
      registry &&
      new Membership({
        ...registry,
        identity,
        labels,
        role: 'worker',
        load: () => withoutSessions(this.load(), registry.sessions().length),
        held: () => ({ sessions: registry.sessions(), claims: registry.claims() }),
      });
  }

  route(): undefined {
    return undefined;
  }

  passageFor(): undefined {
    return undefined;
  }

  attach(): void {
    // Its clients are those of gateways.
  }

  detach(): void {
    // The same.
  }

  endAccess(): void {
    // The same.
  }

  readonly nodes: NodesPort = {
    list: () => ({ nodes: [this.#describe()] }),
    register: onGateways,
    remove: onGateways,
    drain: ({ node, drain }) => {
      const { node: own } = this.#options.identity;
      if (node !== own) throw otherNode(node, own);
      this.setDraining(drain);
      return Promise.resolve({ node: this.#describe() });
    },
  };

  beginWork(): () => void {
    if (this.#isDraining) throw nodeDraining(this.#options.identity.node);
    this.#begun += 1;
    let isOver = false;
    return () => {
      if (!isOver) this.#begun -= 1;
      isOver = true;
    };
  }

  get isIdle(): boolean {
    const { sessions, one_shots: oneShots } = this.#options.workload();
    return sessions + oneShots + this.#begun === 0;
  }

  load(): NodeLoad {
    const { capacity, workload } = this.#options;
    return { ...workload(), capacity: capacity(), is_draining: this.#isDraining };
  }

  setDraining(isDraining: boolean): void {
    this.#isDraining = isDraining;
    this.membership?.hasten();
  }

  findObstacle(): ErrorBody | undefined {
    if (this.#isDraining) return { code: 'NODE_DRAINING', message: 'this node is being drained' };
    return obstacleOf(this.membership);
  }

  #describe(): NodeInfo {
    const { identity, labels, capacity, workload } = this.#options;
    const { node, version, instance_id } = identity;
    const { sessions, one_shots: oneShots } = workload();
    // A command without a session is counted as begun, too, until its answer.
    const carried = sessions + Math.max(oneShots, this.#begun);
    const state = this.#isDraining ? 'draining' : 'live';
    const own = { role: 'worker', state, problem: null, url: null, seen_at: null } as const;
    return { node, ...own, version, instance_id, labels, sessions: carried, capacity: capacity() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.membership?.[Symbol.asyncDispose]();
  }
}

/** What a node carries besides the sessions that the registry counts: one-shot commands, and the sessions of some of them. */
const withoutSessions = (load: NodeLoad, counted: number): NodeLoad => ({
  ...load,
  one_shots: load.one_shots + Math.max(0, load.sessions - counted),
});

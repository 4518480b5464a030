import type { LinkIdentity, NodeLoad } from '../core/cluster/link-messages.js';
import { AdapterError, type ErrorBody } from '../core/errors.js';
import type { NodeInfo } from '../core/protocol/requests/nodes.js';
import type { ClusterPort, HeldCounts, NodesPort } from '../services/cluster-port.js';
import { type Membership, obstacleOf } from './membership.js';
import { drainingObstacle, type NodeWork } from './own-work.js';
import type { NodeRole } from './registry/registry.js';

/** What each node of a cluster has: its work, and its lease in the registry. */
export abstract class ClusterNode {
  /** Undefined where nodes are registered at each gateway. */
  abstract readonly membership: Membership | undefined;
  readonly runsSessions: boolean;
  readonly #identity: LinkIdentity;
  readonly #role: NodeRole;
  readonly #work: NodeWork;

  constructor(identity: LinkIdentity, role: NodeRole, work: NodeWork) {
    this.runsSessions = work.runsSessions;
    this.#identity = identity;
    this.#role = role;
    this.#work = work;
  }

  beginWork(): () => void {
    return this.#work.beginWork();
  }

  get isIdle(): boolean {
    return this.#work.isIdle;
  }

  load(): NodeLoad {
    return this.#work.load();
  }

  setDraining(isDraining: boolean): void {
    this.#work.setDraining(isDraining);
    this.membership?.hasten();
  }

  /** This node as lists show it. */
  protected describe(): NodeInfo {
    const { node, version, instance_id } = this.#identity;
    const { labels, carried } = this.#work;
    const { capacity, is_draining: isDraining } = this.#work.load();
    const state = isDraining ? 'draining' : 'live';
    const own = { role: this.#role, state, problem: null, url: null, seen_at: null } as const;
    return { node, ...own, version, instance_id, labels, sessions: carried, capacity };
  }
}

const onGateways = (): never => {
  throw new AdapterError('INVALID_REQUEST', 'this node is a worker: nodes are registered at a gateway');
};

const otherNode = (node: string, own: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', `this worker is ${own}: ${node} is drained at a gateway`, {
    details: { field: 'node', nodes: [own] },
  });

/** The cluster of a worker: it answers everything itself, for the clients of gateways. */
export class WorkerNode extends ClusterNode implements ClusterPort {
  readonly node: string;
  readonly membership: Membership | undefined;
  readonly #work: NodeWork;

  /** @param membership undefined for a worker that is registered at gateways */
  constructor(identity: LinkIdentity, work: NodeWork, membership: Membership | undefined) {
    super(identity, 'worker', work);
    this.node = identity.node;
    this.membership = membership;
    this.#work = work;
  }

  route(): undefined {
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
    list: () => ({ nodes: [this.describe()] }),
    register: onGateways,
    remove: onGateways,
    drain: ({ node, drain }) => {
      if (node !== this.node) throw otherNode(node, this.node);
      this.setDraining(drain);
      return Promise.resolve({ node: this.describe() });
    },
  };

  heldCounts(): HeldCounts {
    return { sessions: 0, commandsRunning: 0 };
  }

  findObstacle(): ErrorBody | undefined {
    return drainingObstacle(this.#work) ?? obstacleOf(this.membership);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.membership?.[Symbol.asyncDispose]();
  }
}

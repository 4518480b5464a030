import type { LinkIdentity, NodeLoad } from '../core/cluster/link-messages.js';
import { AdapterError, type ErrorBody } from '../core/errors.js';
import type { ClusterPort, HeldCounts, NodesPort } from '../services/cluster-port.js';
import { Membership, type MembershipOptions, obstacleOf } from './membership.js';
import { describeSelf, drainingObstacle, type NodeWork } from './own-work.js';

/** Dependencies of `WorkerNode`. */
export interface WorkerNodeOptions {
  readonly identity: LinkIdentity;
  readonly work: NodeWork;
  /** Undefined for a worker that is registered at gateways. */
  readonly registry: Pick<MembershipOptions, 'registry' | 'leaseMs' | 'log'> | undefined;
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
  readonly node: string;
  readonly runsSessions = true;
  readonly membership: Membership | undefined;
  readonly #options: WorkerNodeOptions;

  constructor(options: WorkerNodeOptions) {
    this.#options = options;
    const { registry, identity, work } = options;
    this.node = identity.node;
    this.membership = registry && new Membership({ ...registry, identity, work, role: 'worker' });
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
    return this.#options.work.beginWork();
  }

  get isIdle(): boolean {
    return this.#options.work.isIdle;
  }

  load(): NodeLoad {
    return this.#options.work.load();
  }

  heldCounts(): HeldCounts {
    return { sessions: 0, commandsRunning: 0 };
  }

  setDraining(isDraining: boolean): void {
    this.#options.work.setDraining(isDraining);
    this.membership?.hasten();
  }

  findObstacle(): ErrorBody | undefined {
    return drainingObstacle(this.#options.work) ?? obstacleOf(this.membership);
  }

  #describe() {
    const { identity, work } = this.#options;
    return describeSelf(identity, 'worker', work);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.membership?.[Symbol.asyncDispose]();
  }
}

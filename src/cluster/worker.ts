import type { LinkIdentity, NodeLoad } from '../core/cluster/link-messages.js';
import { AdapterError, type ErrorBody } from '../core/errors.js';
import type { ClusterPort, HeldCounts, NodesPort } from '../services/cluster-port.js';
import { type Membership, obstacleOf } from './membership.js';
import { describeSelf, drainingObstacle, type NodeWork } from './own-work.js';

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
  readonly #identity: LinkIdentity;
  readonly #work: NodeWork;

  /** @param membership undefined for a worker that is registered at gateways */
  constructor(identity: LinkIdentity, work: NodeWork, membership: Membership | undefined) {
    this.node = identity.node;
    this.membership = membership;
    this.#identity = identity;
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
    list: () => ({ nodes: [this.#describe()] }),
    register: onGateways,
    remove: onGateways,
    drain: ({ node, drain }) => {
      if (node !== this.node) throw otherNode(node, this.node);
      this.setDraining(drain);
      return Promise.resolve({ node: this.#describe() });
    },
  };

  beginWork(): () => void {
    return this.#work.beginWork();
  }

  get isIdle(): boolean {
    return this.#work.isIdle;
  }

  load(): NodeLoad {
    return this.#work.load();
  }

  heldCounts(): HeldCounts {
    return { sessions: 0, commandsRunning: 0 };
  }

  setDraining(isDraining: boolean): void {
    this.#work.setDraining(isDraining);
    this.membership?.hasten();
  }

  findObstacle(): ErrorBody | undefined {
    return drainingObstacle(this.#work) ?? obstacleOf(this.membership);
  }

  #describe() {
    return describeSelf(this.#identity, 'worker', this.#work);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.membership?.[Symbol.asyncDispose]();
  }
}

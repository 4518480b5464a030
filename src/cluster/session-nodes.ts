import { unknownNode } from './failures.js';
import type { PlacementNode } from './placement.js';
import type { Worker, Workers } from './workers.js';

/** This node, where it runs sessions itself. */
export interface OwnSessionNode extends PlacementNode {
  readonly isHere: true;
  /** `name-incarnation`. */
  readonly nodeId: string;
  readonly problem: undefined;
  /** Notes that something is about to be placed here; the function ends that. */
  begin(): () => void;
}

/** A node that runs sessions: this one, or another one over a link. */
export type SessionNode = OwnSessionNode | Worker;

/** All nodes that run sessions, and that requests can be sent to. */
export class SessionNodes {
  /** Undefined for a gateway. */
  readonly own: OwnSessionNode | undefined;
  readonly #workers: Pick<Workers, 'all' | 'find'>;

  constructor(own: OwnSessionNode | undefined, workers: Pick<Workers, 'all' | 'find'>) {
    this.own = own;
    this.#workers = workers;
  }

  /** All of them, this node first. */
  all(): readonly SessionNode[] {
    return this.own ? [this.own, ...this.#workers.all()] : this.#workers.all();
  }

  /** The node of this name, or with this `name-incarnation`; undefined when there is none. */
  find(node: string): SessionNode | undefined {
    const { own } = this;
    return own && (own.name === node || own.nodeId === node) ? own : this.#workers.find(node);
  }

  /** @throws AdapterError INVALID_REQUEST when there is no node of this name */
  get(name: string): SessionNode {
    const all = this.all();
    const found = all.find((node) => node.name === name);
    if (found) return found;
    throw unknownNode(
      name,
      all.map((node) => node.name),
    );
  }
}

/** Whether which run of a node this is does not come from its lease alone, which may be over. */
export const isConnected = (node: SessionNode): boolean => node.isHere || node.link.state !== 'resting';

/** The same node, after an attempt to connect to it, if that is to come: it then knows which run of it this is. */
export async function connected(node: SessionNode): Promise<SessionNode> {
  if (!isConnected(node) && !node.isHere) await node.link.connect();
  return node;
}

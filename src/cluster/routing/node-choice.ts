import { AdapterError } from '../../core/errors.js';
import type { ReceivedRequest } from '../../services/ports/cluster-port.js';
import { noCapacity, nodeDraining } from '../failures.js';
import type { Placed } from './placed-request.js';
import { choosePlace } from '../placement.js';
import type { SessionNode, SessionNodes } from '../session-nodes.js';
import type { Wish } from './until-taken.js';

/** Chooses the node of what names none. */
export class NodeChoice {
  readonly #nodes: SessionNodes;

  constructor(nodes: SessionNodes) {
    this.#nodes = nodes;
  }

  /** The first choice, or another one once that has refused. */
  next(first: SessionNode, wish: Wish, except: ReadonlySet<string>): SessionNode {
    return except.size === 0 ? first : this.choose(wish, except);
  }

  /** The nodes that a placement allows. */
  wished(placement: Placed['placement']): readonly SessionNode[] {
    return placement?.node === undefined ? this.#nodes.all() : [this.#usable(placement.node)];
  }

  /**
   * Chooses the node of something new.
   * @throws AdapterError NO_CAPACITY, INVALID_REQUEST, NODE_DRAINING
   */
  choose(wish: Wish, except: ReadonlySet<string> = new Set()): SessionNode {
    const { placement, key } = wish;
    const left = this.wished(placement).filter(({ name }) => !except.has(name));
    const node = choosePlace(left, { labels: placement?.labels, key, preferred: this.#nodes.own?.name });
    if (!node) throw noCapacity(this.whyNone(placement));
    return node;
  }

  /** @throws AdapterError INVALID_REQUEST, NODE_DRAINING */
  #usable(name: string): SessionNode {
    const node = this.#nodes.get(name);
    if (node.isDraining) throw nodeDraining(name);
    return node;
  }

  /** The node of a request that is about files or a machine, and names none: this one, or the only one. */
  defaultNode({ name }: Pick<ReceivedRequest, 'name'>): SessionNode {
    const all = this.#nodes.all();
    const only = this.#nodes.own ?? all[0];
    if (!only) throw noCapacity('no worker is registered at this gateway: shell-adapter nodes register adds one');
    if (only.isHere || all.length === 1) return only;
    const nodes = all.map((node) => node.name);
    const message = `${name} is about one node: give session_id, or node: ${nodes.join(', ')}`;
    throw new AdapterError('INVALID_REQUEST', message, { details: { field: 'node', nodes } });
  }

  /** Why none of the nodes that a placement allows can take anything. */
  whyNone(placement: Placed['placement']): string {
    const { length } = this.#nodes.all();
    if (length === 0) return 'no worker is registered at this gateway: shell-adapter nodes register adds one';
    const wish = placement ? ` with ${JSON.stringify(placement)}` : '';
    return `none of ${length} ${this.#nodes.own ? 'nodes' : 'workers'}${wish} is connected, takes new work and has room`;
  }
}

import { AdapterError } from '../core/errors.js';
import type { RequestName, SessionRequest } from '../core/protocol/requests.js';
import { noCapacity, nodeDraining, unknownNode } from './failures.js';
import type { Worker, Workers } from './workers.js';

/** A node on which something could be placed. */
export interface PlacementNode {
  readonly name: string;
  readonly isLive: boolean;
  readonly isDraining: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Open sessions and running one-shot commands, those included that are about to be there. */
  readonly load: number;
  readonly capacity: number;
}

/** Where something may be placed. */
interface PlacementWish {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Has the same thing placed on the same node while the nodes stay the same, whichever gateway places it. */
  readonly key?: string | undefined;
  /** Name of the node that is chosen while it carries at most one more than the least full one; a key goes first. */
  readonly preferred?: string | undefined;
}

/** The nodes that can take something more. */
export const placeable = <N extends PlacementNode>(nodes: readonly N[], { labels = {} }: PlacementWish): readonly N[] =>
  nodes.filter(
    (node) =>
      node.isLive &&
      !node.isDraining &&
      node.load < node.capacity &&
      Object.entries(labels).every(([name, value]) => node.labels[name] === value),
  );

/**
 * The node on which something is placed: with a key by rendezvous hashing, otherwise the one that is least full; of
 * several the first by name. Undefined when none can take it.
 */
export function choosePlace<N extends PlacementNode>(nodes: readonly N[], wish: PlacementWish): N | undefined {
  const { key, preferred } = wish;
  const rankOf = key === undefined ? fullnessOf : (node: N) => -hashOf(`${key}\0${node.name}`);
  const able = placeable(nodes, wish);
  const first = able.reduce<N | undefined>((best, node) => {
    if (!best) return node;
    const difference = rankOf(node) - rankOf(best);
    return difference < 0 || (difference === 0 && node.name < best.name) ? node : best;
  }, undefined);
  const near = key === undefined ? able.find(({ name }) => name === preferred) : undefined;
  return first && near && near.load <= first.load + MAX_MORE ? near : first;
}

/**
 * The least full nodes that can take something more, as far as this node knows, at most `count` of them, and of equally
 * full ones the first by name; and the preferred one besides, if it can take it.
 */
export function leastFull<N extends PlacementNode>(
  nodes: readonly N[],
  wish: PlacementWish,
  count: number,
): readonly N[] {
  const able = placeable(nodes, wish);
  if (able.length <= count) return able;
  const ranked = able.map((node) => ({ node, fullness: fullnessOf(node) }));
  ranked.sort((a, b) => a.fullness - b.fullness || (a.node.name < b.node.name ? -1 : 1));
  const least = ranked.slice(0, count).map(({ node }) => node);
  const preferred = able.find(({ name }) => name === wish.preferred);
  return preferred && !least.includes(preferred) ? [...least, preferred] : least;
}

/** So much more than the least full node the preferred one may carry, as in the registry. */
const MAX_MORE = 1;

/** The one of these names to which a key belongs by rendezvous hashing, whichever node asks; undefined without names. */
export const rendezvous = (key: string, names: readonly string[]): string | undefined =>
  [...new Set(names)].sort().reduce<string | undefined>((best, name) => {
    const isBetter = best === undefined || hashOf(`${key}\0${name}`) > hashOf(`${key}\0${best}`);
    return isBetter ? name : best;
  }, undefined);

const fullnessOf = ({ load, capacity }: PlacementNode): number => load / capacity;

const FNV_OFFSET = 0x81_1c_9d_c5;
const FNV_PRIME = 0x01_00_01_93;

/** FNV-1a, 32 bits, with the last step of MurmurHash3 so that similar keys differ in all bits. */
function hashOf(text: string): number {
  let hash = FNV_OFFSET;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85_eb_ca_6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2_b2_ae_35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

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
  readonly #workers: Workers;

  constructor(own: OwnSessionNode | undefined, workers: Workers) {
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

  /**
   * Chooses the node of something new.
   * @throws AdapterError NO_CAPACITY, INVALID_REQUEST, NODE_DRAINING
   */
  choose({ placement, key }: PlacementRequest, except: ReadonlySet<string> = new Set()): SessionNode {
    const left = this.wished(placement).filter(({ name }) => !except.has(name));
    const node = choosePlace(left, { labels: placement?.labels, key, preferred: this.own?.name });
    if (!node) throw noCapacity(this.whyNone(placement));
    return node;
  }

  /**
   * The nodes that a placement allows.
   * @throws AdapterError INVALID_REQUEST, NODE_DRAINING
   */
  wished(placement: SessionRequest['placement']): readonly SessionNode[] {
    if (placement?.node === undefined) return this.all();
    const node = this.get(placement.node);
    if (node.isDraining) throw nodeDraining(node.name);
    return [node];
  }

  /** The node of a request that is about files or a machine, and names none: this one, or the only one. */
  defaultNode(request: RequestName): SessionNode {
    const all = this.all();
    const only = this.own ?? all[0];
    if (!only) throw noCapacity(NO_WORKERS);
    if (only.isHere || all.length === 1) return only;
    const nodes = all.map((node) => node.name);
    const message = `${request} is about one node: give session_id, or node: ${nodes.join(', ')}`;
    throw new AdapterError('INVALID_REQUEST', message, { details: { field: 'node', nodes } });
  }

  /** Why none of the nodes that a placement allows can take anything. */
  whyNone(placement: SessionRequest['placement']): string {
    const { length } = this.all();
    if (length === 0) return NO_WORKERS;
    const wish = placement ? ` with ${JSON.stringify(placement)}` : '';
    return `none of ${length} ${this.own ? 'nodes' : 'workers'}${wish} is connected, takes new work and has room`;
  }
}

const NO_WORKERS = 'no worker is registered at this gateway: shell-adapter nodes register adds one';

/** Where a request says that something may be placed. */
export interface PlacementRequest {
  readonly placement?: SessionRequest['placement'];
  /** As in `PlacementWish`. */
  readonly key?: string | undefined;
}

/** Whether the run of a node is known by a connection: a lease alone may be stale. */
export const isConnected = (node: SessionNode): boolean => node.isHere || node.link.state !== 'resting';

/** Connects to a node that is known only by its lease, so that its run is current. */
export async function connected(node: SessionNode): Promise<SessionNode> {
  if (!isConnected(node) && !node.isHere) await node.link.connect();
  return node;
}

import { setTimeout as sleep } from 'node:timers/promises';

import { LINK_VERSION } from '../core/cluster/link-messages.js';
import { nameOfNode, nodeIdFrom } from '../core/cluster/address.js';
import { AdapterError } from '../core/errors.js';
import { ID_BYTES } from '../core/ids.js';
import { randomText } from '../engine/system/random.js';
import type { RedisRegistry } from './registry/redis-registry.js';
import {
  type HeldLease,
  type NodeLease,
  type RegisteredWorker,
  registryUnavailable,
  type RegistryView,
} from './registry/registry.js';
import { rendezvous } from './placement.js';
import type { LinkedNode } from './link.js';
import type { Worker, Workers } from './workers.js';

/** Longest wait for the first connections to workers that have come, in milliseconds. */
const FIRST_LINKS_MS = 1000;

/** How often a registry that is being filled is asked again for a node, in milliseconds. */
const FILLING_PAUSE_MS = 100;

/**
 * Keeps the workers of this gateway as the registry has them: those that have a lease are connected to, those that have
 * lost it with their connection are forgotten. For workers without a registry of their own, one gateway keeps the lease.
 */
export class KnownWorkers {
  readonly #registry: RedisRegistry;
  readonly #workers: Workers;
  readonly #ownNode: string;
  readonly #leaseMs: number;
  #registered: ReadonlyMap<string, RegisteredWorker> = new Map();
  /** What the registry had last, and when that was. */
  #nodes: RegistryView['nodes'] = new Map();
  #readAt = -Infinity;
  #epoch: string | undefined;
  #isFirst = true;
  #firstLinks: Promise<void> | undefined;
  /** When all nodes have written their leases into the registry, if it was empty. */
  #filledAt: number;

  constructor(registry: RedisRegistry, workers: Workers, ownNode: string, leaseMs: number) {
    this.#registry = registry;
    this.#workers = workers;
    this.#ownNode = ownNode;
    this.#leaseMs = leaseMs;
    this.#filledAt = this.#fillingEnd();
  }

  readonly update = async (view: RegistryView): Promise<void> => {
    this.#nodes = view.nodes;
    this.#readAt = performance.now();
    const isLost = view.epoch !== this.#epoch && !this.#isFirst;
    if (isLost) this.#filledAt = this.#fillingEnd();
    if (view.epoch === undefined || isLost) await this.#restore();
    else this.#takeRegistered(view);
    for (const lease of view.nodes.values()) this.#adopt(lease);
    for (const worker of this.#registered.values()) this.#workers.adopt(worker);
    this.#forgetLost(view);
    this.#firstLinks ??= this.#awaitFirst();
    await this.#firstLinks;
    await this.#keepLeases(view);
  };

  /** Whether a run of a node had a lease when the registry was read last, which was less than a lease ago. */
  hasLease(nodeId: string): boolean {
    const isFresh = performance.now() - this.#readAt < this.#leaseMs;
    const held = isFresh ? this.#nodes.get(nameOfNode(nodeId)) : undefined;
    return held !== undefined && nodeIdFrom(held.node, held.incarnation) === nodeId;
  }

  /**
   * Finds a node that has come since the last beat; undefined when there is none with this `name-incarnation`, or name.
   * A registry that was emptied does not know the nodes before their next beats, so that one is waited for.
   */
  async find(node: string): Promise<Worker | undefined> {
    const found = await this.#findLease(node).catch((cause: unknown) => {
      this.assertAvailable(nameOfNode(node));
      throw cause;
    });
    if (!found) return undefined;
    this.#adopt(found.lease);
    await this.#workers.find(found.lease.node)?.link.attempted;
    return this.#workers.find(node);
  }

  async #findLease(node: string): Promise<HeldLease | undefined> {
    const latest = performance.now() + this.#leaseMs;
    for (;;) {
      const found = (await this.#registry.find(node)) ?? (await this.#registry.find(nameOfNode(node)));
      if (found || performance.now() > latest || !(await this.#isFilling())) return found;
      await sleep(FILLING_PAUSE_MS, undefined, { ref: false });
    }
  }

  /** Whether nodes may run that have not written their leases yet. */
  async #isFilling(): Promise<boolean> {
    const { epoch } = await this.#registry.read();
    return epoch !== this.#epoch || performance.now() < this.#filledAt;
  }

  /** A beat comes three times in a lease, and may be late. */
  #fillingEnd(): number {
    return performance.now() + this.#leaseMs / 2;
  }

  async register(worker: RegisteredWorker): Promise<void> {
    await this.#assertNoMember(worker.node);
    await this.#registry.register(worker);
    this.#registered = new Map([...this.#registered, [worker.node, worker]]);
  }

  async remove(worker: Worker): Promise<void> {
    await this.#assertNoMember(worker.name);
    await this.#registry.unregister(worker.name);
    this.#registered = new Map([...this.#registered].filter(([name]) => name !== worker.name));
  }

  get isAvailable(): boolean {
    return this.#registry.problem === undefined;
  }

  /**
   * @param node name of a node that is not known here
   * @throws AdapterError REGISTRY_UNAVAILABLE while nothing can be said of it
   */
  assertAvailable(node: string): void {
    const { problem } = this.#registry;
    if (problem !== undefined) throw registryUnavailable(problem, { node });
  }

  /** @throws AdapterError INVALID_REQUEST */
  async #assertNoMember(node: string): Promise<void> {
    const held = await this.#registry.find(node);
    if (!held || held.lease.kept_by !== undefined) return;
    const message = `${node} has joined the cluster on its own: it is neither registered nor removed; drain it, or stop its daemon`;
    throw new AdapterError('INVALID_REQUEST', message, { details: { field: 'node' } });
  }

  /** Writes the registered workers back into a registry that has lost them. */
  async #restore(): Promise<void> {
    this.#epoch = await this.#registry.restore([...this.#registered.values()], randomText(ID_BYTES));
    this.#isFirst = false;
  }

  #takeRegistered({ registered, epoch }: RegistryView): void {
    const next = new Map(registered.map((worker) => [worker.node, worker]));
    // Another gateway has removed it.
    for (const name of this.#registered.keys()) if (!next.has(name)) this.#workers.remove(name);
    this.#registered = next;
    this.#epoch = epoch;
    this.#isFirst = false;
  }

  #adopt(lease: NodeLease): void {
    const { node, url, role, kept_by } = lease;
    if (url === null || node === this.#ownNode || kept_by !== undefined || this.#registered.has(node)) return;
    this.#workers.adopt({ node, url, role, leased: leasedFrom(lease) });
  }

  #forgetLost({ nodes }: RegistryView): void {
    for (const { name, link } of this.#workers.all()) {
      if (nodes.has(name) || this.#registered.has(name)) continue;
      // The link says whether one runs whose lease is over, or was lost with the registry.
      if (link.state === 'lost') this.#workers.remove(name);
      else link.setLease(undefined);
    }
  }

  /** A gateway that starts has its workers before its first client. */
  async #awaitFirst(): Promise<void> {
    const attempts = this.#workers.all().map(({ link }) => link.attempted);
    if (attempts.length > 0)
      await Promise.race([Promise.all(attempts), sleep(FIRST_LINKS_MS, undefined, { ref: false })]);
  }

  async #keepLeases({ nodes }: RegistryView): Promise<void> {
    const gateways = [...nodes.values()].flatMap(({ node, role }) => (role === 'worker' ? [] : [node]));
    const kept = [...this.#registered.keys()].filter((name) => {
      const lease = nodes.get(name);
      const isOwn = lease !== undefined && lease.kept_by === undefined;
      return !isOwn && rendezvous(name, [this.#ownNode, ...gateways]) === this.#ownNode;
    });
    await Promise.all(kept.map((name) => this.#keepLease(this.#workers.find(name))));
  }

  async #keepLease(worker: Worker | undefined): Promise<void> {
    const known = worker?.link.known;
    if (!worker?.isLive || !known) return;
    const { url, labels = known.labels, capacity = known.load.capacity } = worker.registration;
    const sessions = (await worker.link.held()) ?? [];
    const others = Math.max(0, known.load.sessions - sessions.length);
    const lease: NodeLease = {
      node: worker.name,
      incarnation: known.id.slice(worker.name.length + 1),
      role: 'worker',
      url,
      labels,
      capacity,
      one_shots: known.load.one_shots + others,
      is_draining: known.load.is_draining,
      version: known.version,
      link_version: LINK_VERSION,
      instance_id: known.instance_id,
      kept_by: this.#ownNode,
    };
    const beat = { lease, sessions, claims: [] };
    const earlier = await this.#registry.beat(beat);
    // The worker itself has said that it was started again.
    if (earlier?.kept_by === undefined) return;
    await this.#registry.leave(worker.name, earlier.incarnation);
    await this.#registry.beat(beat);
  }
}

/** What a node says of itself by its lease; undefined for one of another release, to which the link tells what is wrong. */
function leasedFrom(lease: NodeLease): LinkedNode | undefined {
  if (lease.link_version !== LINK_VERSION) return undefined;
  const { node, incarnation, labels, version, instance_id, sessions = 0, one_shots, capacity, is_draining } = lease;
  const load = { sessions, one_shots, capacity, is_draining };
  return { id: nodeIdFrom(node, incarnation), load, labels, version, instance_id };
}

import type { LinkIdentity, NodeLoad } from '../core/cluster/link-messages.js';
import { nameOfNode } from '../core/cluster/address.js';
import type { Log } from '../core/log.js';
import type { NodeInfo } from '../core/protocol/requests/nodes.js';
import type { LinkSecret } from '../services/access/dashboard-links.js';
import { unknownNode } from './failures.js';
import { dial, LinkedHttp, type LinkTls } from './dial.js';
import { Link, type LinkedNode, type LinkListener, type LinkState } from './link.js';
import type { PlacementNode } from './placement.js';
import type { NodeRole, RegisteredWorker } from './registry/registry.js';

/** Time after which a link that is not used is closed, in milliseconds. */
const IDLE_MS = 60_000;

export interface WorkersOptions {
  readonly identity: LinkIdentity;
  readonly secret: LinkSecret;
  readonly tls: LinkTls | undefined;
  readonly leaseMs: number;
  readonly log: Log;
}

export interface Registration extends RegisteredWorker {
  /** @default `worker` */
  readonly role?: NodeRole | undefined;
  /** What it says in the registry, where it has a lease of its own. */
  readonly leased?: LinkedNode | undefined;
}

/** The workers that were registered at this gateway, each with a link. */
export class Workers implements AsyncDisposable {
  readonly #options: WorkersOptions;
  readonly #listener: LinkListener;
  readonly #workers = new Map<string, Worker>();

  constructor(options: WorkersOptions, listener: LinkListener) {
    this.#options = options;
    this.#listener = listener;
  }

  all(): readonly Worker[] {
    return [...this.#workers.values()];
  }

  /** The worker of this name, or with this `name-incarnation`; undefined when there is none. */
  find(node: string): Worker | undefined {
    const found = this.#workers.get(node) ?? this.#workers.get(nameOfNode(node));
    return found && (found.name === node || found.nodeId === node) ? found : undefined;
  }

  /** @throws AdapterError INVALID_REQUEST when there is none */
  get(name: string): Worker {
    const worker = this.#workers.get(name);
    if (worker) return worker;
    throw unknownNode(name, [...this.#workers.keys()]);
  }

  /** Adds a worker, or changes one of the same name. With another address, its connection ends, and what it had is lost. */
  async register(registration: Registration): Promise<Worker> {
    const worker = this.adopt(registration);
    await worker.link.attempted;
    return worker;
  }

  /** The same without waiting for the first attempt to connect. */
  adopt(registration: Registration): Worker {
    const known = this.#workers.get(registration.node);
    if (known?.change(registration) === true) return known;
    void this.#end(registration.node);
    const { node, url, leased } = registration;
    const { identity, secret, tls, leaseMs, log } = this.#options;
    const link = new Link({
      ...this.#listener,
      node,
      ownNode: identity.node,
      dial: (signal) => dial({ url, node, identity, secret, tls, signal }),
      leaseMs,
      idleMs: IDLE_MS,
      leased,
      log,
    });
    const http = new LinkedHttp({ node, url, ownNode: identity.node, tls, link });
    const worker = new Worker(registration, link, http);
    this.#workers.set(node, worker);
    // One that is not connected to changes nothing later.
    if (worker.isLive) this.#listener.onChange();
    return worker;
  }

  remove(node: string): boolean {
    const isKnown = this.#workers.has(node);
    void this.#end(node);
    return isKnown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#workers.keys()].map((node) => this.#end(node)));
  }

  async #end(node: string): Promise<void> {
    const worker = this.#workers.get(node);
    this.#workers.delete(node);
    await worker?.link[Symbol.asyncDispose]();
    worker?.http[Symbol.dispose]();
  }
}

/** One that is not needed is as good as one that is open. */
function shownState(state: LinkState, isDraining: boolean): NodeInfo['state'] {
  const shown = state === 'resting' ? 'live' : state;
  return shown === 'live' && isDraining ? 'draining' : shown;
}

const NO_LOAD: NodeLoad = { sessions: 0, one_shots: 0, capacity: 0, is_draining: false };

/** Another node that runs sessions, with its link. */
export class Worker implements PlacementNode {
  readonly isHere = false;
  readonly link: Link;
  readonly http: LinkedHttp;
  #registration: Registration;
  /** What was placed, or is being placed, since the worker last said what it carries. */
  #begun = 0;
  #countedWith: NodeLoad | undefined;
  #underWay = 0;

  constructor(registration: Registration, link: Link, http: LinkedHttp) {
    this.#registration = registration;
    this.link = link;
    this.http = http;
  }

  get registration(): Registration {
    return this.#registration;
  }

  /** Takes other labels and another capacity; returns false when the address has changed, too. */
  change(registration: Registration): boolean {
    if (registration.url !== this.#registration.url) return false;
    this.#registration = registration;
    this.link.setLease(registration.leased);
    return true;
  }

  get name(): string {
    return this.#registration.node;
  }

  /** `name-incarnation`; undefined before the first connection. */
  get nodeId(): string | undefined {
    return this.link.known?.id;
  }

  /** Why there is no connection; undefined while there is one. */
  get problem(): string | undefined {
    return this.link.problem;
  }

  get role(): NodeRole {
    return this.#registration.role ?? 'worker';
  }

  get isLive(): boolean {
    return this.link.state === 'live' || this.link.state === 'resting';
  }

  get isDraining(): boolean {
    return this.#load.is_draining;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#registration.labels ?? this.link.known?.labels ?? {};
  }

  get load(): number {
    const load = this.#load;
    const begun = this.#countedWith === load ? this.#begun : this.#underWay;
    return load.sessions + load.one_shots + begun;
  }

  get capacity(): number {
    return this.#registration.capacity ?? this.#load.capacity;
  }

  /** Notes that something is about to be placed there; the function ends that. */
  begin(): () => void {
    const load = this.#load;
    if (this.#countedWith !== load) this.#begun = this.#underWay;
    this.#countedWith = load;
    this.#begun += 1;
    this.#underWay += 1;
    return () => {
      this.#underWay -= 1;
    };
  }

  describe(): NodeInfo {
    const { state, known, problem, seenAt } = this.link;
    const { sessions, one_shots: oneShots, is_draining: isDraining } = this.#load;
    return {
      node: this.name,
      role: this.role,
      state: shownState(state, isDraining),
      problem: problem ?? null,
      url: this.#registration.url,
      version: known?.version ?? null,
      instance_id: known?.instance_id ?? null,
      labels: this.labels,
      sessions: sessions + oneShots,
      capacity: this.capacity,
      seen_at: seenAt?.toISOString() ?? null,
    };
  }

  get #load(): NodeLoad {
    return this.link.known?.load ?? NO_LOAD;
  }
}

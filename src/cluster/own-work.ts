import { hostname } from 'node:os';

import { idElsewhere, type LinkIdentity, type NodeLoad } from '../core/cluster/link-messages.js';
import { incarnationFrom, nodeIdFrom } from '../core/cluster/address.js';
import { AdapterError, type ErrorBody } from '../core/errors.js';
import { ID_BYTES, NODE_NAME } from '../core/ids.js';
import { until } from '../core/time.js';
import { randomBytes } from '../engine/system/random.js';
import type { Executions } from '../services/executions.js';
import type { CommandRegistry } from '../services/registry/command-registry.js';
import type { Services } from '../services/services.js';
import type { Sessions } from '../services/sessions/sessions.js';
import { nodeDraining } from './failures.js';
import type { HeldWork } from './registry/registry.js';
import type { OwnSessionNode } from './placement.js';

/** What a node itself runs, and whether it takes more. */
export interface NodeWork {
  readonly runsSessions: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** What the registry counts of it. */
  held(): HeldWork;
  /**
   * Begins new work: a session, a command without one, an LLM call. The function that is returned ends it.
   * @throws AdapterError NODE_DRAINING
   */
  beginWork(): () => void;
  /** Whether nothing runs here, and no new work is being begun. */
  readonly isIdle: boolean;
  /** Open sessions, running one-shot commands, and what is being begun. */
  readonly carried: number;
  load(): NodeLoad;
  /** @throws AdapterError INVALID_REQUEST for a node that runs nothing */
  setDraining(isDraining: boolean): void;
}

/** The work of a gateway: it runs nothing. */
export const NO_WORK: NodeWork = {
  runsSessions: false,
  labels: {},
  held: () => ({ sessions: [], claims: [] }),
  beginWork: () => () => undefined,
  isIdle: true,
  carried: 0,
  load: () => ({ sessions: 0, one_shots: 0, capacity: 0, is_draining: false }),
  setDraining: () => {
    throw new AdapterError('INVALID_REQUEST', 'a gateway runs no sessions, so it cannot be drained');
  },
};

interface OwnWorkOptions {
  readonly node: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: () => number;
  readonly sessions: Sessions;
  readonly executions: Executions;
  readonly registry: CommandRegistry;
}

/** The work of a node that runs sessions. */
export class OwnWork implements NodeWork {
  readonly runsSessions = true;
  readonly labels: Readonly<Record<string, string>>;
  readonly #options: OwnWorkOptions;
  #isDraining = false;
  /** New work that is not over, or not yet a part of the workload. */
  #begun = 0;

  constructor(options: OwnWorkOptions) {
    this.#options = options;
    this.labels = options.labels;
  }

  held(): HeldWork {
    const { sessions, registry, node } = this.#options;
    return {
      sessions: sessions.held(),
      claims: registry.runningByOwnId().map((claim) => ({ ...claim, owner: idElsewhere(claim.owner, node) })),
    };
  }

  beginWork(): () => void {
    if (this.#isDraining) throw nodeDraining(this.#options.node);
    this.#begun += 1;
    let isOver = false;
    return () => {
      if (!isOver) this.#begun -= 1;
      isOver = true;
    };
  }

  get isIdle(): boolean {
    const { sessions, executions } = this.#options;
    return sessions.registry.size + executions.running + this.#begun === 0;
  }

  get carried(): number {
    const { sessions, executions } = this.#options;
    // A command without a session is counted as begun, too, until its answer.
    return sessions.registry.size + Math.max(executions.running, this.#begun);
  }

  load(): NodeLoad {
    const { capacity, sessions, executions } = this.#options;
    return {
      sessions: sessions.registry.size,
      one_shots: executions.running,
      commands_running: sessions.registry.running + executions.running,
      capacity: capacity(),
      is_draining: this.#isDraining,
    };
  }

  setDraining(isDraining: boolean): void {
    this.#isDraining = isDraining;
  }
}

/** What a node carries: sessions that the registry counts; and as the rest one-shot commands, with the sessions of some. */
export function countedLoad(work: NodeWork): NodeLoad {
  const load = work.load();
  const sessions = work.held().sessions.length;
  return { ...load, sessions, one_shots: load.one_shots + Math.max(0, load.sessions - sessions) };
}

/** Why a node that is drained opens no session; undefined while it does. */
export const drainingObstacle = (work: NodeWork): ErrorBody | undefined =>
  work.load().is_draining ? { code: 'NODE_DRAINING', message: 'this node is being drained' } : undefined;

/** This node as one that requests can be sent to; undefined for a gateway. */
export function ownSessionNode({ node, incarnation }: LinkIdentity, work: NodeWork): OwnSessionNode | undefined {
  if (!work.runsSessions) return undefined;
  return {
    isHere: true,
    name: node,
    nodeId: nodeIdFrom(node, incarnation),
    problem: undefined,
    isLive: true,
    labels: work.labels,
    get isDraining() {
      return work.load().is_draining;
    },
    get load() {
      return work.carried;
    },
    get capacity() {
      return work.load().capacity;
    },
    // What is being begun counts already.
    begin: () => () => undefined,
  };
}

/** This run of a node, as ids and other nodes name it. */
export interface OwnNode {
  readonly name: string;
  /** `name-incarnation`. */
  readonly id: string;
  readonly incarnation: string;
}

/** Longest name of a node, in characters. */
const MAX_NAME = 24;

/**
 * Names this run of a node.
 * @param name that of the configuration
 * @default the name of the machine
 */
export function nameNode(name = nameFrom(hostname())): OwnNode {
  const incarnation = incarnationFrom(randomBytes(ID_BYTES));
  return { name, incarnation, id: nodeIdFrom(name, incarnation) };
}

/** A name of a machine as that of a node. */
function nameFrom(machine: string): string {
  const name = machine
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_NAME)
    .replaceAll(/^-+|-+$/g, '');
  return NODE_NAME.test(name) ? name : 'node';
}

/** How often a node that is drained is looked at, in milliseconds. */
const LOOK_MS = 100;

/**
 * Lets this node take no new work, and tells the clients that follow its sessions when it ends at the latest. Resolves
 * when nothing runs here, or after the time-out.
 * @returns whether nothing runs here
 */
export async function drainNode(services: Services, reason: string, timeoutMs: number): Promise<boolean> {
  const { cluster, connections, sessions } = services;
  cluster.setDraining(true);
  const channels = sessions.registry.all().map(({ channel }) => channel);
  for (const { sink } of connections.all()) {
    if (!sink || !channels.some((channel) => channel.isFollowedBy(sink))) continue;
    sink.send('server_shutdown', { reason: `the node is being drained (${reason})`, grace_ms: timeoutMs });
  }
  return until(() => cluster.isIdle, LOOK_MS, timeoutMs);
}

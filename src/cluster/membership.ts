import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { LinkIdentity } from '../core/cluster/link-messages.js';
import { AdapterError, type ErrorBody } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { MembershipPort, RegistryState, Rival } from '../services/cluster-port.js';
import { type NodeWork, countedLoad } from './own-work.js';
import { Heartbeat } from '../engine/system/heartbeat.js';
import type { RedisRegistry } from './registry/redis-registry.js';
import type { HeldLease, NodeLease, NodeRole, RegistryView } from './registry/registry.js';

/** Beats in the time of a lease: two may be lost. */
const BEATS_PER_LEASE = 3;
/** Time for a connection to the port of a node that may have ended, in milliseconds. */
const PROBE_TIMEOUT_MS = 1000;

export interface MembershipOptions {
  readonly registry: RedisRegistry;
  readonly leaseMs: number;
  readonly identity: LinkIdentity;
  readonly role: NodeRole;
  /** What this node runs. */
  readonly work: NodeWork;
  /** Gets all nodes with each beat; without it they are not read. */
  readonly onView?: ((view: RegistryView) => Promise<void>) | undefined;
  readonly log: Log;
}

/** The lease of this node in the registry, and what it reads there with each beat. */
export class Membership implements MembershipPort, AsyncDisposable {
  readonly #options: MembershipOptions;
  readonly #heartbeat: Heartbeat;
  #url: string | null = null;
  #renewedAt: number | undefined;
  #rival: NodeLease | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#heartbeat = new Heartbeat(options.leaseMs / BEATS_PER_LEASE, () => this.#beat());
  }

  get registry(): RegistryState {
    return this.#options.registry.problem === undefined ? 'available' : 'unavailable';
  }

  get rival(): Rival | undefined {
    return this.#rival;
  }

  get leaseAgeMs(): number | undefined {
    return this.#renewedAt === undefined ? undefined : performance.now() - this.#renewedAt;
  }

  async findRival(): Promise<Rival | undefined> {
    try {
      return await this.#findRival();
    } catch (error) {
      // Without a registry there is nothing to compare; the beats will tell.
      if (error instanceof AdapterError && error.code === 'REGISTRY_UNAVAILABLE') return undefined;
      throw error;
    }
  }

  async join(url: string | null): Promise<void> {
    this.#url = url;
    this.#options.registry.onReachable(this.hasten);
    await this.#heartbeat.start();
  }

  /** Has the next beat come at once: what other nodes read has changed. */
  readonly hasten = (): void => {
    this.#heartbeat.hasten();
  };

  async leave(): Promise<void> {
    const { registry, identity, log } = this.#options;
    await this.#heartbeat[Symbol.asyncDispose]();
    if (this.#renewedAt === undefined || registry.problem !== undefined) return;
    this.#renewedAt = undefined;
    await registry.leave(identity.node, identity.incarnation).catch((error: unknown) => {
      log.warn('the lease of this node could not be ended, and expires', { why: (error as Error).message });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }

  /**
   * A lease that is renewed belongs to a daemon that runs. That of one that was killed is over in a while, or ended at
   * once when nothing listens on its port any more.
   */
  async #findRival(): Promise<Rival | undefined> {
    const { registry, identity, leaseMs } = this.#options;
    let held = await registry.find(identity.node);
    const url = held?.lease.url ?? undefined;
    if (held && url !== undefined && (await isRefused(url))) {
      await registry.leave(identity.node, held.lease.incarnation);
      return undefined;
    }
    while (held) {
      await sleep(Math.min(held.remainingMs, leaseMs / BEATS_PER_LEASE) + 1);
      const next: HeldLease | undefined = await registry.find(identity.node);
      if (next && next.remainingMs > held.remainingMs) return next.lease;
      held = next;
    }
    return undefined;
  }

  /** Never rejects: the connection to the registry has told the log what is wrong. */
  async #beat(): Promise<void> {
    const { registry, onView, log } = this.#options;
    try {
      this.#note(await registry.beat({ lease: this.#lease(), ...this.#options.work.held() }));
      if (onView) await onView(await registry.read());
    } catch (error) {
      if (error instanceof AdapterError && error.code === 'REGISTRY_UNAVAILABLE') return;
      log.error('the nodes of the cluster could not be read', { error: String((error as Error).stack ?? error) });
    }
  }

  #note(rival: NodeLease | undefined): void {
    if (rival && rival.incarnation !== this.#rival?.incarnation)
      this.#options.log.error('another daemon that runs has the name of this node: no other node finds this one', {
        node: rival.node,
        incarnation: rival.incarnation,
        url: rival.url,
      });
    this.#rival = rival;
    if (!rival) this.#renewedAt = performance.now();
  }

  #lease(): NodeLease {
    const { identity, role, work } = this.#options;
    const load = countedLoad(work);
    return { ...identity, ...load, role, url: this.#url, labels: work.labels };
  }
}

/** Why a node cannot be found by others; undefined when it can, or once the registry answers again. */
export function obstacleOf(membership: MembershipPort | undefined): ErrorBody | undefined {
  const rival = membership?.rival;
  if (!rival) return undefined;
  const message = `another daemon that runs has the name of this node (incarnation ${rival.incarnation}, at ${rival.url ?? 'no address'})`;
  return { code: 'NODE_UNREACHABLE', message };
}

/** Whether nothing listens at an address: its daemon has ended. */
function isRefused(url: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port || (protocol === 'https:' ? 443 : 80)) });
    const settle = (isRefusal: boolean) => {
      socket.destroy();
      resolve(isRefusal);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => {
      settle(false);
    });
    socket.once('connect', () => {
      settle(false);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      settle(code === 'ECONNREFUSED');
    });
  });
}

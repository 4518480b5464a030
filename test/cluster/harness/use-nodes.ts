import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, expect } from 'vitest';

import type { Role } from '../../../src/core/principal.js';
import type { DaemonSettings, TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';
import { TestCluster } from './cluster.js';
import { RedisServer } from './redis.js';

/** Names of the nodes. */
const NAMES = ['node-1', 'node-2', 'node-3'] as const;

/** In seconds: short, so that nodes know each other soon. */
const LEASE = 3;
/** In seconds: sessions that a test has left do not keep it waiting. */
const DRAIN_TIMEOUT = 0.1;

/** Three equal nodes with Redis. */
export interface StartedNodes {
  readonly redis: RedisServer;
  readonly cluster: TestCluster;
  readonly nodes: readonly [TestDaemon, TestDaemon, TestDaemon];
  /** A client at each node, in their order, all with one token, by default a new one: it counts everywhere then. */
  readonly connect: (role?: Role, secret?: string) => Promise<[WireClient, WireClient, WireClient]>;
}

/** Makes a token at a node, under a name of its own. */
export const createToken = (node: TestDaemon, role: Role): string => node.createToken(role, `${role}-${randomUUID()}`);

/** Starts three nodes before the tests of a suite, hands them over when they know each other, and ends them after the tests. */
export function useNodes(
  take: (started: StartedNodes) => void,
  settings: DaemonSettings = {},
  common: Record<string, unknown> = {},
): void {
  const begun: AsyncDisposable[] = [];
  beforeAll(async () => {
    const redis = await RedisServer.start();
    begun.push(redis);
    const cluster = new TestCluster({ redis_url: redis.url, lease: LEASE, drain_timeout: DRAIN_TIMEOUT, ...common });
    begun.push(cluster);
    const [first, second, third] = await Promise.all(NAMES.map((name) => cluster.startNode(name, settings)));
    const nodes = [first!, second!, third!] as const;
    const connect: StartedNodes['connect'] = async (role = 'agent', secret = createToken(nodes[0], role)) => {
      const [one, two, three] = await Promise.all(
        nodes.map(({ url }) => eventually(() => WireClient.connect(url, ['websocket'], { token: secret }))),
      );
      return [one!, two!, three!] as [WireClient, WireClient, WireClient];
    };
    const started = { redis, cluster, nodes, connect };
    await knowEachOther(started);
    take(started);
  });
  afterAll(async () => {
    for (const one of begun.reverse()) await one[Symbol.asyncDispose]();
  });
}

/** Waits until each node is connected to both others. */
async function knowEachOther({ nodes }: StartedNodes): Promise<void> {
  const everyNode = nodes.map(async ({ url }) => {
    await using local = await WireClient.connect(url);
    await eventually(async () => {
      const { nodes: known } = await local.request('list_nodes');
      expect(known.map(({ node, role, state }) => `${node} ${role} ${state}`).sort()).toEqual(
        NAMES.map((name) => `${name} node live`),
      );
    });
  });
  await Promise.all(everyNode);
}

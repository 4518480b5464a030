import { afterAll, beforeAll } from 'vitest';

import type { Role } from '../../../src/core/principal.js';
import type { TestDaemon } from '../../support/daemon.js';
import type { WireClient } from '../../support/wire.js';
import { TestCluster, type TestWorker } from './cluster.js';

/** A gateway with its workers, and a client of the gateway. */
export interface StartedCluster {
  readonly cluster: TestCluster;
  readonly gateway: TestDaemon;
  readonly workers: readonly TestWorker[];
  /** The first worker. */
  readonly worker: TestWorker;
  /** With the role that was asked for. */
  readonly client: WireClient;
}

/** What `useCluster` starts. */
interface ClusterUse {
  /** @default `['worker-1']` */
  readonly workers?: readonly string[];
  /** @default `agent` */
  readonly role?: Role;
}

/** Starts a gateway with workers before the tests of a suite, hands them over, and ends them after the tests. */
export function useCluster(
  take: (started: StartedCluster) => void,
  { workers: names = ['worker-1'], role = 'agent' }: ClusterUse = {},
): void {
  let started: StartedCluster;
  beforeAll(async () => {
    const cluster = new TestCluster();
    const { gateway, workers } = await cluster.startWith(...names);
    started = { cluster, gateway, workers, worker: workers[0]!, client: await cluster.connect(gateway, role) };
    take(started);
  });
  afterAll(async () => {
    await started.client[Symbol.asyncDispose]();
    await started.cluster[Symbol.asyncDispose]();
  });
}

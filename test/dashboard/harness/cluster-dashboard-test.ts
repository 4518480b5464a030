import { TestCluster } from '../../cluster/harness/cluster.js';
import type { DaemonSettings } from '../../support/daemon.js';
import { dashboardTest } from './dashboard-test.js';

/** Names of the workers. */
export const WORKERS = ['worker-1', 'worker-2'] as const;

/** The same as `dashboardTest` with a gateway that has two workers: `daemon` is the gateway, `workers` have the settings. */
export const clusterDashboardTest = (settings: DaemonSettings = {}) =>
  dashboardTest({ settings })
    .extend('cluster', { scope: 'file' }, async ({ daemonOptions }, { onCleanup }) => {
      const cluster = new TestCluster();
      onCleanup(() => cluster[Symbol.asyncDispose]());
      const starts = WORKERS.map((name) => cluster.startWorker(name, daemonOptions.settings));
      const [gateway, ...workers] = await Promise.all([cluster.startGateway(), ...starts]);
      for (const worker of workers) await cluster.register(gateway, worker);
      return { gateway, workers };
    })
    .extend('workers', { scope: 'file' }, ({ cluster }) => cluster.workers)
    .override('daemon', { scope: 'file' }, ({ cluster }) => cluster.gateway);

import { TestCluster } from '../../cluster/harness/cluster.js';
import { isRepeated } from '../../support/daemon-test.js';
import type { DaemonSettings } from '../../support/daemon.js';
import { dashboardTest } from './dashboard-test.js';

/** Names of the workers. */
export const WORKERS = ['worker-1', 'worker-2'] as const;

/** The same as `dashboardTest` with a gateway that has two workers: `daemon` is the gateway, `workers` have the settings. */
export const clusterDashboardTest = (settings: DaemonSettings = {}) =>
  dashboardTest({ settings })
    .extend('clusterOfFile', { scope: 'file' }, async ({ daemonOptions }, { onCleanup }) => {
      const cluster = new TestCluster();
      onCleanup(() => cluster[Symbol.asyncDispose]());
      return start(cluster, daemonOptions.settings);
    })
    .extend('cluster', async ({ task, daemonOptions, clusterOfFile }, { onCleanup }) => {
      if (!isRepeated(task)) return clusterOfFile;
      const cluster = new TestCluster();
      onCleanup(() => cluster[Symbol.asyncDispose]());
      return start(cluster, daemonOptions.settings);
    })
    .extend('workers', ({ cluster }) => cluster.workers)
    .override('daemonOfFile', { scope: 'file' }, ({ clusterOfFile }) => clusterOfFile.gateway)
    .override('daemon', ({ cluster }) => cluster.gateway);

/** Starts a gateway and its workers. */
async function start(cluster: TestCluster, settings: DaemonSettings | undefined) {
  const starts = WORKERS.map((name) => cluster.startWorker(name, settings));
  const [gateway, ...workers] = await Promise.all([cluster.startGateway(), ...starts]);
  for (const worker of workers) await cluster.register(gateway, worker);
  return { gateway, workers };
}

import { TestCluster } from '../../cluster/harness/cluster.js';
import { canRunRedis, RedisServer } from '../../cluster/harness/redis.js';
import type { DaemonOptions, TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';

/** What rows through a gateway are run on. */
export interface GatewayBench extends AsyncDisposable {
  /** The daemon that runs the sessions. */
  readonly worker: TestDaemon;
  /** Address of the gateway. */
  readonly url: string;
}

/**
 * Starts a gateway in front of one worker, which it finds in a Redis of their own.
 * @param options of the worker
 * @throws Error without redis-server
 */
export async function startGatewayBench({ settings, ...options }: DaemonOptions = {}): Promise<GatewayBench> {
  if (!canRunRedis) throw new Error('redis-server is not installed: a run through a gateway needs it');
  const redis = await RedisServer.start();
  const cluster = new TestCluster({ redis_url: redis.url });
  const end = async () => {
    await cluster[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  };
  try {
    const [gateway, worker] = await Promise.all([
      cluster.startGateway(),
      cluster.startWorker('worker-1', settings, options),
    ]);
    await eventually(async () => {
      if ((await fetch(`${gateway.url}/readyz`)).status !== 200) throw new Error('the gateway has no worker yet');
    });
    return { worker: worker.daemon, url: gateway.url, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}

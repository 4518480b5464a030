import { setTimeout as sleep } from 'node:timers/promises';

import type { Services } from '../../services/services.js';

import type { RuntimeContext } from '../runtime-context.js';

/** How often a node that is drained is looked at, in milliseconds. */
const LOOK_MS = 100;

/** How a node that runs sessions is drained before it ends; undefined for other daemons. */
export function drainOf(services: Services, { configuration, node, log }: RuntimeContext) {
  const { cluster } = services;
  if (!node || !cluster.runsSessions) return undefined;
  return async (reason: string): Promise<void> => {
    const { drainTimeoutMs } = configuration().cluster;
    cluster.setDraining(true);
    announce(services, reason, drainTimeoutMs);
    const deadline = performance.now() + drainTimeoutMs;
    while (!cluster.isIdle && performance.now() < deadline) await sleep(LOOK_MS);
    if (!cluster.isIdle) log('cluster').warn('the node ends before all that runs there: cluster.drain_timeout is over');
  };
}

/** Tells the clients that follow a session when it ends at the latest. */
function announce({ connections, sessions }: Services, reason: string, graceMs: number): void {
  const channels = sessions.registry.all().map(({ channel }) => channel);
  for (const { sink } of connections.all()) {
    if (!sink || !channels.some((channel) => channel.isFollowedBy(sink))) continue;
    sink.send('server_shutdown', { reason: `the node is being drained (${reason})`, grace_ms: graceMs });
  }
}

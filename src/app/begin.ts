import type { Services } from '../services/services.js';

import type { Detachment } from './detach/detach.js';
import { takePart } from './detach/take-part.js';
import type { Engine } from './engine.js';
import { joinCluster } from './nodes/cluster.js';
import type { RuntimeContext } from './runtime-context.js';

/** Starts what runs and holds sessions, here or elsewhere; returns how that reads the configuration again. */
export async function begin(
  detachment: Detachment | undefined,
  engine: Engine,
  services: Services,
  context: RuntimeContext,
): Promise<() => void> {
  const [listener] = await Promise.all([joinCluster(engine, services, context), startShells(engine, services)]);
  return takePart(detachment, { engine, services, listener, context });
}

/** Starts the shells that are kept ready, except on a gateway. */
async function startShells({ pool, oneShots }: Engine, { cluster }: Services): Promise<void> {
  if (cluster.runsSessions) await Promise.all([pool.fill(), oneShots.fill()]);
}

/** Tells the audit log and the webhooks that the daemon takes requests, and begins to measure the machine. */
export function announceStart(
  { audit, notifications, version, configuration }: RuntimeContext,
  { host }: Services,
  detachment: Detachment | undefined,
): void {
  void host.start();
  const { file = null } = configuration();
  audit.record({ event: 'daemon_started', details: { version, pid: process.pid, configuration: file } });
  // Its daemon tells that.
  if (detachment?.as === 'holder') return;
  const message = `the daemon has started (version ${version})`;
  notifications.notify({ event: 'daemon_started', message, details: { version } });
}

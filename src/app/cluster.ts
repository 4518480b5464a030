import { readFileSync } from 'node:fs';

import { Gateway } from '../cluster/gateway.js';
import { WorkerNode } from '../cluster/worker.js';
import type { Configuration } from '../config/model/configuration.js';
import { type LinkIdentity, LINK_VERSION } from '../core/cluster/link-messages.js';
import { LinkSecret } from '../services/access/link-proof.js';
import { type ClusterPort, NO_CLUSTER } from '../services/ports/cluster-port.js';
import type { Services } from '../services/services.js';
import { LinkServer } from '../transports/nodes/link-server.js';
import { buildLinkHttp } from './link-http.js';

import type { Engine } from './engine.js';
import type { OwnNode } from './own-node.js';
import type { RuntimeContext } from './runtime-context.js';

/** The parts of the daemon that its cluster shows or asks. */
type Shown = Pick<Services, 'access' | 'sessions' | 'executions' | 'connections'>;

/** Builds what knows the other nodes. */
export function buildCluster(
  { instance }: Engine,
  { access, sessions, executions, connections }: Shown,
  context: RuntimeContext,
): ClusterPort {
  const { node, configuration, version, log, closers, traces, metrics } = context;
  if (!node) return NO_CLUSTER;
  const { cluster } = configuration();
  const identity = identityOf(node, instance, version);
  if (cluster.role === 'worker') {
    return new WorkerNode({
      identity,
      labels: cluster.labels,
      capacity: () => cluster.capacity ?? configuration().adapter.maxSessions,
      workload: () => ({ sessions: sessions.registry.size, one_shots: executions.running }),
    });
  }
  const { secret, tls } = credentialsOf(configuration());
  const about = { identity, secret, tls, leaseMs: cluster.leaseMs };
  const gateway = new Gateway({ ...about, connections, traces, metrics, log: log('cluster') });
  closers.push(() => gateway[Symbol.asyncDispose]());
  access.onTokenEnd((id) => {
    gateway.endAccess(id);
  });
  return gateway;
}

/** Has a worker listen for gateways; other daemons do not. Rejects when the port is in use. */
export async function listenForGateways(
  { instance }: Engine,
  services: Services,
  context: RuntimeContext,
): Promise<void> {
  const { node, configuration, version, log, closers } = context;
  const { cluster, socketio } = configuration();
  if (!node || cluster.role !== 'worker') return;
  const server = new LinkServer({
    services,
    identity: identityOf(node, instance, version),
    labels: cluster.labels,
    ...credentialsOf(configuration()),
    host: cluster.linkHost,
    port: cluster.linkPort,
    windowBytes: cluster.windowBytes,
    localRole: cluster.localRole,
    maxMessageBytes: socketio.maxMessageBytes,
    http: buildLinkHttp(services, context),
    log: log('cluster'),
  });
  closers.push(() => server[Symbol.asyncDispose]());
  const { address, port } = await server.listen();
  log('cluster').info('listening for gateways', { address, port });
}

const identityOf = ({ name, incarnation }: OwnNode, instance: string, version: string): LinkIdentity => ({
  node: name,
  incarnation,
  version,
  link_version: LINK_VERSION,
  instance_id: instance,
});

/** @throws the system's error when a file cannot be read; AdapterError for too short a secret */
function credentialsOf({ cluster: { secretFile = '', tls: files } }: Configuration) {
  const { cert, key, ca } = files;
  const tls = cert === undefined || key === undefined || ca === undefined ? undefined : { cert, key, ca };
  return {
    secret: new LinkSecret(secretFile),
    tls: tls && {
      cert: readFileSync(tls.cert, 'utf8'),
      key: readFileSync(tls.key, 'utf8'),
      ca: readFileSync(tls.ca, 'utf8'),
    },
  };
}

import { readFileSync } from 'node:fs';

import { Gateway } from '../cluster/gateway.js';
import { Membership } from '../cluster/membership.js';
import { NO_WORK, type OwnNode, OwnWork } from '../cluster/own-work.js';
import { WorkerNode } from '../cluster/cluster-node.js';
import type { Configuration } from '../config/model/configuration.js';
import { type ConfigurationError, configurationError } from '../config/model/problems.js';
import { LINK_VERSION, type LinkIdentity } from '../core/cluster/link-messages.js';
import { AdapterError } from '../core/errors.js';
import { LinkSecret } from '../services/access/dashboard-links.js';
import { type ClusterPort, NO_CLUSTER, type Rival } from '../services/cluster-port.js';
import type { Services } from '../services/services.js';
import { PrometheusMetrics } from '../transports/http/prometheus.js';
import { PatientRequests } from '../transports/http/http-requests.js';
import { type LinkHttp, LinkServer, metricsForDaemon, Tickets } from '../transports/link-server.js';
import { OpenAiEndpoint } from '../transports/openai.js';
import { forwardUpgrades, PreviewEndpoint } from '../transports/previews.js';
import { FileEndpoint } from '../transports/rest/files.js';
import type { RuntimeContext } from './context.js';
import type { Engine } from './engine.js';
import type { AccessServices, Shared, SessionServices } from './services.js';
import { quotaLimits } from './settings.js';

/** Builds what a worker serves over HTTP for the clients of gateways: what goes through a link serves the rest. */
function buildLinkHttp(services: Services, { configuration, metrics, log }: RuntimeContext): LinkHttp {
  const { adapter, http } = configuration();
  const { openai, rest } = http;
  const tickets = new Tickets();
  const patientRequests = new PatientRequests();
  const previews = { services, authentication: tickets, patientRequests, log: log('previews') };
  const endpoints = [
    ...(openai ? [new OpenAiEndpoint(services, tickets, log('openai'))] : []),
    ...(rest ? [new FileEndpoint({ ...previews, log: log('rest') })] : []),
    new PreviewEndpoint(previews),
  ];
  return {
    tickets,
    patientRequests,
    extensions: [
      ...endpoints.map(({ register }) => register),
      // The daemon shows what its holders measure as its own.
      ...(adapter.detach && metrics instanceof PrometheusMetrics ? [metricsForDaemon(metrics)] : []),
    ],
    takeUpgrades: (server) => {
      forwardUpgrades(server, { ...previews, originPolicy: undefined });
    },
  };
}

/** Builds what knows the other nodes. */
export function buildCluster(
  { instance }: Engine,
  { access }: AccessServices,
  { connections, executions, registry: commands }: Shared,
  { sessions }: SessionServices,
  context: RuntimeContext,
): ClusterPort {
  const { node, shared, configuration, version, log, closers, traces, metrics } = context;
  if (!node) return NO_CLUSTER;
  const { cluster } = configuration();
  const identity = identityOf(node, instance, version);
  const registry = shared?.registry;
  const { role } = cluster;
  const work =
    role === 'gateway'
      ? NO_WORK
      : new OwnWork({
          node: node.name,
          labels: cluster.labels,
          capacity: () => cluster.capacity ?? configuration().adapter.maxSessions,
          sessions,
          executions,
          registry: commands,
        });
  if (role === 'worker') {
    const joined = { identity, work, role, leaseMs: cluster.leaseMs, log: log('cluster') };
    return new WorkerNode(identity, work, registry && new Membership({ ...joined, registry }));
  }
  const gateway = closers.use(
    new Gateway({
      identity,
      role,
      work,
      ...credentialsOf(configuration()),
      leaseMs: cluster.leaseMs,
      isOneMachine: configuration().adapter.detach,
      registry,
      maxSessions: () => quotaLimits(configuration()).maxSessions,
      connections,
      traces,
      metrics,
      log: log('cluster'),
    }),
  );
  access.onTokenEnd((id, where) => {
    if (where === 'here') gateway.endAccess(id);
  });
  return gateway;
}

/**
 * Has the daemon join its cluster: a node that runs sessions listens for others, and the registry, if there is one, learns of the node.
 * Rejects when the port is in use.
 * @throws ConfigurationError when another daemon that runs has the same name
 */
export async function joinCluster(
  engine: Engine,
  services: Services,
  context: RuntimeContext,
): Promise<NodeListener | undefined> {
  const { node } = context;
  if (!node) return undefined;
  const { membership } = services.cluster;
  const rival = await membership?.findRival();
  if (rival) throw nameTaken(node.name, rival);
  const listener = services.cluster.runsSessions ? await listenForNodes(engine, services, context) : undefined;
  await membership?.join(listener?.url ?? null);
  return listener;
}

/** The port for other nodes of a daemon that listens for them. */
export interface NodeListener {
  readonly server: LinkServer;
  readonly port: number;
  /** Where other nodes reach it. */
  readonly url: string;
}

async function listenForNodes(
  { instance }: Engine,
  services: Services,
  context: RuntimeContext,
): Promise<NodeListener> {
  const { node, configuration, version, log, closers } = context;
  const { cluster, socketio } = configuration();
  if (!node) throw new AdapterError('INTERNAL', 'a daemon alone has no links');
  const server = closers.use(
    new LinkServer({
      services,
      identity: identityOf(node, instance, version),
      labels: cluster.labels,
      ...credentialsOf(configuration()),
      host: cluster.linkHost,
      port: cluster.linkPort,
      windowBytes: cluster.windowBytes,
      localRole: cluster.localRole,
      isOwnDaemon: configuration().daemon !== undefined,
      maxMessageBytes: socketio.maxMessageBytes,
      http: buildLinkHttp(services, context),
      log: log('cluster'),
    }),
  );
  const { address, port } = await server.listen();
  log('cluster').info('listening for gateways', { address, port });
  return { server, port, url: linkUrlOf(configuration(), port) };
}

/** Where other nodes reach the port for links. */
function linkUrlOf({ cluster: { linkUrl, linkHost, tls } }: Configuration, port: number): string {
  if (linkUrl !== undefined) return linkUrl;
  const host = linkHost.includes(':') ? `[${linkHost}]` : linkHost;
  return `${tls.cert === undefined ? 'http' : 'https'}://${host}:${port}`;
}

function nameTaken(name: string, { incarnation, url }: Rival): ConfigurationError {
  const where = url === null ? '' : `, and is reached at ${url}`;
  const message = `is ${name}, the name of a daemon that runs already (incarnation ${incarnation}${where}): each node needs a name of its own`;
  return configurationError('cluster.name', message);
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

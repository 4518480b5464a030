import type { FastifyInstance } from 'fastify';

import type { Log } from '../core/logging/log.js';
import type { Services } from '../services/services.js';
import type { PrometheusMetrics } from '../transports/http/metrics/prometheus.js';
import { addPages } from '../transports/dashboard/pages.js';
import { addSession, type SessionOptions } from '../transports/dashboard/session.js';
import { DASHBOARD_DIRECTORY, readDashboard } from '../transports/dashboard/files.js';
import { RequestAuthentication } from '../transports/http/authentication.js';
import { PatientRequests } from '../transports/http/patient-requests.js';
import { HttpServer } from '../transports/http/server.js';
import { toolRoutes } from '../transports/http/tools.js';
import { McpEndpoint } from '../transports/mcp/endpoint.js';
import { OpenAiEndpoint } from '../transports/openai/endpoint.js';
import { PreviewEndpoint } from '../transports/previews/endpoint.js';
import { forwardUpgrades } from '../transports/previews/upgrades.js';
import { descriptionRoutes } from '../transports/rest/descriptions.js';
import { FileEndpoint, type FileEndpointOptions } from '../transports/rest/files/endpoint.js';
import { RestEndpoint, type RestEndpointOptions } from '../transports/rest/endpoint.js';
import { SocketIoServer } from '../transports/socketio/server.js';

import type { RuntimeContext } from './runtime-context.js';

/** Builds the HTTP server and the transports on it. Does not listen yet. */
export function buildTransports(
  services: Services,
  metrics: PrometheusMetrics | undefined,
  context: RuntimeContext,
): { readonly http: HttpServer; readonly server: ClientServer } {
  const { configuration, log, closers } = context;
  const { readiness, access, admission, peers, refusals } = services;
  const { socketio } = configuration();
  const settings = servedOf(context);
  const originPolicy = { ...socketio, takesPages: access.takesPages };
  const authentication = new RequestAuthentication(access, admission);
  const common = { services, authentication };
  const patientRequests = new PatientRequests();
  const { extensions, mcp } = buildExtensions({ ...common, patientRequests }, settings, context);
  const http = new HttpServer({
    readiness,
    metrics,
    originPolicy,
    extensions,
    dashboard: settings.dashboard ? buildDashboard({ ...services, authentication }, log('http')) : undefined,
    admission,
    authentication,
    refusals,
    patientRequests,
    onUnixPeer: (peer) => {
      peers.noteUnixPeer(peer);
    },
    log: log('http'),
    ...socketio,
  });
  closers.push(() => http[Symbol.asyncDispose]());
  if (mcp) closers.push(() => mcp[Symbol.asyncDispose]());
  if (!settings.hasClients) return { http, server: NO_CLIENTS };
  const server = new SocketIoServer({ services, http: http.server, originPolicy, log: log('socketio'), ...socketio });
  closers.push(() => server[Symbol.asyncDispose]());
  forwardUpgrades(http.server, { ...common, originPolicy, log: log('previews') });
  return { http, server };
}

/** What is served over HTTP with a token. */
interface Extensions {
  readonly extensions: readonly ((routes: FastifyInstance) => void)[];
  readonly mcp: McpEndpoint | undefined;
}

function buildExtensions(
  common: Pick<FileEndpointOptions, 'patientRequests'> & Pick<RestEndpointOptions, 'services' | 'authentication'>,
  settings: ReturnType<typeof servedOf>,
  { configuration, version, log }: RuntimeContext,
): Extensions {
  const { socketio } = configuration();
  if (!settings.hasClients) {
    const own = new RestEndpoint({ ...common, only: OF_A_WORKER, log: log('rest'), ...socketio });
    return { extensions: [own.register], mcp: undefined };
  }
  const mcp = settings.mcp ? new McpEndpoint({ ...common, version, log: log('mcp'), ...socketio }) : undefined;
  const openai = settings.openai ? new OpenAiEndpoint({ ...common, log: log('openai') }) : undefined;
  const rest = settings.rest ? buildRest({ ...common, version, log: log('rest'), ...socketio }) : [];
  const previews = new PreviewEndpoint({ ...common, log: log('previews') });
  const endpoints = [openai, ...rest, mcp, previews].flatMap((endpoint) => endpoint?.register ?? []);
  return { extensions: [toolRoutes(common.authentication), ...endpoints], mcp };
}

/** What a worker serves on its own port: it can be drained there, without a gateway. */
const OF_A_WORKER = ['list_nodes', 'drain_node'] as const;

/** The clients over Socket.IO. */
export type ClientServer = Pick<SocketIoServer, 'clients' | 'announceShutdown'>;

/** A worker of a cluster has no clients of its own: those of gateways come over links. */
const NO_CLIENTS: ClientServer = { clients: 0, announceShutdown: () => undefined };

/** What is served beside health and metrics. */
function servedOf({ configuration, node }: RuntimeContext) {
  const { http, cluster } = configuration();
  if (!node) return { ...http, hasClients: true };
  if (cluster.role !== 'worker') return { ...http, hasClients: true };
  return { openai: false, rest: false, mcp: false, dashboard: false, hasClients: false };
}

/** Reads the built page; without it the daemon serves everything else. */
function buildDashboard(session: SessionOptions, log: Log): (routes: FastifyInstance) => void {
  const files = readDashboard(DASHBOARD_DIRECTORY);
  if (!files) log.warn('the dashboard is not built, so that / answers 503', { directory: DASHBOARD_DIRECTORY });
  return (routes) => {
    addPages(routes, files);
    addSession(routes, session);
  };
}

/** Builds what belongs to `http.rest`. */
function buildRest(
  options: RestEndpointOptions & Pick<FileEndpointOptions, 'patientRequests'> & { readonly version: string },
) {
  const descriptions = descriptionRoutes(options.authentication, options.version);
  return [new RestEndpoint(options), new FileEndpoint(options), { register: descriptions }];
}

import type { FastifyInstance } from 'fastify';

import type { Log } from '../core/log.js';
import type { Services } from '../services/services.js';
import {
  addPages,
  addSession,
  DASHBOARD_DIRECTORY,
  readDashboard,
  type SessionOptions,
} from '../transports/dashboard.js';
import { RequestAuthentication } from '../transports/http/authentication.js';
import { PatientRequests } from '../transports/http/http-requests.js';
import { PrometheusMetrics } from '../transports/http/prometheus.js';
import { toolRoutes } from '../transports/http/routes.js';
import { HttpServer } from '../transports/http/server.js';
import { McpEndpoint } from '../transports/mcp/endpoint.js';
import { OpenAiEndpoint } from '../transports/openai.js';
import { forwardUpgrades, PreviewEndpoint } from '../transports/previews.js';
import { descriptionRoutes, RestEndpoint } from '../transports/rest/endpoint.js';
import { FileEndpoint } from '../transports/rest/files.js';
import { SocketIoServer } from '../transports/socketio.js';
import type { RuntimeContext } from './context.js';

export interface Transports {
  readonly http: HttpServer;
  /** A worker of a cluster has no clients of its own: those of gateways come over links. */
  readonly server: SocketIoServer | undefined;
}

/** Builds the HTTP server and the transports on it. Does not listen yet. */
export function buildTransports(services: Services, context: RuntimeContext): Transports {
  const { configuration, log, closers, metrics, node } = context;
  const { socketio, http: served, cluster } = configuration();
  const { access, admission, peers, readiness, refusals } = services;
  const hasClients = !node || cluster.role !== 'worker';
  const originPolicy = { ...socketio, takesPages: access.takesPages };
  const authentication = new RequestAuthentication(access, admission);
  const patientRequests = new PatientRequests();
  const mcp =
    hasClients && served.mcp
      ? new McpEndpoint({ services, authentication, version: context.version, log: log('mcp'), ...socketio })
      : undefined;
  const http = closers.use(
    new HttpServer({
      readiness,
      admission,
      authentication,
      refusals,
      patientRequests,
      metrics: metrics instanceof PrometheusMetrics ? metrics : undefined,
      originPolicy,
      extensions: hasClients
        ? extensionsFor(services, authentication, patientRequests, mcp, context)
        : [new RestEndpoint({ services, authentication, isOfWorker: true, log: log('rest'), ...socketio }).register],
      dashboard:
        hasClients && served.dashboard
          ? buildDashboard({ access, admission, authentication, refusals }, log('http'))
          : undefined,
      onUnixPeer: (peer) => {
        peers.noteUnixPeer(peer);
      },
      log: log('http'),
      ...socketio,
    }),
  );
  if (mcp) closers.use(mcp);
  if (!hasClients) return { http, server: undefined };
  const server = closers.use(
    new SocketIoServer({ services, http: http.server, originPolicy, log: log('socketio'), ...socketio }),
  );
  forwardUpgrades(http.server, { services, authentication, originPolicy, log: log('previews') });
  return { http, server };
}

type Routes = (routes: FastifyInstance) => void;

/** What is served over HTTP with a token. */
function extensionsFor(
  services: Services,
  authentication: RequestAuthentication,
  patientRequests: PatientRequests,
  mcp: McpEndpoint | undefined,
  { configuration, version, log }: RuntimeContext,
): readonly Routes[] {
  const { socketio, http } = configuration();
  const passing = { services, authentication, patientRequests };
  return [
    toolRoutes(authentication),
    ...(http.openai ? [new OpenAiEndpoint(services, authentication, log('openai')).register] : []),
    ...(http.rest
      ? [
          new RestEndpoint({ services, authentication, log: log('rest'), ...socketio }).register,
          new FileEndpoint({ ...passing, log: log('rest') }).register,
          descriptionRoutes(authentication, version),
        ]
      : []),
    ...(mcp ? [mcp.register] : []),
    new PreviewEndpoint({ ...passing, log: log('previews') }).register,
  ];
}

/** Reads the built page; without it the daemon serves everything else. */
function buildDashboard(session: SessionOptions, log: Log): Routes {
  const files = readDashboard(DASHBOARD_DIRECTORY);
  if (!files) log.warn('the dashboard is not built, so that / answers 503', { directory: DASHBOARD_DIRECTORY });
  return (routes) => {
    addPages(routes, files);
    addSession(routes, session);
  };
}

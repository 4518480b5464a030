import type { FastifyInstance } from 'fastify';

import type { Log } from '../core/logging/log.js';
import type { Services } from '../services/services.js';
import type { PrometheusMetrics } from '../transports/http/prometheus.js';
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
  { configuration, version, log, closers }: RuntimeContext,
): { readonly http: HttpServer; readonly server: SocketIoServer } {
  const { readiness, access, admission, peers, refusals } = services;
  const { socketio, http: settings } = configuration();
  const originPolicy = { ...socketio, takesPages: access.takesPages };
  const authentication = new RequestAuthentication(access, admission);
  const common = { services, authentication };
  const mcp = settings.mcp ? new McpEndpoint({ ...common, version, log: log('mcp'), ...socketio }) : undefined;
  const openai = settings.openai ? new OpenAiEndpoint({ ...common, log: log('openai') }) : undefined;
  const patientRequests = new PatientRequests();
  const rest = settings.rest ? buildRest({ ...common, patientRequests, version, log: log('rest'), ...socketio }) : [];
  const previews = new PreviewEndpoint({ ...common, patientRequests, log: log('previews') });
  const endpoints = [openai, ...rest, mcp, previews].flatMap((endpoint) => endpoint?.register ?? []);
  const http = new HttpServer({
    readiness,
    metrics,
    originPolicy,
    extensions: [toolRoutes(authentication), ...endpoints],
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
  const server = new SocketIoServer({ services, http: http.server, originPolicy, log: log('socketio'), ...socketio });
  closers.push(() => server[Symbol.asyncDispose]());
  forwardUpgrades(http.server, { ...common, originPolicy, log: log('previews') });
  return { http, server };
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
function buildRest(options: RestEndpointOptions & FileEndpointOptions & { readonly version: string }) {
  const descriptions = descriptionRoutes(options.authentication, options.version);
  return [new RestEndpoint(options), new FileEndpoint(options), { register: descriptions }];
}

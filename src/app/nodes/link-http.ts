import type { Services } from '../../services/services.js';
import { PrometheusMetrics } from '../../transports/http/metrics/prometheus.js';
import { PatientRequests } from '../../transports/http/patient-requests.js';
import { metricsForDaemon } from '../../transports/nodes/metrics-route.js';
import type { LinkHttp } from '../../transports/nodes/link-server.js';
import { Tickets } from '../../transports/nodes/tickets.js';
import { OpenAiEndpoint } from '../../transports/openai/endpoint.js';
import { PreviewEndpoint } from '../../transports/previews/endpoint.js';
import { forwardUpgrades } from '../../transports/previews/upgrades.js';
import { FileEndpoint } from '../../transports/rest/files/endpoint.js';

import type { RuntimeContext } from '../runtime-context.js';

/** Builds what a worker serves over HTTP for the clients of gateways: what goes through a link serves the rest. */
export function buildLinkHttp(services: Services, { configuration, metrics, log }: RuntimeContext): LinkHttp {
  const { adapter, http } = configuration();
  const { openai, rest } = http;
  const tickets = new Tickets();
  const patientRequests = new PatientRequests();
  const common = { services, authentication: tickets, patientRequests };
  const previews = { ...common, log: log('previews') };
  const endpoints = [
    ...(openai ? [new OpenAiEndpoint({ ...common, log: log('openai') })] : []),
    ...(rest ? [new FileEndpoint({ ...common, log: log('rest') })] : []),
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

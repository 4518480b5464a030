import type { Exposition } from '../http/routes.js';
import type { Extension } from './link-routes.js';

/** Hosts of this machine alone: a page of another name that leads here is refused. */
const LOOPBACK = /^127\.0\.0\.1(?::\d+)?$/;

/** `GET /metrics` for the daemon of this machine, which needs no ticket: without names, and with fixed labels. */
export const metricsForDaemon =
  (metrics: Exposition): Extension =>
  (routes) => {
    routes.get('/metrics', async ({ headers }, reply) => {
      const isHere = headers.origin === undefined && LOOPBACK.test(headers.host ?? '');
      if (!isHere) return reply.code(403).send({ error: { code: 'FORBIDDEN', message: 'only for the daemon here' } });
      return reply.type(metrics.contentType).send(await metrics.render());
    });
  };

import type { FastifyInstance, FastifyServerFactory } from 'fastify';

import type { Log } from '../../core/logging/log.js';
import { beginRoutes } from '../http/routes.js';

/** Adds routes. */
export type Extension = (routes: FastifyInstance) => void;

/**
 * Builds the routes of the port for nodes: what clients of gateways ask for over HTTP. Gateways have checked hosts and
 * origins; each route demands a ticket.
 */
export function buildLinkRoutes(
  serverFactory: FastifyServerFactory,
  extensions: readonly Extension[],
  log: Log,
): FastifyInstance {
  const routes = beginRoutes(serverFactory, log);
  for (const extend of extensions) {
    void routes.register((scope, _options, done) => {
      extend(scope);
      done();
    });
  }
  return routes;
}

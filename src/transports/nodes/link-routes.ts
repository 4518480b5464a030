import { fastify, type FastifyInstance, type FastifyServerFactory } from 'fastify';

import type { Log } from '../../core/logging/log.js';
import { readJsonBodies } from '../http/json-body.js';
import { answerFailure, NO_SCHEMAS, sendNotFound } from '../http/routes.js';

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
  const routes = fastify({
    serverFactory,
    schemaController: { compilersFactory: NO_SCHEMAS },
    frameworkErrors: (error, _request, reply) => {
      answerFailure(error, reply, log);
    },
  });
  readJsonBodies(routes);
  routes.setNotFoundHandler(({ method, url }, reply) => sendNotFound(reply, method, url));
  routes.setErrorHandler((error: Error, _request, reply) => {
    answerFailure(error, reply, log);
  });
  for (const extend of extensions) {
    void routes.register((scope, _options, done) => {
      extend(scope);
      done();
    });
  }
  return routes;
}

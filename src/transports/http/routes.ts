import { fastify, type FastifyInstance, type FastifyReply, type FastifyServerFactory } from 'fastify';

import { AdapterError, type ErrorBody, type ErrorCode } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { Readiness } from '../../services/readiness.js';
import { type DoorSettings, refusalOf } from '../access.js';

/** What `/healthz` says: by the name a daemon knows another one that has its port. */
const HEALTHY = { status: 'ok', service: 'shell-adapter' } as const;

const NO_PAGES = 'web pages are refused here; they can connect with Socket.IO and a token';

/** Figures to show. */
export interface Exposition {
  /** `Content-Type` of `render`. */
  readonly contentType: string;
  render(): Promise<string>;
}

/** What the routes lead to. */
export interface RouteOptions {
  readonly readiness: Readiness;
  /** What `/metrics` shows; without it there is no such page. */
  readonly metrics: Exposition | undefined;
  /** Who may ask at all. Pages of a browser may not. */
  readonly door: DoorSettings;
  /** Adds the routes of other files; before their handlers it was seen that the request may come in at all. */
  readonly extensions: readonly ((routes: FastifyInstance) => void)[];
  readonly log: Log;
}

/**
 * The routes, on a server of the caller's making. Errors are `{ "error": { "code", "message" } }`, as in the protocol: 403
 * `FORBIDDEN` for what a web page or another host name asks, 401 `UNAUTHORIZED`, 429 `RATE_LIMITED`, 404 `UNKNOWN_REQUEST`, 4xx
 * `INVALID_REQUEST`, 500 `INTERNAL`.
 */
export function buildRoutes(serverFactory: FastifyServerFactory, options: RouteOptions): FastifyInstance {
  const { readiness, metrics, door, extensions, log } = options;
  const routes = fastify({
    serverFactory,
    frameworkErrors: (error, _request, reply) => {
      answerFailure(error, reply, log);
    },
  });
  routes.addHook('onRequest', async ({ raw, is404, method, url }, reply) => {
    const why = refusalOf(raw, door) ?? (raw.headers.origin === undefined ? undefined : NO_PAGES);
    if (why !== undefined) {
      log.warn('a request was refused', { why });
      return sendError(reply, 403, { code: 'FORBIDDEN', message: why });
    }
    // Before its body is read.
    return is404 ? sendNotFound(reply, method, url) : undefined;
  });
  routes.setNotFoundHandler(({ method, url }, reply) => sendNotFound(reply, method, url));
  routes.setErrorHandler((error: Error, _request, reply) => {
    answerFailure(error, reply, log);
  });
  routes.get('/healthz', (_request, reply) => uncached(reply).send(HEALTHY));
  routes.get('/readyz', async (_request, reply) => {
    const obstacle = await readiness.findObstacle();
    if (!obstacle) return uncached(reply).send({ status: 'ready' });
    const { code: reason, message } = obstacle;
    return uncached(reply).code(503).send({ status: 'unavailable', reason, message });
  });
  if (metrics) {
    routes.get('/metrics', async (_request, reply) =>
      uncached(reply)
        .type(metrics.contentType)
        .send(await metrics.render()),
    );
  }
  for (const extend of extensions) extend(routes);
  return routes;
}

/** What is true now is not in a minute. */
const uncached = (reply: FastifyReply): FastifyReply => reply.header('cache-control', 'no-store');

const sendError = (reply: FastifyReply, status: number, error: ErrorBody): FastifyReply =>
  uncached(reply).code(status).send({ error });

function sendNotFound(reply: FastifyReply, method: string, url: string): FastifyReply {
  const [path = ''] = url.split('?');
  const message = `there is no ${method} ${path}; Socket.IO clients connect to the address alone`;
  return sendError(reply, 404, { code: 'UNKNOWN_REQUEST', message });
}

/** Status codes of the errors that routes throw. */
const STATUS: Partial<Record<ErrorCode, number>> = { UNAUTHORIZED: 401, RATE_LIMITED: 429, SESSION_LIMIT: 503 };

function answerFailure(error: Error & { readonly statusCode?: number }, reply: FastifyReply, log: Log): void {
  if (error instanceof AdapterError && error.code !== 'INTERNAL') {
    if (error.code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Bearer');
    sendError(reply, STATUS[error.code] ?? 400, error.toBody());
    return;
  }
  const { statusCode: status = 500, message } = error;
  if (status < 500) {
    sendError(reply, status, { code: 'INVALID_REQUEST', message });
    return;
  }
  log.error('a request failed unexpectedly', { error: error.stack ?? String(error) });
  sendError(reply, 500, { code: 'INTERNAL', message: 'a fault in the adapter; the log has the details' });
}

import type { IncomingMessage } from 'node:http';

import { fastifyCors, type FastifyCorsOptions } from '@fastify/cors';
import {
  fastify,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
} from 'fastify';

import { AdapterError } from '../../core/errors.js';
import { isLoopbackAddress } from '../../core/ip-address.js';
import type { Log } from '../../core/log.js';
import { isToolFormat, isToolSet, TOOL_FORMATS, TOOL_SET_NAMES } from '../../core/tools/tool-sets.js';
import type { Admission, Refusals } from '../../services/access/admission.js';
import type { Readiness } from '../../services/machine/machine.js';
import { forwardingOf, isOfPage, type OriginPolicy, refusalOf } from '../access.js';
import { originOf, type RequestAuthentication } from './authentication.js';
import { errorAnswer, sendErrorAnswer } from './http-requests.js';
import type { PrometheusMetrics } from './prometheus.js';

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Whether a JSON text nests arrays and objects in more than `maxDepth` levels. The text need not be valid. `JSON.parse`
 * takes any depth, but what walks the value afterwards, as `JSON.stringify` does, runs out of stack.
 */
export function isNestedDeeper(json: string, maxDepth: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (CLOSING.has(code)) depth -= 1;
    else if (OPENING.has(code) && ++depth > maxDepth) return true;
  }
  return false;
}

/** Index of the quote that ends the string which begins at `start`; the length of the text when none does. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return json.length;
}

/** Levels of arrays and objects in a request: schemas of tools, the deepest values that clients send, have about 20. */
const MAX_DEPTH = 100;

const TOO_DEEP = `the JSON nests arrays and objects in more than ${MAX_DEPTH} levels`;

/** Reads the bodies of requests as JSON: 400 for what is nested too deep, or is no JSON. */
function readJsonBodies(routes: FastifyInstance): void {
  const parse = routes.getDefaultJsonParser('error', 'error');
  routes.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (isNestedDeeper(body, MAX_DEPTH)) done(Object.assign(new Error(TOO_DEEP), { statusCode: 400 }));
    else void parse(request, body, done);
  });
}

/** Answer of `/healthz`: the service name shows a daemon that another one uses its port. */
const HEALTHY = { status: 'ok', service: 'shell-adapter' } as const;

const NO_PAGES = 'web pages are refused here; with a token they can use Socket.IO, /v1 and /mcp';

/** Paths accepted from web pages. */
const FOR_PAGES = /^\/(?:v1\/|(?:mcp|openapi\.json|asyncapi\.json)(?:$|\?))/;

/**
 * CORS settings of the routes for web pages. Whether the page is allowed has been checked before; its token is part of
 * the request, and a browser never adds one automatically. Source: https://fetch.spec.whatwg.org/#http-cors-protocol
 */
const CORS: FastifyCorsOptions = {
  origin: true,
  methods: ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'],
  exposedHeaders: [
    'Accept-Ranges',
    'Content-Range',
    'ETag',
    'Idempotent-Replayed',
    'Mcp-Session-Id',
    'Mcp-Protocol-Version',
    'Retry-After',
    'WWW-Authenticate',
    'X-Ignored-Params',
    'X-Should-Retry',
  ],
  // In seconds: saves a preflight request before each request of a page.
  maxAge: 600,
  strictPreflight: false,
};

export interface RouteOptions {
  readonly readiness: Readiness;
  /** Metrics served at `/metrics`; undefined disables the route. */
  readonly metrics: PrometheusMetrics | undefined;
  /** Hosts and origins that are accepted. */
  readonly originPolicy: OriginPolicy;
  /**
   * Add the routes of other files. Host and origin have been checked before their handlers run. Browser pages may use
   * them, so each has to check the token.
   */
  readonly extensions: readonly ((routes: FastifyInstance) => void)[];
  /** Adds the routes of the dashboard, without CORS: pages of other origins cannot use them. Undefined disables it. */
  readonly dashboard: ((routes: FastifyInstance) => void) | undefined;
  readonly admission: Admission;
  readonly authentication: RequestAuthentication;
  readonly refusals: Refusals;
  readonly log: Log;
}

const unused = (): never => {
  throw new Error('no route has a schema');
};
/** Requests are checked by zod. Without this, fastify loads ajv and its own compilers: a tenth of the daemon's start. */
const NO_SCHEMAS = { buildValidator: unused, buildSerializer: unused };

/** Begins routes: bodies in JSON, and errors as in the protocol, also for requests without a route. */
export function beginRoutes(serverFactory: FastifyServerFactory, log: Log): FastifyInstance {
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
  return routes;
}

/**
 * Builds the routes on a server created by `serverFactory`. Errors are `{ "error": { "code", "message" } }`, as in the
 * protocol: 403 `FORBIDDEN` for web pages and unknown host names, 401 `UNAUTHORIZED`, 429 `RATE_LIMITED`, 404
 * `UNKNOWN_REQUEST`, 4xx `INVALID_REQUEST`, 500 `INTERNAL`.
 */
export function buildRoutes(serverFactory: FastifyServerFactory, options: RouteOptions): FastifyInstance {
  const { originPolicy, extensions, dashboard, admission, refusals, log } = options;
  const routes = beginRoutes(serverFactory, log);
  routes.addHook('onRequest', async ({ raw, is404, method, url }, reply) => {
    // CORS preflight applies to the paths for pages only; its handler would answer for any path.
    const isMissing = is404 || (method === 'OPTIONS' && !FOR_PAGES.test(url));
    const why = refusalOf(raw, originPolicy) ?? (isMissing ? refusalOfPage(raw) : undefined);
    if (why !== undefined) return refuse(raw, reply, why, refusals);
    // Answered before the body is read.
    return isMissing ? sendNotFound(reply, method, url) : undefined;
  });
  // Not an async hook: MCP streams have their headers sent in the turn in which they are answered.
  routes.addHook('onSend', ({ raw: { socket } }, reply, _payload, done) => {
    // A connection that has shown no token serves one request, so that it cannot stay open by being idle.
    if (admission.isUnfinished(socket)) reply.header('connection', 'close');
    done();
  });
  void routes.register((scope, _options, done) => {
    addOwnRoutes(scope, options);
    done();
  });
  if (dashboard) {
    void routes.register((scope, _options, done) => {
      dashboard(scope);
      done();
    });
  }
  void routes.register(async (scope) => {
    await scope.register(fastifyCors, CORS);
    for (const extend of extensions) extend(scope);
  });
  return routes;
}

/**
 * Adds the health and metrics routes. They need no token, so web pages may not use them; metrics that a proxy or another
 * machine asks for do.
 */
function addOwnRoutes(routes: FastifyInstance, options: RouteOptions): void {
  const { readiness, metrics, authentication, refusals } = options;
  routes.addHook('onRequest', async ({ raw }, reply) => {
    const why = refusalOfPage(raw);
    return why === undefined ? undefined : refuse(raw, reply, why, refusals);
  });
  routes.get('/healthz', (_request, reply) => uncached(reply).send(HEALTHY));
  routes.get('/readyz', async (_request, reply) => {
    const obstacle = await readiness.findObstacle();
    const state = stateOf(readiness);
    if (!obstacle) return uncached(reply).send({ status: 'ready', ...state });
    const { code: reason, message } = obstacle;
    return uncached(reply)
      .code(503)
      .send({ status: 'unavailable', reason, message, ...state });
  });
  if (metrics) {
    const onRequest = async (request: FastifyRequest) => {
      if (!isFromThisMachine(request.raw)) await authentication.authenticate(request);
    };
    routes.get('/metrics', { onRequest }, async (_request, reply) =>
      uncached(reply)
        .type(metrics.contentType)
        .send(await metrics.render()),
    );
  }
}

/** What an answer of `/readyz` has besides the status: each only if there is something to tell. */
const stateOf = ({ registry, uncaught }: Readiness) => ({
  ...(registry && { registry }),
  ...(uncaught && { uncaught_errors: { count: uncaught.count, last_at: uncaught.lastAt.toISOString() } }),
});

/** False for what a proxy forwards, too. */
const isFromThisMachine = ({ headers, socket: { remoteAddress } }: IncomingMessage): boolean =>
  forwardingOf(headers) === undefined && (remoteAddress === undefined || isLoopbackAddress(remoteAddress));

function refuse({ socket }: IncomingMessage, reply: FastifyReply, message: string, refusals: Refusals): FastifyReply {
  const error = { code: 'FORBIDDEN', message } as const;
  refusals.note(socket.remoteAddress ?? 'unix', originOf(socket), error);
  return sendErrorAnswer(reply, errorAnswer(error));
}

const refusalOfPage = ({ headers }: IncomingMessage): string | undefined => (isOfPage(headers) ? NO_PAGES : undefined);

/** These answers change over time. */
const uncached = (reply: FastifyReply): FastifyReply => reply.header('cache-control', 'no-store');

/** Answers a request for which there is no route. */
function sendNotFound(reply: FastifyReply, method: string, url: string): FastifyReply {
  const [path = ''] = url.split('?');
  const message = `there is no ${method} ${path}; Socket.IO clients connect to the address alone`;
  return sendErrorAnswer(reply, errorAnswer({ code: 'UNKNOWN_REQUEST', message }));
}

/** Answers a request that has failed: with an error of the catalogue as it is; others are logged. */
function answerFailure(error: Error & { readonly statusCode?: number }, reply: FastifyReply, log: Log): void {
  if (error instanceof AdapterError && error.code !== 'INTERNAL') {
    sendErrorAnswer(reply, errorAnswer(error.toBody()));
    return;
  }
  const { statusCode: status = 500, message } = error;
  if (status < 500) {
    sendErrorAnswer(reply, { ...errorAnswer({ code: 'INVALID_REQUEST', message }), status });
    return;
  }
  log.error('a request failed unexpectedly', { error: error.stack ?? String(error) });
  sendErrorAnswer(reply, errorAnswer({ code: 'INTERNAL', message: 'internal error; the log has the details' }));
}

/**
 * `GET /v1/tools`: the adapter's tools, for the `tools` field of a model request. `?format=openai` or
 * `?format=anthropic` returns `{ "tools": […] }`; without `format` the answer contains both, under these names.
 * `?tools=` selects a set, see `TOOL_SETS`; the default is `all`.
 */
export const toolRoutes =
  ({ authenticate: onRequest }: RequestAuthentication) =>
  (routes: FastifyInstance): void => {
    routes.get<{ Querystring: { readonly format?: unknown; readonly tools?: unknown } }>(
      '/v1/tools',
      { onRequest },
      async ({ query }) => {
        const { format, tools = 'all' } = query;
        if (!isToolSet(tools)) throw unknown('tools', tools, TOOL_SET_NAMES);
        // Few daemons are asked for them.
        const { toolDefinitions } = await import('../../core/tools/tools.js');
        if (format === undefined) {
          return Object.fromEntries(TOOL_FORMATS.map((name) => [name, toolDefinitions(name, tools)]));
        }
        if (isToolFormat(format)) return { tools: toolDefinitions(format, tools) };
        throw unknown('format', format, TOOL_FORMATS);
      },
    );
  };

const unknown = (field: string, value: unknown, known: readonly string[]): AdapterError =>
  new AdapterError('INVALID_REQUEST', `${field}: ${JSON.stringify(value)} is unknown; there are ${known.join(', ')}`);

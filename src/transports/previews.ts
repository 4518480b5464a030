import { type IncomingMessage, request as httpRequest, type Server } from 'node:http';
import type { Duplex, Readable } from 'node:stream';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { AdapterError, type ErrorBody } from '../core/errors.js';
import type { Log } from '../core/log.js';
import {
  answerHeaders,
  type ForwardedHeaders,
  OWN_ORIGIN_HEADER,
  parsePreviewUrl,
  requestHeaders,
  shownAt,
} from '../core/previews.js';
import {
  bodyOf,
  exchange,
  type ForwardedAnswer,
  hasBody,
  type HttpAnswer,
  joinUpgraded,
  sendAnswer,
  type Upgrading,
} from '../services/http-exchange.js';
import type { PortConnection } from '../services/previews.js';
import type { Services } from '../services/services.js';
import { isOfOwnPage, isOfPage, type OriginPolicy, refusalOf } from './access.js';
import { onAccessEnd } from './connection.js';
import { carryOut } from './dispatch.js';
import { type Admitted, type HttpAuthentication, originOf } from './http/authentication.js';
import { goneSignal, type PatientRequests, rawRequest, traceIn } from './http/http-requests.js';
import { refuseConnection } from './http/refused-connection.js';
import { answerOf, sendAnswer as sendJson } from './rest/answer.js';
import { UploadBody } from './rest/files.js';

/** A request for the program on a port. */
interface PortRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: ForwardedHeaders;
  /** Undefined without a body. */
  readonly body: Readable | undefined;
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
}

/**
 * Sends a request to the program on a port, its body as fast as the program reads it. The connection is disposed of when
 * the exchange is over.
 * @throws AdapterError PORT_UNREACHABLE; SESSION_NOT_FOUND when the session ends before the answer
 */
async function askPort(
  connection: PortConnection,
  { body, gone, method, path, headers }: PortRequest,
): Promise<HttpAnswer> {
  const { address, port, ended } = connection;
  try {
    const upstream = httpRequest({ host: address, port, method, path, headers, agent: false });
    const answer = await exchange(upstream, { body, over: [ended, gone] });
    bodyOf(answer).once('close', () => {
      connection[Symbol.dispose]();
    });
    return answer;
  } catch (cause) {
    connection[Symbol.dispose]();
    throw ended.aborted ? (ended.reason as AdapterError) : unreachable(connection, cause);
  }
}

function unreachable({ address, port }: PortConnection, cause: unknown): AdapterError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const details = { port, address };
  return new AdapterError('PORT_UNREACHABLE', `the program on port ${port} gave no answer: ${why}`, { details, cause });
}

/** Longest path that is recorded, in characters. */
const MAX_RECORDED = 200;

interface PreviewOptions {
  readonly services: Services;
  readonly authentication: HttpAuthentication;
  readonly log: Log;
}

/** What a request brings with it. */
interface Passing {
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
  readonly body: Readable | undefined;
  readonly isUpgrade: boolean;
}

/**
 * Authenticates a request for a preview. Pages of other origins may not make one, whatever they know.
 * @throws AdapterError UNAUTHORIZED, RATE_LIMITED, FORBIDDEN
 */
async function admitPreview(raw: IncomingMessage, { authentication }: PreviewOptions): Promise<Admitted> {
  if (isOfPage(raw.headers) && !isOfOwnPage(raw.headers)) {
    throw new AdapterError('FORBIDDEN', 'web pages of other origins cannot use previews of ports');
  }
  await authentication.authenticate({ raw });
  return authentication.admittedOf({ raw });
}

/**
 * Passes an admitted request on to the program on its port, as the request `preview_port` of the protocol: with its
 * quota, role and record. Never rejects for an error of the catalogue.
 */
async function forward(
  options: PreviewOptions,
  raw: IncomingMessage,
  { gone, body, isUpgrade }: Passing,
): Promise<ForwardedAnswer | { readonly error: ErrorBody }> {
  const { previews } = options.services;
  const { method = 'GET', url = '', headers } = raw;
  const { caller, isEncrypted } = options.authentication.admittedOf({ raw });
  const target = parsePreviewUrl(url);
  if (!target) throw new AdapterError('UNKNOWN_REQUEST', 'previews are at /v1/sessions/ID/ports/PORT/');
  const { prefix, path } = target;
  const payload = { session_id: target.sessionId, port: /^\d+$/.test(target.port) ? Number(target.port) : target.port };
  const host = headers.host ?? '';
  return carryOut(
    { ...options, trace: traceIn(headers) },
    { name: 'preview_port', payload, caller, http: () => rawRequest(raw, { gone, isEncrypted, body, isUpgrade }) },
    async (asked) => {
      const origin = shownAt({ port: asked.port, prefix, host, isEncrypted }, headers[OWN_ORIGIN_HEADER]);
      const connection = await previews.connect(asked, caller.principal);
      const sent = { method, path, headers: requestHeaders(headers, origin, isUpgrade), body, gone };
      const answer = await askPort(connection, sent);
      const shown = answerHeaders(answer.response.headers, origin, answer.upgraded !== undefined);
      return { ...answer, headers: shown };
    },
    // Queries may have secrets.
    () => ({ ...payload, method, path: path.replace(/\?.*$/s, '').slice(0, MAX_RECORDED) }),
  );
}

const PATH = '/v1/sessions/:session/ports/:port';
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

interface PreviewEndpointOptions extends PreviewOptions {
  readonly patientRequests: PatientRequests;
}

/**
 * `/v1/sessions/ID/ports/PORT/...`: passes HTTP on to a port on which a session listens. The content is foreign: browsers
 * are told to give it an origin of its own.
 */
export class PreviewEndpoint {
  readonly #options: PreviewEndpointOptions;

  constructor(options: PreviewEndpointOptions) {
    this.#options = options;
  }

  readonly register = (routes: FastifyInstance): void => {
    void routes.register((scope, _options, done) => {
      this.#addRoutes(scope);
      done();
    });
  };

  #addRoutes(scope: FastifyInstance): void {
    // Bodies are passed on as they come, whatever they are said to be.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, parsed) => {
      parsed(null);
    });
    const onRequest = async ({ raw }: FastifyRequest) => {
      await admitPreview(raw, this.#options);
    };
    for (const url of [PATH, `${PATH}/*`]) {
      scope.route({
        method: METHODS,
        url,
        // No CORS headers: pages of other origins may not read the answers.
        config: { cors: false },
        exposeHeadRoute: false,
        onRequest,
        handler: (request, reply) => this.#forward(request, reply),
      });
    }
  }

  async #forward(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { authentication, patientRequests, services } = this.#options;
    const { raw } = request;
    const { ended } = authentication.admittedOf(request);
    const gone = goneSignal(request, reply, ended);
    const hurry = patientRequests.begin(raw.socket);
    const content = new UploadBody(raw);
    reply.raw.once('close', () => {
      hurry();
      content.dismiss();
    });
    const body = hasBody(raw) ? raw : undefined;
    const forwarded = await forward(this.#options, raw, { gone, body, isUpgrade: false });
    if (!('error' in forwarded)) {
      reply.hijack();
      sendAnswer(forwarded, forwarded.headers, reply.raw);
      return reply;
    }
    content.dismiss();
    return sendJson(reply, answerOf(services.secrets.value(forwarded)));
  }
}

/** Longest time for the answer to an upgrade, in milliseconds. A client that goes meanwhile is not noticed. */
const ANSWER_MS = 30_000;

interface UpgradeOptions extends PreviewOptions {
  /** Undefined where only nodes connect, which have applied their own. */
  readonly originPolicy: OriginPolicy | undefined;
}

/**
 * Passes WebSocket on to ports of sessions. Has to be called after the other listeners for upgrades were added: they get
 * what is not for a port.
 */
export function forwardUpgrades(server: Server, options: UpgradeOptions): void {
  type Listener = (request: IncomingMessage, client: Duplex, head: Buffer) => void;
  const others = server.listeners('upgrade') as Listener[];
  server.removeAllListeners('upgrade');
  server.on('upgrade', (request, client, head) => {
    if (parsePreviewUrl(request.url ?? '')) void serve(options, request, { client, head });
    else for (const listener of others) listener.call(server, request, client, head);
  });
}

/** Never rejects. */
async function serve(options: UpgradeOptions, raw: IncomingMessage, { client, head }: Upgrading): Promise<void> {
  // ECONNRESET: 'close' follows.
  client.on('error', () => undefined);
  const gone = new AbortController();
  const end = () => {
    gone.abort();
  };
  const late = setTimeout(end, ANSWER_MS);
  client.once('close', end);
  try {
    assertWebSocket(raw, options);
    const grant = await admitPreview(raw, options);
    const stop = onAccessEnd(grant.ended, () => {
      client.destroy();
    });
    client.once('close', stop);
    const forwarded = await forward(options, raw, { gone: gone.signal, body: undefined, isUpgrade: true });
    if (!('error' in forwarded)) joinUpgraded(forwarded, { client, head });
    else {
      const { code, message, details } = options.services.secrets.value(forwarded).error;
      throw new AdapterError(code, message, details && { details });
    }
  } catch (error) {
    refuse(client, error, options);
  } finally {
    clearTimeout(late);
  }
}

function assertWebSocket(raw: IncomingMessage, { originPolicy, services: { refusals } }: UpgradeOptions): void {
  const why = originPolicy && refusalOf(raw, originPolicy);
  if (why !== undefined) {
    const error = new AdapterError('FORBIDDEN', why);
    refusals.note(raw.socket.remoteAddress ?? 'unix', originOf(raw.socket), error.toBody());
    throw error;
  }
  if (raw.method === 'GET' && raw.headers.upgrade?.toLowerCase() === 'websocket') return;
  throw new AdapterError('INVALID_REQUEST', 'ports of sessions take upgrades to WebSocket, by GET, and no other');
}

function refuse(client: Duplex, error: unknown, { log }: UpgradeOptions): void {
  if (error instanceof AdapterError) refuseConnection(client, error);
  else {
    log.error('an upgrade failed unexpectedly', { error: String(error) });
    client.destroy();
  }
}

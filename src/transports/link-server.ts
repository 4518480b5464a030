import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server as HttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { FastifyInstance, FastifyServerFactory } from 'fastify';
import { Server, type Socket } from 'socket.io';
import type { z } from 'zod';

import { onAbort } from '../core/abort.js';
import type { Role } from '../core/principal.js';
import { hello as helloSchema, LINK_VERSION, type LinkIdentity, TICKET_HEADER } from '../core/cluster/link-messages.js';
import { AdapterError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { type LinkSecret, randomNonce } from '../services/access/dashboard-links.js';
import type { Services } from '../services/services.js';
import type { Admitted, HttpAuthentication, RawRequest } from './http/authentication.js';
import type { PatientRequests } from './http/http-requests.js';
import type { PrometheusMetrics } from './http/prometheus.js';
import { beginRoutes } from './http/routes.js';
import { GatewayLink } from './gateway-link.js';
import { frameBytesFor } from './socketio.js';

type Extension = (routes: FastifyInstance) => void;

/**
 * Builds the routes of the port for nodes: what clients of gateways ask for over HTTP. Gateways have checked hosts and
 * origins; each route demands a ticket.
 */
function buildLinkRoutes(
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

/** How long a ticket may be used, in milliseconds: a connection has to be made first. */
const VALID_MS = 10_000;

/**
 * Tickets of gateways: each stands for the client of one request over HTTP. Only over a link, whose other end has proven
 * that it knows the secret, is one given.
 */
export class Tickets implements HttpAuthentication {
  readonly #open = new Map<string, { readonly admitted: Admitted; readonly forget: () => void }>();
  readonly #admitted = new WeakMap<IncomingMessage, Admitted>();

  /** Makes a ticket for a client; it ends with the access of the client. */
  issue(admitted: Admitted): string {
    const ticket = randomNonce();
    const forget = () => {
      clearTimeout(timer);
      stop();
      this.#open.delete(ticket);
    };
    this.#open.set(ticket, { admitted, forget });
    const timer = setTimeout(forget, VALID_MS).unref();
    const stop = onAbort(admitted.ended, () => this.#open.get(ticket)?.forget());
    return ticket;
  }

  /** @throws AdapterError UNAUTHORIZED without a ticket, and for one that was used or has expired */
  readonly authenticate = ({ raw }: RawRequest): Promise<void> => {
    const { [TICKET_HEADER]: ticket } = raw.headers;
    const issued = typeof ticket === 'string' ? this.#open.get(ticket) : undefined;
    if (!issued) {
      return Promise.reject(
        new AdapterError('UNAUTHORIZED', 'this port is for nodes: the request has no valid ticket'),
      );
    }
    issued.forget();
    this.#admitted.set(raw, issued.admitted);
    return Promise.resolve();
  };

  admittedOf({ raw }: RawRequest): Admitted {
    const admitted = this.#admitted.get(raw);
    if (!admitted) throw new AdapterError('INTERNAL', 'a route without authentication asks who has sent a request');
    return admitted;
  }
}

/** Interval of the heartbeat, and time to answer it, in milliseconds: a frozen node is noticed within both. */
const PING_MS = 2000;
/** Time for the proof of a gateway, in milliseconds. */
const HELLO_TIMEOUT_MS = 5000;
/** How often gateways are told what the node carries, if it has changed, in milliseconds. */
const LOAD_MS = 250;
/** A message may have its request around a payload of the largest size. */
const EXTRA_BYTES = 1024 * 1024;
/** Time for the headers of a request, and for the TLS handshake, in milliseconds. */
const HEADERS_TIMEOUT_MS = 5000;
/** How long an idle connection is kept, in milliseconds: longer than gateways use it. */
const KEPT_MS = 60_000;

export interface LinkServerOptions {
  readonly services: Services;
  readonly identity: LinkIdentity;
  readonly labels: Readonly<Record<string, string>>;
  readonly secret: LinkSecret;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Contents in PEM; undefined for links without TLS. */
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string } | undefined;
  readonly windowBytes: number;
  readonly localRole: Role;
  /** Whether the gateway is the daemon whose sessions this process holds: see `accepted`. */
  readonly isOwnDaemon: boolean;
  readonly maxMessageBytes: number;
  readonly http: LinkHttp;
  readonly log: Log;
}

export interface LinkHttp {
  readonly tickets: Tickets;
  readonly extensions: readonly Extension[];
  readonly patientRequests: PatientRequests;
  /** Adds what takes upgrades to WebSocket, after those of links. */
  readonly takeUpgrades: (server: HttpServer) => void;
}

/**
 * The port for gateways: a server of its own, with certificates on both sides, and a heartbeat faster than that of clients.
 * A gateway has proven that it knows the secret before any of its messages counts.
 */
export class LinkServer implements AsyncDisposable {
  readonly #options: LinkServerOptions;
  readonly #http: HttpServer;
  readonly #routes: FastifyInstance;
  readonly #io: Server;
  #lastLoad = '';
  #timer: NodeJS.Timeout | undefined;

  /** @throws the error of OpenSSL when the certificate or its key cannot be used */
  constructor(options: LinkServerOptions) {
    this.#options = options;
    const { http } = options;
    this.#routes = buildLinkRoutes((answer) => makeServer(options, answer), http.extensions, options.log);
    this.#http = this.#routes.server;
    http.patientRequests.attach(this.#http);
    this.#http.on('tlsClientError', (error: Error, { remoteAddress }: { remoteAddress?: string }) => {
      options.log.warn('a connection to the port for nodes was refused', { from: remoteAddress, why: error.message });
    });
    this.#io = new Server(this.#http, {
      serveClient: false,
      transports: ['websocket'],
      perMessageDeflate: false,
      maxHttpBufferSize: frameBytesFor(options.maxMessageBytes) + EXTRA_BYTES,
      pingInterval: PING_MS,
      pingTimeout: PING_MS,
      connectTimeout: HELLO_TIMEOUT_MS,
      allowRequest: refusePages,
    });
    this.#io.on('connection', (socket) => {
      this.#challenge(socket);
    });
    http.takeUpgrades(this.#http);
  }

  /** How many gateways are connected, and have proven who they are. */
  get gateways(): number {
    return this.#io.sockets.adapter.rooms.get(ADMITTED)?.size ?? 0;
  }

  /** Starts listening; returns the address. Rejects when the port is in use. */
  async listen(): Promise<AddressInfo> {
    await this.#routes.ready();
    this.#http.listen(this.#options.port, this.#options.host);
    await once(this.#http, 'listening');
    this.#timer = setInterval(this.#tellLoad, LOAD_MS).unref();
    return this.#http.address() as AddressInfo;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    if (this.#http.listening) await this.#io.close();
    await this.#routes.close();
  }

  #challenge(socket: Socket): void {
    const nonce = randomNonce();
    const timer = setTimeout(() => socket.disconnect(true), HELLO_TIMEOUT_MS);
    socket.once('disconnect', () => {
      clearTimeout(timer);
    });
    socket.once('hello', (message: unknown, acknowledge: unknown) => {
      clearTimeout(timer);
      if (typeof acknowledge === 'function')
        this.#admit(socket, { message, nonce, acknowledge: acknowledge as Acknowledge });
      else socket.disconnect(true);
    });
    socket.emit('challenge', { link_version: LINK_VERSION, nonce });
  }

  #admit(socket: Socket, { message, nonce: dialled, acknowledge }: Introduction): void {
    const { secret, identity, labels, services, log } = this.#options;
    const parsed = helloSchema.safeParse(message);
    const why = parsed.success ? this.#refusalOf(parsed.data, dialled) : 'the hello cannot be read';
    if (!parsed.success || why !== undefined) {
      const from = socket.request.socket.remoteAddress;
      log.warn('a node was refused', { from, node: parsed.data?.node, why });
      acknowledge({ refused: why });
      socket.disconnect(true);
      return;
    }
    const { node, nonce: dialling } = parsed.data;
    const proof = secret.prove('dialled', { dialling, dialled }, identity);
    void socket.join(ADMITTED);
    new GatewayLink(socket, node, this.#options);
    log.info('a gateway is connected', { node });
    services.audit.record({ event: 'connected', from: `node ${node}` });
    acknowledge({ ...identity, proof, labels, load: services.cluster.load() });
  }

  #refusalOf(hello: z.output<typeof helloSchema>, dialled: string): string | undefined {
    const { proof, nonce: dialling, ...them } = hello;
    const { secret, identity } = this.#options;
    if (!secret.accepts(proof, 'dialling', { dialling, dialled }, them))
      return 'the secret is not that of this cluster';
    if (hello.link_version !== LINK_VERSION)
      return `this node speaks version ${LINK_VERSION} of links, not ${hello.link_version}`;
    return hello.node === identity.node ? `this node is called ${hello.node} too` : undefined;
  }

  readonly #tellLoad = (): void => {
    const load = this.#options.services.cluster.load();
    const text = JSON.stringify(load);
    if (text === this.#lastLoad) return;
    this.#lastLoad = text;
    this.#io.to(ADMITTED).emit('load', load);
  };
}

/** The gateways that have proven who they are. */
const ADMITTED = 'admitted';

type Acknowledge = (reply: unknown) => void;

interface Introduction {
  readonly message: unknown;
  readonly nonce: string;
  readonly acknowledge: Acknowledge;
}

/** Nodes send no `Origin`: a request with one comes from a web page. */
const refusePages = (
  { headers }: IncomingMessage,
  decide: (refusal: string | null, isAllowed: boolean) => void,
): void => {
  const isPage = headers.origin !== undefined;
  decide(isPage ? 'web pages cannot connect to nodes' : null, !isPage);
};

function makeServer({ tls }: LinkServerOptions, answer: RequestListener): HttpServer {
  const limits = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEPT_MS,
  };
  if (!tls) return createServer(limits, answer);
  const secure = { ...limits, handshakeTimeout: HEADERS_TIMEOUT_MS, minVersion: 'TLSv1.3' } as const;
  return createTlsServer({ ...secure, ...tls, requestCert: true, rejectUnauthorized: true }, answer);
}

/** Hosts of this machine alone: a page of another name that leads here is refused. */
const LOOPBACK = /^127\.0\.0\.1(?::\d+)?$/;

/** `GET /metrics` for the daemon of this machine, which needs no ticket: without names, and with fixed labels. */
export const metricsForDaemon =
  (metrics: PrometheusMetrics): Extension =>
  (routes) => {
    routes.get('/metrics', async ({ headers }, reply) => {
      const isHere = headers.origin === undefined && LOOPBACK.test(headers.host ?? '');
      if (!isHere) return reply.code(403).send({ error: { code: 'FORBIDDEN', message: 'only for the daemon here' } });
      return reply.type(metrics.contentType).send(await metrics.render());
    });
  };

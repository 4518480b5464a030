import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import type { FastifyInstance } from 'fastify';

import { buildRoutes, type RouteOptions } from './routes.js';

/** Time for a client to send its HTTP headers: a slow one must not hold a connection for Node's minute. */
const HEADERS_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 15_000;
/** How long connections may take to end by themselves at the daemon's end: clients on this machine need no more. */
const LAST_BYTES_MS = 250;

/** What the server is made of. */
export interface HttpOptions extends RouteOptions {
  /** A loopback address, or `localhost`. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

/**
 * The daemon's one port. It answers HTTP requests by the routes beside this file; Socket.IO attaches itself to `server` and
 * takes what is below `/socket.io/`.
 */
export class HttpServer implements AsyncDisposable {
  /** To attach to, before `listen`. */
  readonly server: Server;
  readonly #options: HttpOptions;
  readonly #routes: FastifyInstance;
  /** Every connection, those that have become WebSockets included. */
  readonly #connections = new Set<Socket>();
  /** Resolves when nothing listens and no connection is left; undefined while it has not listened. */
  #closed: Promise<void> | undefined;

  constructor(options: HttpOptions) {
    this.#options = options;
    const limits = { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS };
    this.#routes = buildRoutes((handler) => createServer(limits, handler), options);
    this.server = this.#routes.server;
    this.server.on('connection', (connection) => {
      this.#connections.add(connection);
      connection.once('close', () => this.#connections.delete(connection));
    });
  }

  /** Listens; gives the address. Rejects when the port is taken. */
  async listen(): Promise<AddressInfo> {
    const { host, port } = this.#options;
    await this.#routes.ready();
    // Not by Fastify, which gives each address of `localhost` a server of its own: Socket.IO would know of one of them.
    this.server.listen(port, host);
    await once(this.server, 'listening');
    this.#closed = new Promise((resolve) => this.server.once('close', resolve));
    return this.server.address() as AddressInfo;
  }

  /** Stops listening and ends every connection, those that clients keep for later requests too. Safe to call twice. */
  async [Symbol.asyncDispose](): Promise<void> {
    // Without effect when Socket.IO has done so already.
    this.server.close();
    const late = setTimeout(() => {
      for (const connection of this.#connections) connection.destroy();
    }, LAST_BYTES_MS);
    await this.#closed;
    clearTimeout(late);
    await this.#routes.close();
  }
}

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';

import type { FastifyInstance } from 'fastify';

import { buildRoutes, type RouteOptions } from './routes.js';
import { listenOnUnixSocket } from './unix-socket.js';

/** Time for a client to send its HTTP headers: a slow one must not hold a connection for Node's minute. */
const HEADERS_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 15_000;
/** How long connections may take to end by themselves at the daemon's end: clients on this machine need no more. */
const LAST_BYTES_MS = 250;

/** What the server is made of. */
export interface HttpOptions extends RouteOptions {
  /** An address of this machine, or `localhost`. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Undefined for plain HTTP. */
  readonly tls: TlsFiles | undefined;
  /** Path of a socket to listen on as well. */
  readonly unixSocket: string | undefined;
  /** Told of each connection by it, before anything is read. */
  readonly onUnixPeer: (connection: Socket) => void;
}

/** Paths of a certificate and its key, in PEM. */
interface TlsFiles {
  readonly cert: string;
  readonly key: string;
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
  #unixServer: NetServer | undefined;
  /** Resolves when nothing listens and no connection is left; undefined while it has not listened. */
  #closed: Promise<void> | undefined;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#routes = buildRoutes((handler) => makeServer(options.tls, handler), options);
    this.server = this.#routes.server;
    this.server.on('connection', (connection) => {
      this.#keep(connection);
    });
  }

  /** Listens; gives the address. Rejects when the port is taken. */
  async listen(): Promise<AddressInfo> {
    const { host, port } = this.#options;
    await this.#routes.ready();
    // Not by Fastify, which gives each address of `localhost` a server of its own: Socket.IO would know of one of them.
    this.server.listen(port, host);
    await once(this.server, 'listening');
    await this.#listenOnUnixSocket();
    this.#closed = new Promise((resolve) => this.server.once('close', resolve));
    return this.server.address() as AddressInfo;
  }

  /** Stops listening and ends every connection, those that clients keep for later requests too. Safe to call twice. */
  async [Symbol.asyncDispose](): Promise<void> {
    // Without effect when Socket.IO has done so already.
    this.server.close();
    this.#unixServer?.close();
    const late = setTimeout(() => {
      for (const connection of this.#connections) connection.destroy();
    }, LAST_BYTES_MS);
    await this.#closed;
    clearTimeout(late);
    await this.#routes.close();
  }

  #keep(connection: Socket): void {
    this.#connections.add(connection);
    connection.once('close', () => this.#connections.delete(connection));
  }

  /** An HTTP server listens at one place; connections of others are handed to it, those of a TLS server as if decrypted. */
  async #listenOnUnixSocket(): Promise<void> {
    const { unixSocket, onUnixPeer, tls } = this.#options;
    if (unixSocket === undefined) return;
    this.#unixServer = await listenOnUnixSocket(unixSocket, (connection) => {
      onUnixPeer(connection);
      if (tls) this.#keep(connection);
      this.server.emit(tls ? 'secureConnection' : 'connection', connection);
    });
  }
}

/** @throws the system's error, or that of OpenSSL, when the certificate or its key cannot be used */
function makeServer(tls: TlsFiles | undefined, handler: RequestListener): Server {
  const limits = { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS };
  if (!tls) return createServer(limits, handler);
  return createTlsServer({ ...limits, cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, handler);
}

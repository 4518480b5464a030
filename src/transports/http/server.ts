import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createNetServer,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import { dirname } from 'node:path';

import type { FastifyInstance } from 'fastify';

import { AdapterError } from '../../core/errors.js';
import type { Admission } from '../../services/access/admission.js';
import { gateConnections } from './refused-connection.js';
import type { PatientRequests } from './http-requests.js';
import { buildRoutes, type RouteOptions } from './routes.js';

/** Timeout of a whole request, in milliseconds: Node.js would let a slow client hold a connection for five minutes. */
const REQUEST_TIMEOUT_MS = 15_000;
/** How often the timeouts of connections are checked, in milliseconds. Node.js does so every 30 s. */
const CHECK_INTERVAL_MS = 1000;
/** Time for connections to close on their own at shutdown, in milliseconds: local clients need no more. */
const LAST_BYTES_MS = 250;

export interface HttpOptions extends RouteOptions {
  /** An address of this machine, or `localhost`. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Undefined for plain HTTP. */
  readonly tls: TlsFiles | undefined;
  /** Path of a Unix socket to listen on as well; undefined for none. */
  readonly unixSocket: string | undefined;
  /** Time for the headers of a request to arrive. */
  readonly handshakeTimeoutMs: number;
  readonly admission: Admission;
  /** Requests that may take longer than the time-out. */
  readonly patientRequests: PatientRequests;
  /** Called for each connection over the Unix socket, before anything is read. */
  readonly onUnixPeer: (connection: Socket) => void;
}

/** Paths of a certificate and its key, in PEM format. */
interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/**
 * The daemon's only TCP port. The routes answer HTTP requests; Socket.IO attaches itself to `server` and handles
 * `/socket.io/`.
 */
export class HttpServer implements AsyncDisposable {
  /** Has to be attached to before `listen`. */
  readonly server: Server;
  readonly #options: HttpOptions;
  readonly #routes: FastifyInstance;
  /** All connections, including those upgraded to WebSocket. */
  readonly #connections = new Set<Socket>();
  #unixServer: NetServer | undefined;
  /** Resolves when the server has stopped and every connection is closed; undefined before `listen`. */
  #closed: Promise<void> | undefined;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#routes = buildRoutes((handler) => makeServer(options, handler), options);
    this.server = this.#routes.server;
    options.patientRequests.attach(this.server);
    gateConnections(this.server, { ...options, hasTls: options.tls !== undefined });
    this.server.on('connection', (connection) => {
      this.#keep(connection);
    });
  }

  /** Starts listening; returns the address. Rejects when the port is in use. */
  async listen(): Promise<AddressInfo> {
    const { host, port } = this.#options;
    await this.#routes.ready();
    // Fastify would create a server for each address of `localhost`, and Socket.IO would be attached to one of them
    // only.
    this.server.listen(port, host);
    await once(this.server, 'listening');
    await this.#listenOnUnixSocket();
    this.#closed = new Promise((resolve) => this.server.once('close', resolve));
    return this.server.address() as AddressInfo;
  }

  /** Stops listening and closes every connection, including idle keep-alive ones. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    // No effect when Socket.IO has closed the server already.
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

  /**
   * An HTTP server listens on one address. Unix socket connections are passed to it by an event; with TLS, as if
   * decrypted.
   */
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

/**
 * Creates the HTTP or HTTPS server.
 * @throws the system's error, or that of OpenSSL, when the certificate or its key cannot be used
 */
function makeServer({ tls, handshakeTimeoutMs }: HttpOptions, handler: RequestListener): Server {
  const limits = {
    headersTimeout: Math.min(handshakeTimeoutMs, REQUEST_TIMEOUT_MS),
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  };
  if (!tls) return createServer(limits, handler);
  // Node.js would wait two minutes for the end of a TLS handshake.
  const secure = { ...limits, handshakeTimeout: limits.headersTimeout };
  return createTlsServer({ ...secure, cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, handler);
}

/** Longest path of a socket, in bytes: the capacity of `sun_path` without the NUL (unix(7)). */
const MAX_PATH_BYTES = 107;

/**
 * Listens on a Unix socket that only this user can open. Removes a stale socket of a killed daemon.
 * @throws AdapterError BAD_DIRECTORY when other users can enter its directory; EADDRINUSE when another program listens
 *   on it
 */
async function listenOnUnixSocket(path: string, onConnection: (connection: Socket) => void): Promise<NetServer> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new AdapterError(
      'BAD_DIRECTORY',
      `socketio.unix_socket: a socket's path has at most ${MAX_PATH_BYTES} bytes: ${path}`,
    );
  }
  preparePrivate(dirname(path));
  const server = createNetServer({ allowHalfOpen: true }, onConnection);
  try {
    await listen(server, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || (await isAnswered(path))) throw error;
    rmSync(path);
    await listen(server, path);
  }
  chmodSync(path, 0o600);
  return server;
}

async function listen(server: NetServer, path: string): Promise<void> {
  server.listen(path);
  await once(server, 'listening');
}

/**
 * Creates the directory, or checks that no other user can enter it: between bind and chmod the socket is open to all
 * users.
 */
function preparePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(folder);
  if (uid === process.getuid?.() && (mode & 0o077) === 0) return;
  const message = `socketio.unix_socket: others can enter ${folder}; give the socket a folder of its own with mode 700`;
  throw new AdapterError('BAD_DIRECTORY', message, { details: { directory: folder } });
}

/** True when a process listens on the socket, or the path is not a socket. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code !== 'ECONNREFUSED' || !statSync(path).isSocket());
    });
  });
}

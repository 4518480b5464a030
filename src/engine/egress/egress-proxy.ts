import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import {
  type Destination,
  destinationOf,
  hostOf,
  type Opening,
  readOpening,
  type Refusal,
  REFUSALS,
  RefusedConnection,
} from '../../core/egress.js';
import type { Log } from '../../core/log.js';
import type { Metrics } from '../../core/metrics.js';
import type { Dialer } from './dialer.js';
import { passOn, readPlainRequest } from './plain-http.js';
import { ClientGone, readBytes, readSocksRequest, readSome, replySocks, SOCKS_VERSION } from './socks5.js';

/** Most pieces in which the first message may arrive: ordinary ones come in one to three. */
const MAX_PIECES = 64;

/**
 * Lets a client and a server talk, once the first bytes of the client are known not to name another host than the allowed
 * one. The server may begin.
 * @returns `http` when the client speaks plain HTTP: nothing was sent then, and each request has to be judged
 * @throws RefusedConnection, ClientGone
 */
async function joinSockets(
  client: Socket,
  server: Socket,
  destination: Destination,
  dialer: Dialer,
): Promise<'joined' | 'http'> {
  server.pipe(client);
  const { opening, bytes } = await readFirst(client);
  if (opening.kind === 'http') {
    server.unpipe(client);
    client.unshift(bytes);
    return 'http';
  }
  judge(opening, destination, dialer);
  if (opening.kind === 'incomplete') throw new RefusedConnection(REFUSALS.notUnderstood(destination, TOO_MANY_PIECES));
  server.write(bytes);
  client.pipe(server);
  // A server that breaks off must not look like one that has said all.
  server.once('close', () => {
    if (!server.readableEnded) client.destroy();
  });
  return 'joined';
}

const TOO_MANY_PIECES = 'its first message came in too many pieces.';

async function readFirst(client: Socket): Promise<{ opening: Opening; bytes: Buffer }> {
  let bytes = Buffer.alloc(0);
  let opening = readOpening(bytes);
  for (let pieces = 0; opening.kind === 'incomplete' && pieces < MAX_PIECES; pieces++) {
    bytes = Buffer.concat([bytes, await readSome(client)]);
    opening = readOpening(bytes);
  }
  return { opening, bytes };
}

/** A server that serves many names would answer for the one in the handshake: it has to be an allowed one. */
function judge(opening: Opening, destination: Destination, dialer: Dialer): void {
  if (opening.kind === 'broken') throw new RefusedConnection(REFUSALS.notUnderstood(destination, `${opening.why}.`));
  if (opening.kind !== 'tls' || opening.name === undefined) return;
  const host = hostOf(opening.name);
  if (host !== undefined && (host === destination.host || dialer.lists({ host, port: destination.port }))) return;
  throw new RefusedConnection(REFUSALS.otherName(destination, 'TLS handshake', opening.name));
}

/** Time within which a client has to say where it wants to connect to, in milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;

export interface EgressProxyOptions {
  readonly dialer: Dialer;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Most connections of one sandbox at once. */
  readonly maxConnections: number;
  /** Time after which a connection without any traffic is closed, in milliseconds. */
  readonly idleTimeoutMs: number;
}

/** How a client is told that its connection failed. */
interface Answers {
  readonly refused: (refusal: Refusal) => void;
  readonly failed: (error: Error) => void;
}

/**
 * The proxy of one sandbox, on one port for everything: HTTP, CONNECT (RFC 9110) and SOCKS 5 (RFC 1928). Connections are
 * made outside of the sandbox, to allowed destinations alone.
 */
export class EgressProxy implements Disposable {
  /** Called for each refused connection. */
  onRefused: (refusal: Refusal) => void = () => undefined;
  readonly #options: EgressProxyOptions;
  readonly #clients = new Set<Socket>();
  /** Destinations of tunnels in which plain HTTP is spoken. */
  readonly #tunnels = new WeakMap<Socket, Destination>();
  /** Never listens; it reads the requests of connections that are given to it. */
  readonly #http: Server;

  constructor(options: EgressProxyOptions) {
    this.#options = options;
    this.#http = createServer({ requestTimeout: 0, headersTimeout: REQUEST_TIMEOUT_MS, requireHostHeader: false });
    this.#http.on('connect', (message: IncomingMessage, client: Socket, head: Buffer) => {
      if (head.length > 0) client.unshift(head);
      this.#run(this.#connect(message, client), client);
    });
    this.#http.on('request', (message: IncomingMessage, response: ServerResponse) => {
      this.#run(this.#pass(message, response), message.socket);
    });
    this.#http.on('clientError', (_, client) => {
      client.destroy();
    });
  }

  /** Serves a connection out of the sandbox. */
  accept(client: Socket): void {
    client.on('error', () => {
      // ECONNRESET: the program has ended. What was under way ends with 'close'.
    });
    if (this.#clients.size >= this.#options.maxConnections) {
      this.#note(REFUSALS.tooMany(this.#options.maxConnections));
      client.destroy();
      return;
    }
    this.#clients.add(client);
    client.once('close', () => this.#clients.delete(client));
    client.setTimeout(this.#options.idleTimeoutMs, () => client.destroy());
    this.#run(this.#serve(client), client);
  }

  /** Closes all connections; others can be served afterwards. */
  [Symbol.dispose](): void {
    for (const client of this.#clients) client.destroy();
    this.onRefused = () => undefined;
  }

  async #serve(client: Socket): Promise<void> {
    const timer = setTimeout(() => client.destroy(), REQUEST_TIMEOUT_MS);
    client.once('close', () => {
      clearTimeout(timer);
    });
    const [first] = await readBytes(client, 1);
    client.unshift(Buffer.from([first ?? 0]));
    const destination = first === SOCKS_VERSION ? await readSocksRequest(client) : undefined;
    clearTimeout(timer);
    if (destination) await this.#serveSocks(client, destination);
    else this.#http.emit('connection', client);
  }

  /** Runs a step; one that fails closes the connection. */
  #run(step: Promise<void>, client: Socket): void {
    step.catch((error: unknown) => {
      if (error instanceof RefusedConnection) this.#note(error.refusal);
      else if (!(error instanceof ClientGone))
        this.#options.log.error('the proxy has failed', { error: String(error) });
      // Not at once: the client may not have read its answer yet.
      client.destroySoon();
    });
  }

  async #serveSocks(client: Socket, destination: Destination): Promise<void> {
    const answers: Answers = {
      refused: () => {
        replySocks(client, 'refused');
        client.end();
      },
      failed: () => {
        replySocks(client, 'unreachable');
        client.end();
      },
    };
    const server = await this.#dial(destination, client, answers);
    if (!server) return;
    replySocks(client, 'connected');
    await this.#tunnel(client, server, destination);
  }

  async #connect(message: IncomingMessage, client: Socket): Promise<void> {
    const destination = destinationOf(message.url ?? '');
    const answers: Answers = {
      refused: ({ message: why }) => client.end(answerOf('403 Forbidden', why)),
      failed: ({ message: why }) => client.end(answerOf('502 Bad Gateway', why)),
    };
    if (!destination) {
      const refusal = REFUSALS.notUnderstood(undefined, `CONNECT needs HOST:PORT, not ${message.url ?? 'nothing'}.`);
      this.#note(refusal);
      answers.refused(refusal);
      return;
    }
    const server = await this.#dial(destination, client, answers);
    if (!server) return;
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    await this.#tunnel(client, server, destination);
  }

  /** Joins the two; a client that speaks plain HTTP in its tunnel is served like one without a tunnel. */
  async #tunnel(client: Socket, server: Socket, destination: Destination): Promise<void> {
    try {
      const how = await joinSockets(client, server, destination, this.#options.dialer);
      if (how === 'joined') return;
    } catch (error) {
      server.destroy();
      throw error;
    }
    server.destroy();
    this.#tunnels.set(client, destination);
    this.#http.emit('connection', client);
  }

  async #pass(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket: client } = message;
    const answer = (status: number, why: string) => {
      if (!response.headersSent) response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
      response.end(`${why}\n`);
    };
    const onFailed = (error: Error) => {
      answer(502, error.message);
    };
    try {
      const { destination, path } = readPlainRequest(message, this.#tunnels.get(client));
      const refused = (refusal: Refusal) => {
        answer(403, refusal.message);
      };
      const server = await this.#dial(destination, client, { refused, failed: onFailed });
      if (server) passOn({ message, response, path, server, onFailed });
    } catch (error) {
      if (!(error instanceof RefusedConnection)) throw error;
      this.#note(error.refusal);
      answer(403, error.message);
    }
  }

  /** Connects, or tells the client why not. */
  async #dial(destination: Destination, client: Socket, answers: Answers): Promise<Socket | undefined> {
    const { dialer, metrics, idleTimeoutMs } = this.#options;
    try {
      const server = await dialer.connect(destination);
      if (client.destroyed) {
        server.destroy();
        return undefined;
      }
      metrics.count('egress_connections_total', { outcome: 'allowed' });
      const drop = () => server.destroy();
      server.setTimeout(idleTimeoutMs, drop);
      client.once('close', drop);
      server.on('error', () => {
        // The client sees it as the end of its connection.
      });
      server.once('close', () => {
        metrics.count('egress_bytes_total', { direction: 'sent' }, server.bytesWritten);
        metrics.count('egress_bytes_total', { direction: 'received' }, server.bytesRead);
        client.removeListener('close', drop);
      });
      return server;
    } catch (error) {
      if (error instanceof RefusedConnection) {
        this.#note(error.refusal);
        answers.refused(error.refusal);
      } else {
        metrics.count('egress_connections_total', { outcome: 'failed' });
        answers.failed(error as Error);
      }
      return undefined;
    }
  }

  #note(refusal: Refusal): void {
    this.#options.metrics.count('egress_connections_total', { outcome: 'refused' });
    this.onRefused(refusal);
  }
}

/** An answer to CONNECT; clients show its status line. */
const answerOf = (status: string, why: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(why) + 1}\r\n\r\n${why}\n`;

import { Agent, type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';

import { io, type Socket } from 'socket.io-client';
import type { z } from 'zod';

import {
  announced,
  challenge as challengeSchema,
  type LinkIdentity,
  LINK_VERSION,
  passedAnswerHeaders,
  passedRequestHeaders,
  refusal as refusalSchema,
  TICKET_HEADER,
  ticketReply,
  welcome as welcomeSchema,
} from '../core/cluster/link-messages.js';
import { AdapterError } from '../core/errors.js';
import type { TraceCarrier } from '../core/traces.js';
import { type LinkSecret, randomNonce } from '../services/access/dashboard-links.js';
import type { HttpRequest } from '../services/cluster-port.js';
import { bodyOf, exchange, type ForwardedAnswer } from '../services/http-exchange.js';
import type { Caller } from '../services/registry/caller.js';
import { nodeLost, nodeUnreachable } from './failures.js';
import type { Link, OpenLink } from './link.js';

/** Time for a connection with its TLS handshake, in milliseconds. */
const CONNECT_TIMEOUT_MS = 2000;
/** Time for both proofs after that, in milliseconds. */
const HELLO_TIMEOUT_MS = 2000;

/** Contents of the files that a node shows other nodes, and trusts, in PEM. */
export interface LinkTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface DialOptions {
  readonly url: string;
  /** Name that it has to have. */
  readonly node: string;
  readonly identity: LinkIdentity;
  readonly secret: LinkSecret;
  readonly tls: LinkTls | undefined;
  readonly signal: AbortSignal;
}

export interface Dialled {
  readonly socket: Socket;
  readonly welcome: z.output<typeof welcomeSchema>;
}

export class DialError extends Error {
  /** True when nothing listens on its port: the daemon is not running. */
  readonly isRefused: boolean;

  constructor(message: string, isRefused = false) {
    super(message);
    this.isRefused = isRefused;
  }
}

/**
 * Connects to a worker, and has both ends prove that they know the secret.
 * @throws DialError with the reason
 */
export async function dial(options: DialOptions): Promise<Dialled> {
  const { url, tls, signal } = options;
  const socket = io(url, {
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
    autoConnect: false,
    timeout: CONNECT_TIMEOUT_MS,
    ...tls,
  });
  const close = () => socket.disconnect();
  signal.addEventListener('abort', close, { once: true });
  try {
    return { socket, welcome: await introduce(socket, options) };
  } catch (error) {
    socket.disconnect();
    throw error;
  } finally {
    signal.removeEventListener('abort', close);
  }
}

async function introduce(socket: Socket, { node, identity, secret, signal }: DialOptions): Promise<Dialled['welcome']> {
  const challenged = awaitChallenge(socket, signal);
  socket.connect();
  const { nonce: dialled, link_version: version } = await challenged;
  if (version !== LINK_VERSION) throw new DialError(`it speaks version ${version} of links, this node ${LINK_VERSION}`);
  const nonces = { dialling: randomNonce(), dialled };
  const proof = secret.prove('dialling', nonces, identity);
  const reply: unknown = await socket
    .timeout(HELLO_TIMEOUT_MS)
    .emitWithAck('hello', { ...identity, nonce: nonces.dialling, proof })
    .catch(() => {
      throw new DialError('it has closed the connection, or has not answered in time');
    });
  const refused = refusalSchema.safeParse(reply);
  if (refused.success) throw new DialError(refused.data.refused);
  const parsed = welcomeSchema.safeParse(reply);
  if (!parsed.success) throw new DialError('its answer is not that of a node');
  const { proof: theirs, ...them } = parsed.data;
  if (!secret.accepts(theirs, 'dialled', nonces, them))
    throw new DialError('it does not know the secret of this cluster');
  if (them.node !== node) throw new DialError(`the node there is called ${them.node}`);
  return parsed.data;
}

function awaitChallenge(socket: Socket, signal: AbortSignal): Promise<z.output<typeof challengeSchema>> {
  return new Promise((resolve, reject) => {
    const fail = (error: DialError) => {
      clearTimeout(timer);
      reject(error);
    };
    const timer = setTimeout(() => {
      fail(new DialError('it has not answered in time'));
    }, CONNECT_TIMEOUT_MS + HELLO_TIMEOUT_MS);
    socket.once('challenge', (message: unknown) => {
      clearTimeout(timer);
      const parsed = challengeSchema.safeParse(message);
      if (parsed.success) resolve(parsed.data);
      else fail(new DialError('it is not a node of a cluster'));
    });
    socket.once('connect_error', (error) => {
      fail(failureOf(error));
    });
    signal.addEventListener('abort', () => {
      fail(new DialError('this node is being stopped'));
    });
    socket.once('disconnect', () => {
      fail(new DialError('it has closed the connection'));
    });
  });
}

/** The error of the system inside of one of Engine.IO, which says no more than that there was one. */
function failureOf(error: Error & { readonly description?: unknown }): DialError {
  const event = error.description as { readonly error?: NodeJS.ErrnoException } | undefined;
  const cause = event?.error;
  return new DialError(cause?.message ?? error.message, cause?.code === 'ECONNREFUSED');
}

/** Time for a ticket, in milliseconds. */
const TICKET_TIMEOUT_MS = 2000;
/** How long a connection is kept for the next request, in milliseconds: less than the worker keeps it. */
const KEPT_MS = 10_000;

interface LinkedHttpOptions {
  readonly node: string;
  readonly url: string;
  readonly ownNode: string;
  readonly tls: LinkTls | undefined;
  readonly link: Link;
}

interface LinkedRequest {
  readonly caller: Caller;
  readonly trace: TraceCarrier | undefined;
  readonly http: HttpRequest;
}

/**
 * Requests over HTTP to a worker: each over a connection of its own beside the link, so that a client that stops reading
 * holds up itself alone. The link gives a ticket for each, and they end with it.
 */
export class LinkedHttp implements Disposable {
  readonly #options: LinkedHttpOptions;
  readonly #agent: Agent;

  constructor(options: LinkedHttpOptions) {
    this.#options = options;
    const { hostname } = new URL(options.url);
    const kept = { keepAlive: true, timeout: KEPT_MS };
    // The requests name the host of the client, which is not that of the certificate.
    const servername = isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0 ? hostname : '';
    this.#agent = options.tls ? new TlsAgent({ ...kept, ...options.tls, servername }) : new Agent(kept);
  }

  /**
   * Sends a request.
   * @throws AdapterError NODE_UNREACHABLE when it was not sent, NODE_LOST when the connection has broken before the answer,
   *   INVALID_REQUEST when the client has gone
   */
  async send(request: LinkedRequest): Promise<ForwardedAnswer> {
    const release = this.#options.link.hold();
    try {
      const answer = await this.#send(request);
      bodyOf(answer).once('close', release);
      return answer;
    } catch (error) {
      release();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async #send({ caller, trace, http }: LinkedRequest): Promise<ForwardedAnswer> {
    const { node, link } = this.#options;
    const open = await link.connect();
    if (!open) throw nodeUnreachable(node, link.problem ?? 'it is not connected');
    const ticket = await this.#ticketFor(open, caller, http);
    const { method, path, headers, isUpgrade, body, trailers, gone } = http;
    const sent = { ...passedRequestHeaders(headers, isUpgrade), ...headersOf(trace), [TICKET_HEADER]: ticket };
    const upstream = this.#request(path, { method, headers: sent });
    try {
      const answer = await exchange(upstream, { body, trailers, over: [open.broken, gone] });
      return { ...answer, headers: passedAnswerHeaders(answer.response.headers, answer.upgraded !== undefined) };
    } catch (cause) {
      if (gone.aborted) throw new AdapterError('INVALID_REQUEST', 'the client has broken the request off');
      const { message } = (open.broken.aborted ? open.broken.reason : cause) as Error;
      throw nodeLost(node, method === 'GET' || method === 'HEAD' ? 'safe' : 'never', message);
    }
  }

  #request(path: string, { method, headers }: RequestOptions): ClientRequest {
    const { tls, url } = this.#options;
    const { hostname, port } = new URL(url);
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const send = tls ? tlsRequest : httpRequest;
    return send({ host, port: port || (tls ? 443 : 80), path, method, headers, agent: this.#agent });
  }

  async #ticketFor({ socket }: OpenLink, caller: Caller, { isEncrypted }: HttpRequest): Promise<string> {
    const { node, ownNode } = this.#options;
    const about = { principal: announced(caller.principal, ownNode), from: caller.from };
    const reply: unknown = await socket
      .timeout(TICKET_TIMEOUT_MS)
      .emitWithAck('ticket', { caller: about, is_encrypted: isEncrypted })
      .catch((error: unknown) => {
        throw nodeUnreachable(node, `it has given no ticket for the request (${String(error)})`);
      });
    const parsed = ticketReply.safeParse(reply);
    if (parsed.success) return parsed.data.ticket;
    throw nodeUnreachable(node, 'it does not take requests over HTTP; is its release older than that of this gateway?');
  }
}

const headersOf = ({ traceparent, tracestate }: TraceCarrier = {}): Record<string, string> => ({
  ...(typeof traceparent === 'string' && { traceparent }),
  ...(typeof tracestate === 'string' && { tracestate }),
});

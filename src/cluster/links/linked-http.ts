import { Agent, type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';

import {
  announced,
  passedAnswerHeaders,
  passedRequestHeaders,
  TICKET_HEADER,
  ticketReply,
} from '../../core/cluster/link-messages.js';
import { AdapterError } from '../../core/errors.js';
import type { TraceCarrier } from '../../core/traces.js';
import { bodyOf, exchange, type ForwardedAnswer } from '../../services/http-exchange.js';
import type { HttpRequest } from '../../services/cluster-port.js';
import type { Caller } from '../../services/registry/caller.js';
import type { LinkTls } from './dial.js';
import { nodeLost, nodeUnreachable } from '../failures.js';
import type { Link } from './link.js';
import type { OpenLink } from './link-types.js';

/** Time for a ticket, in milliseconds. */
const TICKET_TIMEOUT_MS = 2000;
/** How long a connection is kept for the next request, in milliseconds: less than the worker keeps it. */
const KEPT_MS = 10_000;

export interface LinkedHttpOptions {
  /** Name of the worker. */
  readonly node: string;
  /** Address of its port for gateways. */
  readonly url: string;
  readonly ownNode: string;
  /** Undefined for links without TLS. */
  readonly tls: LinkTls | undefined;
  readonly link: Pick<Link, 'connect' | 'hold' | 'problem'>;
}

/** A request over HTTP of a client of this node. */
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

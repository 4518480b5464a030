import { Agent, type ClientRequest, type OutgoingHttpHeaders, request as httpRequest } from 'node:http';
import { Agent as SecureAgent, request as httpsRequest } from 'node:https';

import { unixEndpoint } from '../../client/connection/unix-socket.js';
import type { DaemonAddress } from './daemon-address.js';

export interface DaemonHttpRequest {
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders | undefined;
}

/** Sends requests over HTTP to a daemon with its token: over the network, by TLS too, or over a Unix socket. */
export class DaemonHttp implements Disposable {
  readonly #origin: URL;
  readonly #socketPath: string | undefined;
  readonly #token: string | undefined;
  readonly #agent: Agent;

  constructor({ url, token }: DaemonAddress) {
    const unix = unixEndpoint(url);
    this.#origin = new URL(unix?.origin ?? url.replace(/^ws/, 'http'));
    this.#socketPath = unix?.socketPath;
    this.#token = token;
    const options = { keepAlive: true };
    this.#agent = this.#origin.protocol === 'https:' ? new SecureAgent(options) : new Agent(options);
  }

  /** Begins a request; the caller sends its body, and ends it. */
  begin({ method, path, headers }: DaemonHttpRequest): ClientRequest {
    const url = new URL(path, this.#origin);
    const authorization = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
    const options = { method, agent: this.#agent, headers: { ...authorization, ...headers } };
    const socket = this.#socketPath === undefined ? {} : { socketPath: this.#socketPath };
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    return send(url, { ...options, ...socket });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

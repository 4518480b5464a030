import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

import { passedAnswerHeaders, passedRequestHeaders } from '../../core/cluster/link-messages.js';
import { OWN_ORIGIN_HEADER } from '../../core/previews.js';
import { exchange, hasBody, type HttpAnswer, joinUpgraded, sendAnswer } from '../../services/http-exchange.js';
import { isOfOwnPage, isOfPage } from '../../transports/access.js';
import type { DaemonHttp } from '../connect/daemon-http.js';

const HOST = '127.0.0.1';
/** What a browser says of itself and of the page that asks. The daemon lets no page in without a token of its own. */
const OF_BROWSERS = /^(?:origin|referer|host|sec-fetch-.*)$/;

/**
 * A port of this machine that leads to a port of a session, through the daemon. Browsers see an origin that nothing else
 * has, so that pages work as they would on the machine of the session.
 */
export class LocalPreview implements AsyncDisposable {
  readonly #daemon: DaemonHttp;
  readonly #path: string;
  readonly #server: Server;
  readonly #upgraded = new Set<Duplex>();
  #origin = '';

  /** @param path path of the preview on the daemon's port, with a slash at its end */
  constructor(daemon: DaemonHttp, path: string) {
    this.#daemon = daemon;
    this.#path = path;
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.on('upgrade', (request: IncomingMessage, client: Duplex, head: Buffer) => {
      this.#upgraded.add(client);
      client.once('close', () => this.#upgraded.delete(client));
      void this.#upgrade(request, { client, head });
    });
  }

  /**
   * Starts listening on the loopback.
   * @param port 0 for any free one
   * @returns the origin for browsers. Rejects with the system's error when the port is in use.
   */
  async listen(port: number): Promise<string> {
    this.#server.listen(port, HOST);
    await once(this.#server, 'listening');
    this.#origin = `http://${HOST}:${(this.#server.address() as AddressInfo).port}`;
    return this.#origin;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    for (const client of this.#upgraded) client.destroy();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const why = this.#refusalOf(request);
    if (why !== undefined) {
      sayWhy(response, 403, why);
      return;
    }
    const gone = new AbortController();
    response.once('close', () => {
      gone.abort();
    });
    try {
      const answer = await this.#ask(request, { body: hasBody(request) ? request : undefined, over: [gone.signal] });
      sendAnswer(answer, passedAnswerHeaders(answer.response.headers), response);
    } catch (error) {
      sayWhy(response, 502, `the daemon gave no answer: ${(error as Error).message}`);
    }
  }

  async #upgrade(request: IncomingMessage, { client, head }: { client: Duplex; head: Buffer }): Promise<void> {
    // ECONNRESET: 'close' follows.
    client.on('error', () => undefined);
    const gone = new AbortController();
    client.once('close', () => {
      gone.abort();
    });
    const why = this.#refusalOf(request);
    if (why !== undefined) {
      client.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    try {
      const answer = await this.#ask(request, { body: undefined, over: [gone.signal], isUpgrade: true });
      const headers = passedAnswerHeaders(answer.response.headers, answer.upgraded !== undefined);
      joinUpgraded({ ...answer, headers }, { client, head });
    } catch {
      client.end('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    }
  }

  #ask(
    { method = 'GET', url = '/', headers: given }: IncomingMessage,
    { isUpgrade = false, ...sent }: Parameters<typeof exchange>[1] & { readonly isUpgrade?: boolean },
  ): Promise<HttpAnswer> {
    const passed = Object.entries(passedRequestHeaders(given, isUpgrade)).filter(([name]) => !OF_BROWSERS.test(name));
    const headers = { ...Object.fromEntries(passed), [OWN_ORIGIN_HEADER]: this.#origin };
    const path = `${this.#path}${url.replace(/^\//, '')}`;
    return exchange(this.#daemon.begin({ method, path, headers }), sent);
  }

  /** Pages of other origins could reach the port by its number, and by a name that leads to this machine. */
  #refusalOf({ headers }: IncomingMessage): string | undefined {
    const { port } = new URL(this.#origin);
    const { host = '' } = headers;
    if (host !== `${HOST}:${port}` && host !== `localhost:${port}`) return `this is ${this.#origin}, and not ${host}`;
    if (isOfPage(headers) && !isOfOwnPage(headers)) return 'pages of other origins cannot use this port';
    return undefined;
  }
}

function sayWhy(response: ServerResponse, status: number, why: string): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`shell-adapter: ${why}\n`);
}

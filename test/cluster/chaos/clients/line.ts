import { setTimeout as sleep } from 'node:timers/promises';

import type { RequestInput, RequestName } from '../../../../src/core/protocol/requests.js';
import { WireClient, type WireAnswer } from '../../../support/wire.js';
import type { ChaosNode } from '../nodes.js';
import type { ClientOptions } from './client-options.js';

/** Longest wait for an answer, in milliseconds: a node may be frozen or lost meanwhile, and the command take its time. */
const ANSWER_MS = 40_000;
/** How long an impatient client waits before it asks another gateway, in milliseconds. */
const IMPATIENT_MS = 1500;
/** Share of the requests that are made by an impatient client. */
const IMPATIENT_SHARE = 0.1;
/** Longest wait for a connection, in milliseconds. */
const CONNECT_MS = 4000;
/** Pause after a connection that was refused, in milliseconds. */
const RETRY_MS = 200;

/** A connection of a client to one of the gateways, which is made again when it has broken. */
export class Line implements AsyncDisposable {
  readonly #options: ClientOptions;
  /** Called with the connection before each request. */
  prepare: (client: WireClient) => Promise<void> = () => Promise.resolve();
  #client: WireClient | undefined;
  #gateway: ChaosNode | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Asks; undefined when the connection has broken before the answer, or the client has given up waiting. */
  async ask<N extends RequestName>(name: N, payload: RequestInput<N>): Promise<WireAnswer<N> | undefined> {
    const { random, fail } = this.#options;
    const patienceMs = random() < IMPATIENT_SHARE ? IMPATIENT_MS : ANSWER_MS;
    const client = await this.connected();
    await this.prepare(client);
    const from = performance.now();
    const answer = await within(patienceMs, client.request(name, payload));
    if (answer !== undefined) return answer;
    if (
      patienceMs === ANSWER_MS &&
      client.socket.connected &&
      this.#gateway?.wasDisturbedAfter(from - ANSWER_MS) !== true
    )
      fail(`no answer to ${name} ${JSON.stringify(payload)} within ${ANSWER_MS} ms from ${this.#gateway?.name ?? ''}`);
    this.leave();
    return undefined;
  }

  /** Breaks the connection. */
  leave(): void {
    this.#client?.socket.disconnect();
    this.#client = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.leave();
    return Promise.resolve();
  }

  /** The connection, made now if there is none. */
  async connected(): Promise<WireClient> {
    const { nodes, random, token } = this.#options;
    for (;;) {
      if (this.#client?.socket.connected === true) return this.#client;
      this.leave();
      const gateway = nodes.gateways[Math.floor(random() * nodes.gateways.length)]!;
      const client = await connect(gateway.daemon.url, token);
      if (client) {
        this.#gateway = gateway;
        this.#client = client;
      } else await sleep(RETRY_MS);
    }
  }
}

/** Undefined when the gateway does not answer in time, or has broken the connection. */
async function connect(url: string, token: string): Promise<WireClient | undefined> {
  const connecting = WireClient.connect(url, ['websocket'], { token });
  const client = await within(CONNECT_MS, connecting);
  // One that comes too late is not used.
  if (!client)
    void connecting.then(
      ({ socket }) => socket.disconnect(),
      () => undefined,
    );
  return client;
}

/** What a promise gives in time; undefined when it takes longer, or rejects since a connection has broken. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  const late = sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } catch (error) {
    if (/disconnect|websocket error|transport|timeout/i.test((error as Error).message)) return undefined;
    throw error;
  } finally {
    timer.abort();
  }
}

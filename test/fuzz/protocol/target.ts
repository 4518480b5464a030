import { request } from 'node:http';
import { join } from 'node:path';

import { expect } from 'vitest';

import { ERROR_CODES } from '../../../src/core/errors.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';
import { GrowingFile } from './growing-file.js';
import type { FuzzedHttp } from './http-requests.js';
import type { FuzzedRequest } from './requests.js';

/** Longest time for an answer, in milliseconds: only a hang takes as long. */
const ANSWER_MS = 10_000;
/** Bound of a wait that has none, in milliseconds. */
const SHORT_WAIT_MS = 500;
/** What the daemon writes on its terminal or into its log when something has failed that nothing has expected. */
const FAULTS = /unhandled|uncaught|TypeError|RangeError|ReferenceError|failed unexpectedly|Maximum call stack/i;

/** Something that is sent to the daemon. */
export type Sent =
  | { readonly kind: 'request'; readonly request: FuzzedRequest }
  | { readonly kind: 'http'; readonly http: FuzzedHttp }
  | { readonly kind: 'packet'; readonly text: string };

/** A real daemon, and what the fuzzer knows about it. */
export class FuzzTarget implements AsyncDisposable {
  readonly #daemon: TestDaemon;
  readonly #client: WireClient;
  /** A session that nothing is sent to: it must not notice anything. */
  readonly #witness: string;
  readonly #log: GrowingFile;
  #session = '';
  #checkpoint = '';

  private constructor(daemon: TestDaemon, client: WireClient, witness: string) {
    this.#daemon = daemon;
    this.#client = client;
    this.#witness = witness;
    this.#log = new GrowingFile(join(daemon.directory, 'log'));
  }

  /** Starts a daemon that offers all interfaces, and no tool of a model. */
  static async start(): Promise<FuzzTarget> {
    const daemon = await TestDaemon.start({
      settings: {
        adapter: { command_max_lifetime: 2, max_sessions: 16, reconnect_grace: 1 },
        llm: { skip_cli: true },
        http: { metrics: true, openai: true, mcp: true },
      },
    });
    const client = await WireClient.connect(daemon.url);
    const target = new FuzzTarget(daemon, client, await client.openSession());
    await client.run('WITNESS=here', target.#witness);
    target.#checkpoint = (await client.request('checkpoint_workspace', {})).checkpoint_id;
    return target;
  }

  /** Sends everything at once, waits for the answers, and throws when one shows a fault, or the daemon is not well afterwards. */
  async send(all: readonly Sent[]): Promise<void> {
    await this.#haveSession();
    await Promise.all(all.map((sent) => this.#sendOne(sent)));
    await this.#expectHealthy();
    this.#client.events.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
    await this.#daemon[Symbol.asyncDispose]();
  }

  async #sendOne(sent: Sent): Promise<void> {
    if (sent.kind === 'request') return this.#request(sent.request);
    return sent.kind === 'http' ? this.#ask(sent.http) : this.#sendPacket(sent.text);
  }

  async #request({ name, args }: FuzzedRequest): Promise<void> {
    const answer = (await this.#client.socket
      .timeout(ANSWER_MS)
      .emitWithAck(name, ...waitShortly(name, this.#withIds(args)))) as unknown;
    const { error } = answer as { error?: { code: string; message: string } };
    if (!error) return;
    expect(Object.keys(ERROR_CODES), `code of ${JSON.stringify(error)}`).toContain(error.code);
    expect(error.code, `${name}: ${error.message}`).not.toBe('INTERNAL');
  }

  async #ask(http: FuzzedHttp): Promise<void> {
    const status = await askFor(new URL(this.#daemon.url), http);
    expect(status < 500 || status === 503, `${http.method} ${http.path} gave ${status}`).toBe(true);
  }

  /** Sends a text as a frame over a connection of its own. */
  async #sendPacket(text: string): Promise<void> {
    await using sender = await WireClient.connect(this.#daemon.url);
    const { engine } = sender.socket.io;
    (engine.transport as unknown as { ws: { send(data: string): void } }).ws.send(text);
    // Either the daemon closes the connection, or it answers on it.
    const closed = new Promise((resolve) => sender.socket.once('disconnect', resolve));
    const answered = sender.socket.timeout(ANSWER_MS).emitWithAck('list_sessions', {});
    await Promise.race([closed, answered]);
    answered.catch(() => undefined);
  }

  async #haveSession(): Promise<void> {
    const { error } = await this.#client.request('get_session', { session_id: this.#session || 'none' });
    if (!error) return;
    const opened = await this.#client.request('open_session', {});
    // Requests may have opened as many as there may be.
    if (opened.error?.code === 'SESSION_LIMIT') return this.#closeSessions();
    this.#session = opened.session_id;
  }

  async #closeSessions(): Promise<void> {
    const { sessions } = await this.#client.request('list_sessions', {});
    for (const { session_id } of sessions)
      if (session_id !== this.#witness) await this.#client.request('close_session', { session_id });
    this.#session = await this.#client.openSession();
  }

  async #expectHealthy(): Promise<void> {
    const { stdout, session_state } = await this.#client.run('echo "$WITNESS"', this.#witness);
    expect({ stdout, session_state }, 'a session that nothing was sent to').toEqual({
      stdout: 'here\n',
      session_state: 'alive',
    });
    expect(this.#daemon.output, 'output of the daemon').not.toMatch(FAULTS);
    expect(this.#log.read(), 'log of the daemon').not.toMatch(FAULTS);
  }

  /** The arguments with ids that exist; bytes stay what they are. */
  #withIds(value: readonly unknown[]): unknown[] {
    const ids: Readonly<Record<string, string>> = {
      SESSION: this.#session,
      COMMAND: 'a',
      CHECKPOINT: this.#checkpoint,
    };
    const replaced = (part: unknown): unknown => {
      if (typeof part === 'string') return Object.hasOwn(ids, part) ? ids[part] : part;
      if (Array.isArray(part)) return part.map(replaced);
      if (typeof part !== 'object' || part === null || Buffer.isBuffer(part)) return part;
      return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, replaced(inner)]));
    };
    return value.map(replaced);
  }
}

/** Has a wait end before an answer is missed: its own default is longer. */
const waitShortly = (name: string, args: readonly unknown[]): readonly unknown[] =>
  args.map((arg) =>
    name === 'wait_for' && isObject(arg) ? { ...arg, timeout_ms: arg['timeout_ms'] ?? SHORT_WAIT_MS } : arg,
  );

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Makes a request; gives the status of its answer, also of one that goes on for ever. */
async function askFor(url: URL, { method, path, headers, body }: FuzzedHttp): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = url;
    const asking = request({ hostname, port, method, path, headers, agent: false, timeout: ANSWER_MS }, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    asking.on('timeout', () => asking.destroy(new Error(`${method} ${path} was not answered`)));
    asking.on('error', reject);
    asking.end(method === 'GET' || method === 'HEAD' ? undefined : body);
  });
}

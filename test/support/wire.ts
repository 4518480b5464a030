import { EventEmitter, once } from 'node:events';

import { io, type Socket } from 'socket.io-client';

import type { Answer, RequestInput, RequestName } from '../../src/core/protocol/requests.js';
import type { ErrorBody } from '../../src/core/errors.js';
import type { EventName, EventPayload } from '../../src/core/protocol/results.js';

/** An answer as it comes over the wire. */
export type WireAnswer<N extends RequestName> = Answer<N> & { readonly error?: ErrorBody };

/** A plain socket.io-client, as any program would use it: what the tests of the wire protocol speak with. */
export class WireClient implements AsyncDisposable {
  readonly socket: Socket;
  /** Every event so far, in order. */
  readonly events: { readonly name: string; readonly payload: unknown }[] = [];
  readonly #arrivals = new EventEmitter();
  /** Why the connection has ended; undefined while there is one. */
  #ended: string | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.onAny((name: string, payload: unknown) => {
      this.events.push({ name, payload });
      this.#arrivals.emit('event');
    });
    socket.on('disconnect', (reason) => {
      this.#ended = reason;
      this.#arrivals.emit('event');
    });
  }

  /** Connects; rejects when the daemon refuses. */
  static async connect(
    url: string,
    transports: ('websocket' | 'polling')[] = ['websocket'],
    { token, headers = {} }: { readonly token?: unknown; readonly headers?: Record<string, string> } = {},
  ): Promise<WireClient> {
    const socket = io(url, {
      transports,
      reconnection: false,
      forceNew: true,
      extraHeaders: headers,
      ...(token !== undefined && { auth: { token } }),
    });
    const client = new WireClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      // The connection may end before the namespace is joined, which is no `connect_error`. A refusal closes it as well.
      socket.io.once('close', (reason) => {
        if (reason !== 'forced close') reject(new Error(`disconnected: ${reason}`));
      });
      socket.once('connect_error', (error) => {
        socket.disconnect();
        reject(error);
      });
    });
    return client;
  }

  /** Sends a request and gives its answer, errors included. Rejects when the connection has ended, or ends before it. */
  request<N extends RequestName>(name: N, payload?: RequestInput<N>): Promise<WireAnswer<N>> {
    const answer = this.#ask(name, payload);
    // A test that fails before it awaits the answer ends the connection: its own error counts.
    answer.catch(() => undefined);
    return answer;
  }

  async #ask<N extends RequestName>(name: N, payload?: RequestInput<N>): Promise<WireAnswer<N>> {
    if (this.#ended !== undefined) throw this.#lost(`the answer to ${name}`);
    try {
      return (await this.socket.emitWithAck(name, payload)) as WireAnswer<N>;
    } catch (error) {
      throw this.#lost(`the answer to ${name}`, error);
    }
  }

  /** Opens a session; gives its id. */
  async openSession(options: RequestInput<'open_session'> = {}): Promise<string> {
    const answer = await this.request('open_session', options);
    if (answer.error) throw new Error(`open_session: ${answer.error.code}: ${answer.error.message}`);
    return answer.session_id;
  }

  /** Runs a command, in a session when an id is given. */
  run(
    command: string,
    sessionId?: string,
    options: Partial<RequestInput<'execute_command'>> = {},
  ): Promise<WireAnswer<'execute_command'>> {
    return this.request('execute_command', { command, session_id: sessionId, ...options });
  }

  /** The payloads of one kind of event so far. */
  all<N extends EventName>(name: N): EventPayload<N>[] {
    return this.events.filter((event) => event.name === name).map(({ payload }) => payload as EventPayload<N>);
  }

  /** Waits until `find` gives something, looking at every event that comes. Rejects when the connection has ended. */
  async until<T>(find: () => T | undefined, timeoutMs = 10_000): Promise<T> {
    const signal = AbortSignal.timeout(timeoutMs);
    for (let found = find(); ; found = find()) {
      if (found !== undefined) return found;
      if (this.#ended !== undefined) throw this.#lost('what was waited for');
      await once(this.#arrivals, 'event', { signal });
    }
  }

  /** Waits for an event of a kind, past or to come. */
  async event<N extends EventName>(
    name: N,
    matches: (payload: EventPayload<N>) => boolean = () => true,
  ): Promise<EventPayload<N>> {
    return this.until(() => this.all(name).find(matches));
  }

  #lost(what: string, cause?: unknown): Error {
    return new Error(`the connection ended before ${what}: ${this.#ended}`, { cause });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.socket.connected) return;
    const closed = new Promise((resolve) => this.socket.once('disconnect', resolve));
    this.socket.disconnect();
    await closed;
  }
}

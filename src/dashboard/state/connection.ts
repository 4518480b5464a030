import { type ReadonlySignal, signal } from '@preact/signals';

import {
  type AdapterClient,
  type Answer,
  ClientError,
  connect,
  type ConnectionState,
  type RequestInput,
  type RequestName,
  type RequestOptions,
} from '../../client/index.js';
import { type Credentials, endPageToken, forgetToken, redeemCode, storedToken, storeToken } from './credentials.js';

/** Pause between attempts to reach a daemon that does not answer, in milliseconds. */
const RETRY_MS = 1000;

/** State of the connection of the page. */
export type ConnectionStatus =
  | { readonly kind: 'connecting'; readonly detail?: string }
  /** A token is needed; `reason` says why the last one does not do. */
  | { readonly kind: 'signed-out'; readonly reason?: string }
  | { readonly kind: 'connected' }
  /** The client tries to reconnect. What is shown was true at `since`. */
  | { readonly kind: 'lost'; readonly since: number };

/** Callbacks of a `DaemonConnection`. */
export interface ConnectionListener {
  /** There is a client, which has connected for the first time. */
  onClient(client: AdapterClient): Promise<void>;
  /** The connection is there again. `isRestarted`: to another run of the daemon. */
  onRestored(isRestarted: boolean): Promise<void>;
  onLost(): void;
  onSignedOut(): void;
}

/** The one connection of the page to its daemon. */
export class DaemonConnection {
  readonly #status = signal<ConnectionStatus>({ kind: 'connecting' });
  readonly #listener: ConnectionListener;
  #client: AdapterClient | undefined;
  #token: string | undefined;
  #isRestarted = false;
  /** Why the daemon has ended the token, before it closes the connection. */
  #endReason: string | undefined;

  constructor(listener: ConnectionListener) {
    this.#listener = listener;
  }

  /** The state of the connection. */
  get status(): ReadonlySignal<ConnectionStatus> {
    return this.#status;
  }

  /** The client. Only for components that are shown while there is one. */
  get client(): AdapterClient {
    if (!this.#client) throw new ClientError('CLIENT_CLOSED', 'this page is not signed in');
    return this.#client;
  }

  /** Sends a request, as the client does. */
  request<N extends RequestName>(name: N, payload: RequestInput<N>, options?: RequestOptions): Promise<Answer<N>> {
    return this.client.request(name, payload, options);
  }

  /** Signs in with what the address or this tab has. */
  async start({ token, code }: Credentials): Promise<void> {
    if (code === undefined) return this.signIn(token ?? storedToken());
    try {
      await this.signIn(await redeemCode(code));
    } catch (error) {
      this.#status.value = { kind: 'signed-out', reason: (error as Error).message };
    }
  }

  /** Connects with a token. Without one, a daemon may accept this page all the same, or say that it needs one. */
  async signIn(token: string | undefined): Promise<void> {
    this.#status.value = { kind: 'connecting' };
    this.#token = token;
    this.#endReason = undefined;
    const options = { reconnectTimeoutMs: Infinity, ...(token !== undefined && { token }) };
    try {
      const client = await connect(location.origin, options);
      if (token !== undefined) storeToken(token);
      await this.#begin(client);
    } catch (error) {
      await this.#onRefused(error, token);
    }
  }

  /** Disconnects, and forgets the token. A token of a link is ended. */
  async signOut(): Promise<void> {
    const [client, token] = [this.#client, this.#token];
    this.#leave({});
    if (token !== undefined) await endPageToken(token);
    await client?.close();
  }

  async #begin(client: AdapterClient): Promise<void> {
    this.#client = client;
    client.onConnection((state, error) => {
      void this.#onState(client, state, error);
    });
    client.on('access_ended', ({ message }) => {
      this.#endReason = message;
    });
    await this.#listener.onClient(client);
    this.#status.value = { kind: 'connected' };
  }

  async #onState(client: AdapterClient, state: ConnectionState, error?: ClientError): Promise<void> {
    if (client !== this.#client) return;
    if (state === 'lost') {
      this.#listener.onLost();
      if (this.#endReason !== undefined) return this.#endSession(client, this.#endReason);
      this.#status.value = { kind: 'lost', since: Date.now() };
    } else if (state === 'restarted') {
      this.#isRestarted = true;
    } else if (state === 'connected') {
      await this.#listener.onRestored(this.#isRestarted);
      this.#isRestarted = false;
      this.#status.value = { kind: 'connected' };
    } else {
      this.#leave({ reason: this.#endReason ?? error?.message ?? 'the connection was closed' });
    }
  }

  async #endSession(client: AdapterClient, reason: string): Promise<void> {
    this.#leave({ reason });
    await client.close();
  }

  async #onRefused(error: unknown, token: string | undefined): Promise<void> {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof ClientError && error.code === 'CONNECTION_FAILED') {
      this.#status.value = { kind: 'connecting', detail: message };
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      return this.signIn(token);
    }
    // The first attempt without a token is no mistake of its user.
    this.#leave(token === undefined ? {} : { reason: message });
  }

  #leave(state: { readonly reason?: string }): void {
    this.#client = undefined;
    this.#token = undefined;
    forgetToken();
    this.#listener.onSignedOut();
    this.#status.value = { kind: 'signed-out', ...state };
  }
}

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
import { rolesFor } from '../../core/protocol/permissions.js';
import { either } from '../format.js';
import { decodeSegment } from '../route.js';
import { messageOf } from './use-answer.js';
import type { AccessInfo } from './wire.js';

/** Where the token is kept: in this tab alone, and bound to the port. Cookies would go to every port of the machine. */
const STORAGE_KEY = 'token';

/** What the address said about signing in. */
interface Credentials {
  readonly token?: string;
  /** Of a link that counts once. */
  readonly code?: string;
}

/** Takes `#token=…` or `#code=…` out of the address and the history. */
export function takeCredentials(): Credentials {
  const [, kind, value] = /^#(token|code)=(.+)$/.exec(location.hash) ?? [];
  if (kind === undefined || value === undefined) return {};
  history.replaceState(null, '', `${location.pathname}#/`);
  return { [kind]: decodeSegment(value) };
}

/** The token of this tab; undefined before signing in. */
const storedToken = (): string | undefined => sessionStorage.getItem(STORAGE_KEY) ?? undefined;

/** Keeps the token for reloads of this tab. */
function storeToken(token: string): void {
  sessionStorage.setItem(STORAGE_KEY, token);
}

/** Forgets the token. */
function forgetToken(): void {
  sessionStorage.removeItem(STORAGE_KEY);
}

/**
 * Exchanges the code of a link for a token of this page.
 * @throws Error with the daemon's reason, for people
 */
async function redeemCode(code: string): Promise<string> {
  const response = await fetch('session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  const answer = (await response.json().catch(() => ({}))) as {
    readonly token?: string;
    readonly error?: { readonly message?: string };
  };
  if (answer.token !== undefined) return answer.token;
  throw new Error(answer.error?.message ?? `the link was refused (HTTP ${response.status})`);
}

/**
 * Asks whether this page needs a token.
 * @throws ClientError CONNECTION_FAILED when the daemon does not answer
 */
async function isTokenNeeded(): Promise<boolean> {
  const response = await fetch('session').catch((cause: unknown) => {
    throw new ClientError('CONNECTION_FAILED', `the daemon at ${location.origin} does not answer`, { cause });
  });
  const { token_needed: isNeeded } = (await response.json().catch(() => ({}))) as { readonly token_needed?: boolean };
  return isNeeded !== false;
}

/** Ends the token of this page, if it came from a link. Other tokens stay valid. */
async function endPageToken(token: string): Promise<void> {
  if (!token.startsWith('sap_')) return;
  // Whatever the answer: a daemon that is gone has forgotten the token.
  await fetch('session', { method: 'DELETE', headers: { authorization: `Bearer ${token}` } }).catch(() => undefined);
}

/** Pause between attempts to reach a daemon that does not answer, in milliseconds. */
const RETRY_MS = 1000;

/** State of the connection of the page. */
export type ConnectionStatus =
  /** `isByHand`: with a token that was typed; `detail`: why it takes so long. */
  | { readonly kind: 'connecting'; readonly detail?: string; readonly isByHand?: boolean }
  /** A token is needed; `reason` says why the last one does not do. */
  | { readonly kind: 'signed-out'; readonly reason?: string }
  | { readonly kind: 'connected' }
  /** The client tries to reconnect. What is shown was true at `since`. */
  | { readonly kind: 'lost'; readonly since: number };

/** Callbacks of a `DaemonConnection`. */
interface ConnectionListener {
  /** There is a client, which has connected for the first time. */
  onClient(client: AdapterClient): Promise<void>;
  /** The connection is there again. `isRestarted`: to another run of the daemon. */
  onRestored(isRestarted: boolean): Promise<void>;
  onLost(): void;
  /** `isWanted`: the user has signed out. */
  onSignedOut(isWanted: boolean): void;
}

/** The one connection of the page to its daemon. */
export class DaemonConnection {
  readonly #status = signal<ConnectionStatus>({ kind: 'connecting' });
  readonly #listener: ConnectionListener;
  #client: AdapterClient | undefined;
  #token: string | undefined;
  #isRestarted = false;
  /** Counts the attempts to sign in: an earlier one gives way to a later one. */
  #attempt = 0;
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
    try {
      const known = code === undefined ? (token ?? storedToken()) : await redeemCode(code);
      await (known === undefined ? this.#startWithout() : this.#connect(known));
    } catch (error) {
      this.#status.value = { kind: 'signed-out', reason: (error as Error).message };
    }
  }

  /** Connects with a token that was typed. A daemon that does not answer is tried again, until another token is typed. */
  async signIn(token: string): Promise<void> {
    await this.#connect(token, true);
  }

  /** Disconnects, and forgets the token. A token of a link is ended. */
  async signOut(): Promise<void> {
    const [client, token] = [this.#client, this.#token];
    this.#leave({}, true);
    if (token !== undefined) await endPageToken(token);
    await client?.close();
  }

  /** Asks first: a connection that lacks its token would be refused, and the refusal logged. */
  async #startWithout(): Promise<void> {
    const isNeeded = await this.#untilAnswered(isTokenNeeded, {});
    if (isNeeded === true) this.#leave({});
    else await this.#connect(undefined);
  }

  async #connect(token: string | undefined, isByHand = false): Promise<void> {
    const options = { reconnectTimeoutMs: Infinity, ...(token !== undefined && { token }) };
    this.#token = token;
    this.#endReason = undefined;
    try {
      const client = await this.#untilAnswered(() => connect(location.origin, options), { isByHand });
      if (!client) return;
      if (token !== undefined) storeToken(token);
      await this.#begin(client);
    } catch (error) {
      // Without a token, the refusal is no mistake of the user.
      this.#leave(token === undefined ? {} : { reason: messageOf(error) });
    }
  }

  /** Tries until the daemon answers. Gives undefined when another attempt to sign in has begun meanwhile. */
  async #untilAnswered<T>(ask: () => Promise<T>, shown: { readonly isByHand?: boolean }): Promise<T | undefined> {
    const attempt = (this.#attempt += 1);
    this.#status.value = { kind: 'connecting', ...shown };
    while (attempt === this.#attempt) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof ClientError) || error.code !== 'CONNECTION_FAILED') throw error;
        if (attempt === this.#attempt) this.#status.value = { kind: 'connecting', ...shown, detail: error.message };
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    return undefined;
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

  #leave(state: { readonly reason?: string }, isWanted = false): void {
    this.#client = undefined;
    this.#token = undefined;
    forgetToken();
    this.#listener.onSignedOut(isWanted);
    this.#status.value = { kind: 'signed-out', ...state };
  }
}

/** Kind of use of what belongs to one owner: to type and run, or to end. */
export type Use = 'use' | 'stop';

/** What this connection may do. The daemon decides; the page shows beforehand what it would refuse. */
export class Access {
  /** Undefined before the daemon has told. */
  readonly info = signal<AccessInfo | undefined>(undefined);

  /** Whether the daemon is a node of a cluster. */
  get inCluster(): boolean {
    return this.info.value?.node !== undefined;
  }

  /** Why a request would be refused, for people; undefined when it is allowed. */
  whyNot(request: RequestName): string | undefined {
    const info = this.info.value;
    if (!info) return 'The daemon has not told yet what this page may do.';
    if (info.may.includes(request)) return undefined;
    return `The role ${either(rolesFor(request))} may do this; you have the role ${info.role}.`;
  }

  /** Why a request about something of an owner would be refused; undefined when it is allowed. */
  whyNotOf(request: RequestName, owner: string, use: Use): string | undefined {
    const refused = this.whyNot(request);
    const info = this.info.value;
    if (refused !== undefined || !info) return refused;
    const isOwn = info.name === owner;
    if (isOwn || info.role === 'admin' || (use === 'stop' && info.role === 'operator')) return undefined;
    const roles = use === 'stop' ? 'operator or admin' : 'admin';
    return `It belongs to ${owner}. The role ${roles} may do this with what belongs to others; you have the role ${info.role}.`;
  }
}

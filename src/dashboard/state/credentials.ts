import { ClientError } from '../../client/index.js';
import { decodeSegment } from '../router/route.js';

/** Where the token is kept: in this tab alone, and bound to the port. Cookies would go to every port of the machine. */
const STORAGE_KEY = 'token';

/** What the address said about signing in. */
export interface Credentials {
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
export const storedToken = (): string | undefined => sessionStorage.getItem(STORAGE_KEY) ?? undefined;

/** Keeps the token for reloads of this tab. */
export function storeToken(token: string): void {
  sessionStorage.setItem(STORAGE_KEY, token);
}

/** Forgets the token. */
export function forgetToken(): void {
  sessionStorage.removeItem(STORAGE_KEY);
}

/**
 * Exchanges the code of a link for a token of this page.
 * @throws Error with the daemon's reason, for people
 */
export async function redeemCode(code: string): Promise<string> {
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
export async function isTokenNeeded(): Promise<boolean> {
  const response = await fetch('session').catch((cause: unknown) => {
    throw new ClientError('CONNECTION_FAILED', `the daemon at ${location.origin} does not answer`, { cause });
  });
  const { token_needed: isNeeded } = (await response.json().catch(() => ({}))) as { readonly token_needed?: boolean };
  return isNeeded !== false;
}

/** Ends the token of this page, if it came from a link. Other tokens stay valid. */
export async function endPageToken(token: string): Promise<void> {
  if (!token.startsWith('sap_')) return;
  // Whatever the answer: a daemon that is gone has forgotten the token.
  await fetch('session', { method: 'DELETE', headers: { authorization: `Bearer ${token}` } }).catch(() => undefined);
}

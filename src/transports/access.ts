import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

const LOCAL_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Headers by which a proxy says that a connection is somebody else's. */
const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const;

/** What decides which requests come in at all. */
export interface DoorSettings {
  /** Whether only this machine reaches the address that is listened on. */
  readonly isLoopback: boolean;
  /** Names of the daemon beside those of the loopback; lower case. */
  readonly allowedHosts: readonly string[];
  readonly corsAllowedOrigins: '*' | readonly string[];
  /** Whether web pages can be let in at all. */
  readonly takesPages: boolean;
}

/**
 * Why a request to the daemon's port is refused whoever makes it, or undefined. A page that has rebound its own name to this
 * machine sends that name as Host; a browser names the page that makes a request to another host as Origin.
 */
export function refusalOf({ headers }: Pick<IncomingMessage, 'headers'>, settings: DoorSettings): string | undefined {
  if (!isOwnHost(headers.host ?? '', settings)) {
    return `the host ${JSON.stringify(headers.host ?? '')} is not this machine; see socketio.allowed_hosts`;
  }
  const { origin } = headers;
  if (origin === undefined) return undefined;
  if (!settings.takesPages) return `requests of web pages are refused with auth.mode none (Origin: ${origin})`;
  const { corsAllowedOrigins: allowed } = settings;
  if (allowed === '*' || allowed.includes(origin)) return undefined;
  return `requests of web pages of ${origin} are refused; see socketio.cors_allowed_origins`;
}

/** Whether it is the maker of the request itself who has made the connection: no web page, and nobody behind a proxy. */
export const isDirect = (headers: IncomingHttpHeaders): boolean =>
  headers.origin === undefined && FORWARDING_HEADERS.every((name) => headers[name] === undefined);

/** Addresses cannot be rebound, so where other machines connect every one of them will do. */
function isOwnHost(header: string, { isLoopback, allowedHosts }: DoorSettings): boolean {
  const name = header.replace(/:\d+$/, '').toLowerCase();
  if (LOCAL_NAMES.has(name) || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name) || allowedHosts.includes(name))
    return true;
  return !isLoopback && isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

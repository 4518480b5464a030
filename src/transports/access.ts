import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

const LOCAL_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Headers by which a proxy says that a connection is somebody else's. */
const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const;

/** What decides which requests come in at all. */
export interface OriginPolicy {
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
export function refusalOf({ headers }: Pick<IncomingMessage, 'headers'>, settings: OriginPolicy): string | undefined {
  if (!isOwnHost(headers.host ?? '', settings)) {
    return `the host ${JSON.stringify(headers.host ?? '')} is not this machine; see socketio.allowed_hosts`;
  }
  const origin = pageOf(headers);
  if (origin === undefined) return undefined;
  if (!settings.takesPages) return `requests of web pages are refused with auth.mode none (Origin: ${origin})`;
  const { corsAllowedOrigins: allowed } = settings;
  if (allowed === '*' || allowed.includes(origin)) return undefined;
  return `requests of web pages of ${origin} are refused; see socketio.cors_allowed_origins`;
}

/**
 * The `Origin` of the web page that makes a request; undefined when a program makes it. Some programs send an `Origin` as well, such as
 * Python's websocket-client: that of the daemon itself. A page has that origin only if the daemon served it, or another server that had
 * the port before; browsers are known by headers that no page can change, so that such a page counts as one.
 */
export function pageOf({ origin, host = '', ...headers }: IncomingHttpHeaders): string | undefined {
  if (origin === undefined) return undefined;
  const isBrowser = headers['sec-fetch-site'] !== undefined || headers['user-agent']?.startsWith('Mozilla/') === true;
  return isBrowser || !isOriginOf(origin, host) ? origin : undefined;
}

/** Whether an origin is that of a `Host`, by http or https. A port may be left out where it is the scheme's own. */
function isOriginOf(origin: string, host: string): boolean {
  const [, scheme] = /^(https?):\/\/[^/?#@]+$/i.exec(origin) ?? [];
  if (scheme === undefined || !URL.canParse(origin) || !URL.canParse(`${scheme}://${host}`)) return false;
  return new URL(origin).host === new URL(`${scheme}://${host}`).host;
}

/**
 * Why a request needs a token, as far as its headers tell: a web page makes it, or a proxy forwards it. Undefined when the connection
 * is that of its maker.
 */
export function indirectnessOf(headers: IncomingHttpHeaders): string | undefined {
  const page = pageOf(headers);
  if (page !== undefined) {
    const { host = '' } = headers;
    return `the request has the header Origin: ${page}, as those of web pages have; a program may leave it out, or send http://${host}`;
  }
  const forwarding = FORWARDING_HEADERS.find((name) => headers[name] !== undefined);
  return forwarding === undefined ? undefined : `a proxy forwards the request, by its header ${forwarding}`;
}

/** Addresses cannot be rebound, so where other machines connect every one of them will do. */
function isOwnHost(header: string, { isLoopback, allowedHosts }: OriginPolicy): boolean {
  const name = header.replace(/:\d+$/, '').toLowerCase();
  if (LOCAL_NAMES.has(name) || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name) || allowedHosts.includes(name))
    return true;
  return !isLoopback && isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

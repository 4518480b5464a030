import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

const LOCAL_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Headers that a proxy adds to forwarded requests. */
const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const;

/** Settings for accepting requests by host and origin. */
export interface OriginPolicy {
  /** True when the listening address is reachable from this machine only. */
  readonly isLoopback: boolean;
  /** Host names of the daemon in addition to those of the loopback interface; lower case. */
  readonly allowedHosts: readonly string[];
  readonly corsAllowedOrigins: '*' | readonly string[];
  /** True when requests of web pages are accepted at all. */
  readonly takesPages: boolean;
}

/**
 * Why a request to the daemon's port is refused regardless of its token, or undefined. A page that has rebound its own
 * host name to this machine (DNS rebinding) sends that name as Host; a browser sends the page's origin as Origin with
 * requests to another host.
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
 * The `Origin` of the web page that sends a request; undefined for a request of a program. Some programs, such as
 * Python's websocket-client, send the daemon's own origin. A page has that origin only if the daemon served it, or
 * another server that used the port before; browsers are recognised by headers that a page cannot change, so such a
 * page counts as a page.
 */
export function pageOf({ origin, host = '', ...headers }: IncomingHttpHeaders): string | undefined {
  if (origin === undefined) return undefined;
  const isBrowser = headers['sec-fetch-site'] !== undefined || headers['user-agent']?.startsWith('Mozilla/') === true;
  return isBrowser || !isOriginOf(origin, host) ? origin : undefined;
}

/** True when an origin matches a `Host`, with http or https. The default port of the scheme may be omitted. */
function isOriginOf(origin: string, host: string): boolean {
  const [, scheme] = /^(https?):\/\/[^/?#@]+$/i.exec(origin) ?? [];
  if (scheme === undefined || !URL.canParse(origin) || !URL.canParse(`${scheme}://${host}`)) return false;
  return new URL(origin).host === new URL(`${scheme}://${host}`).host;
}

/**
 * Why a request needs a token, judging by its headers: a web page sends it, or a proxy forwards it. Undefined for a
 * direct request.
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

/** IP addresses cannot be rebound, so any address is accepted when other machines can connect. */
function isOwnHost(header: string, { isLoopback, allowedHosts }: OriginPolicy): boolean {
  const name = header.replace(/:\d+$/, '').toLowerCase();
  if (LOCAL_NAMES.has(name) || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name) || allowedHosts.includes(name))
    return true;
  return !isLoopback && isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

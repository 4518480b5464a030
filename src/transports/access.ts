import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

const LOCAL_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Names of headers that proxies, tunnels and content delivery networks add to forwarded requests. Standards: `Via` of
 * RFC 9110, `Forwarded` of RFC 7239, `CDN-Loop` of RFC 8586; the others are documented by their products.
 */
const FORWARDING_HEADERS: readonly RegExp[] = [
  /^(?:via|forwarded|cdn-loop|proxy-connection|front-end-https)$/,
  /^x-(?:forwarded|host|scheme|url-scheme|varnish|nginx-proxy|cloud-trace-context)$/,
  // X-Forwarded-For, X-Forwarded-Host, Forwarded-For, X-Original-Forwarded-For.
  /^(?:x-)?(?:original-)?forwarded-/,
  /^x-(?:original|rewrite)-/,
  // The address of the client: X-Real-IP, True-Client-IP, X-Cluster-Client-IP, X-Azure-ClientIP, X-ProxyUser-IP.
  /^(?:[a-z]+-)*(?:real|client|remote|user|proxyuser|connecting|src)-?(?:ip(?:v6)?|addr(?:ess)?)$/,
  // The user whom a proxy has authenticated.
  /^(?:x-)?(?:remote|webauth|auth-request)-/,
  // Networks and tunnels, which have several headers each.
  /^(?:x-)?(?:cf|cdn|akamai|fastly|fly|vercel|nf|azure|arr|appengine|goog|amzn|amz-cf|envoy|tailscale|ngrok|tunnel|proxy)-/,
];

export interface OriginPolicy {
  /** True when the listening address is reachable from this machine only. */
  readonly isLoopback: boolean;
  /** Host names of the daemon in addition to those of the loopback interface; lower case. */
  readonly allowedHosts: readonly string[];
  readonly corsAllowedOrigins: '*' | readonly string[];
  /** True when pages of other origins are accepted, with a token; false when no connection needs one. */
  readonly takesPages: boolean;
}

/**
 * Why a request to the daemon's port is refused regardless of its token, or undefined. A page that has rebound its own
 * host name to this machine (DNS rebinding) sends that name as Host; a browser sends the page's origin as Origin with
 * requests to another host. The daemon's own page needs no entry in the list: with an accepted `Host`, no other page has
 * its origin. Schemes are not compared, since a proxy may add TLS.
 */
export function refusalOf({ headers }: Pick<IncomingMessage, 'headers'>, settings: OriginPolicy): string | undefined {
  if (!isOwnHost(headers.host ?? '', settings)) {
    return `the host ${JSON.stringify(headers.host ?? '')} is not this machine; see socketio.allowed_hosts`;
  }
  const origin = pageOf(headers);
  if (origin === undefined || isOriginOf(origin, headers.host ?? '')) return undefined;
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

/** True for a request of a page that the daemon has served: browsers say so, or say nothing about other sites. */
export function isOfOwnPage({
  origin,
  host = '',
  'sec-fetch-site': site = 'same-origin',
}: IncomingHttpHeaders): boolean {
  return site === 'same-origin' && (origin === undefined || isOriginOf(origin, host));
}

/**
 * True for a request that a web page causes, with or without an `Origin`. A browser says `none` for what its user asks
 * for, by the address bar for example. Source: https://w3c.github.io/webappsec-fetch-metadata/#sec-fetch-site-header
 */
export const isOfPage = (headers: IncomingHttpHeaders): boolean =>
  pageOf(headers) !== undefined || (headers['sec-fetch-site'] ?? 'none') !== 'none';

/**
 * Why a request needs a token, judging by its headers: a browser sends it, or a proxy forwards it. Undefined for a
 * direct request of a program.
 * @param isOwnPageDirect true when no token is needed (`auth.mode: none`): the dashboard has none to show then
 */
export function indirectnessOf(headers: IncomingHttpHeaders, isOwnPageDirect = false): string | undefined {
  if (isOwnPageDirect && isOfOwnPage(headers)) return forwardingOf(headers);
  const { host = '', 'sec-fetch-site': site } = headers;
  const page = pageOf(headers);
  if (page !== undefined) {
    return `the request has the header Origin: ${page}, as those of web pages have; a program may leave it out, or send http://${host}`;
  }
  if (site !== undefined) return `a browser sends the request, by its header Sec-Fetch-Site: ${site}`;
  return forwardingOf(headers);
}

/** Why a request counts as forwarded by a proxy, as a clause; undefined for one that no proxy has marked. */
export function forwardingOf(headers: IncomingHttpHeaders): string | undefined {
  const name = Object.keys(headers).find((one) => FORWARDING_HEADERS.some((pattern) => pattern.test(one)));
  return name === undefined ? undefined : `a proxy forwards the request, by its header ${name}`;
}

/** IP addresses cannot be rebound, so any address is accepted when other machines can connect. */
function isOwnHost(header: string, { isLoopback, allowedHosts }: OriginPolicy): boolean {
  const name = header.replace(/:\d+$/, '').toLowerCase();
  if (LOCAL_NAMES.has(name) || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name) || allowedHosts.includes(name))
    return true;
  return !isLoopback && isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

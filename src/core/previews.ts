import { AdapterError } from './errors.js';

/** Headers, with names in lower case. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export type ForwardedHeaders = Record<string, string | string[]>;

/** Headers of one connection. Source: RFC 9110, section 7.6.1. */
export const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Headers that belong to the connection because `Connection` names them. */
export const namedBy = ({ connection }: Headers): string[] =>
  [connection ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((name) => name.trim().toLowerCase());

export function keep(headers: Headers, isKept: (name: string) => boolean): ForwardedHeaders {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && isKept(name));
  return Object.fromEntries(kept) as ForwardedHeaders;
}

type Loopback = '127.0.0.1' | '::1';

/** Addresses on which a program is reached from its own machine, and where it is then. `::` and `0.0.0.0` are all. */
const REACHED_AT: Readonly<Record<string, Loopback>> = {
  '127.0.0.1': '127.0.0.1',
  '0.0.0.0': '127.0.0.1',
  // IPv4 addresses in the sockets of IPv6. Source: RFC 4291, section 2.5.5.2.
  '::ffff:7f00:1': '127.0.0.1',
  '::ffff:0:0': '127.0.0.1',
  '::1': '::1',
};

/**
 * Address of the loopback interface for a listening socket's address; undefined when it listens on another one alone. A
 * socket of `::` accepts IPv4 too, unless it was told not to.
 * @param hasIpv6 whether the interface has an address of IPv6
 */
export function loopbackFor(address: string, hasIpv6: boolean): Loopback | undefined {
  if (address === '::') return hasIpv6 ? '::1' : '127.0.0.1';
  return REACHED_AT[address];
}

/** What the program on a port is told about the request. */
interface PreviewOrigin {
  readonly port: number;
  /** Path of the preview, without a slash at its end. */
  readonly prefix: string;
  /** Header `Host` of the request. */
  readonly host: string;
  readonly isEncrypted: boolean;
  /** Whether the content is shown under an origin that nothing else has; by default under that of the daemon. */
  readonly isOwn?: boolean;
}

/** Header of a request: the origin under which its client shows the content, which nothing else has. */
export const OWN_ORIGIN_HEADER = 'x-preview-origin';

/**
 * Where the content is shown: under the origin that the client names, or under that of the daemon.
 * @param named value of the header `x-preview-origin`
 * @throws AdapterError INVALID_REQUEST when it names no origin
 */
export function shownAt(origin: PreviewOrigin, named: string | readonly string[] | undefined): PreviewOrigin {
  if (named === undefined) return origin;
  const url = typeof named === 'string' && URL.canParse(named) ? new URL(named) : undefined;
  if (!url || url.origin !== named || !/^https?:$/.test(url.protocol)) {
    const message = `${OWN_ORIGIN_HEADER} has to be an origin, such as http://127.0.0.1:3000; it is ${JSON.stringify(named)}`;
    throw new AdapterError('INVALID_REQUEST', message);
  }
  return { port: origin.port, prefix: '', host: url.host, isEncrypted: url.protocol === 'https:', isOwn: true };
}

const HTTP_PORT = 80;

/**
 * Headers of requests that are for the daemon: its tokens, what is replaced, and `Expect`, which the daemon has answered.
 */
const OF_THE_DAEMON = ['authorization', 'x-api-key', 'host', 'expect', 'forwarded', OWN_ORIGIN_HEADER];

/** Headers of answers that act on a whole origin, which is the daemon's, or that allow other pages to read them. */
const OF_THE_ORIGIN = [
  'accept-ch',
  'alt-svc',
  'clear-site-data',
  'critical-ch',
  'nel',
  'public-key-pins',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'strict-transport-security',
  'www-authenticate',
];

/**
 * The headers with which a request goes to the program on a port. A body keeps the framing that it came with.
 * @param isUpgrade whether the connection is to become one of WebSocket
 */
export function requestHeaders(headers: Headers, origin: PreviewOrigin, isUpgrade = false): ForwardedHeaders {
  const dropped = new Set([...HOP_BY_HOP, ...OF_THE_DAEMON, ...namedBy(headers)]);
  const kept = keep(headers, (name) => !dropped.has(name) && !name.startsWith('x-forwarded-'));
  return {
    ...kept,
    ...(headers['transfer-encoding'] !== undefined && !isUpgrade && { 'transfer-encoding': 'chunked' }),
    ...(isUpgrade && { connection: 'Upgrade', upgrade: 'websocket' }),
    host: `localhost:${origin.port}`,
    'x-forwarded-host': origin.host,
    'x-forwarded-proto': origin.isEncrypted ? 'https' : 'http',
    ...(origin.prefix !== '' && { 'x-forwarded-prefix': origin.prefix }),
  };
}

/**
 * The headers with which the answer of the program goes to the client. Under the origin of the daemon, a browser gives the
 * content one of its own, runs none of its scripts, and sends its cookies to this preview alone.
 */
export function answerHeaders(headers: Headers, origin: PreviewOrigin, isUpgrade = false): ForwardedHeaders {
  const dropped = new Set([...HOP_BY_HOP, ...OF_THE_ORIGIN, ...namedBy(headers)]);
  const kept = keep(headers, (name) => !dropped.has(name) && !name.startsWith('access-control-'));
  const { 'content-security-policy': policy, 'set-cookie': cookies, location } = kept;
  return {
    ...kept,
    ...(cookies !== undefined && {
      'set-cookie': [cookies].flat().map((cookie) => scopeCookie(cookie, origin.prefix)),
    }),
    ...(typeof location === 'string' && { location: rebaseLocation(location, origin) }),
    ...(isUpgrade && { connection: 'Upgrade', upgrade: 'websocket' }),
    ...(origin.isOwn !== true && {
      'content-security-policy': policy === undefined ? 'sandbox' : ['sandbox', ...[policy].flat()],
    }),
  };
}

/** Cookies are shared by all ports of a host: they get the path of the preview. */
function scopeCookie(cookie: string, prefix: string): string {
  const parts = cookie.split(';').filter((part, index) => index === 0 || !/^\s*(?:domain|path)\s*(?:=|$)/i.test(part));
  return [...parts, ` Path=${prefix}/`].join(';');
}

/** A redirect to another page of the program leads there through the daemon. */
function rebaseLocation(location: string, { port, prefix }: PreviewOrigin): string {
  const path = localPathOf(location, port);
  return path === undefined ? location : `${prefix}${path}`;
}

const LOCAL_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Path, query and fragment of a page of the program; undefined for another page, and for a relative address. */
function localPathOf(location: string, port: number): string | undefined {
  if (/^\/(?![/\\])/.test(location)) return location;
  if (!URL.canParse(location)) return undefined;
  const { protocol, hostname, port: named, pathname, search, hash } = new URL(location);
  const isOwn = protocol === 'http:' && LOCAL_NAMES.has(hostname) && Number(named || HTTP_PORT) === port;
  return isOwn ? `${pathname}${search}${hash}` : undefined;
}

/** Address of a request to a port of a session, taken apart. */
interface PreviewUrl {
  readonly sessionId: string;
  /** As it was given: it need not be a number. */
  readonly port: string;
  /** Path of everything on the port, without a slash at its end. */
  readonly prefix: string;
  /** Path and query as the program on the port gets them. */
  readonly path: string;
}

const URL_PATTERN = /^(\/v1\/sessions\/([^/?#]+)\/ports\/([^/?#]+))(\/[^?#]*)?(\?[^#]*)?$/;

/** Takes the path and query of a request apart; undefined for another path. */
export function parsePreviewUrl(url: string): PreviewUrl | undefined {
  const [, prefix, sessionId, port, path = '/', query = ''] = URL_PATTERN.exec(url) ?? [];
  if (prefix === undefined || sessionId === undefined || port === undefined) return undefined;
  return { sessionId, port, prefix, path: `${path}${query}` };
}

/** Path under which a port of a session is served, with a slash at its end. */
export const previewPathOf = (sessionId: string, port: number): string => `/v1/sessions/${sessionId}/ports/${port}/`;

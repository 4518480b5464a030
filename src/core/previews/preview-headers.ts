import { AdapterError } from '../errors.js';
import { type ForwardedHeaders, type Headers, HOP_BY_HOP, keep, namedBy } from './http-headers.js';

/** What the program on a port is told about the request. */
export interface PreviewOrigin {
  /** Port of the program. */
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

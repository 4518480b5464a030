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
}

const HTTP_PORT = 80;

/**
 * Headers of requests that are for the daemon: its tokens, what is replaced, and `Expect`, which the daemon has answered.
 */
const OF_THE_DAEMON = ['authorization', 'x-api-key', 'host', 'expect', 'forwarded'];

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
    'x-forwarded-prefix': origin.prefix,
  };
}

/**
 * The headers with which the answer of the program goes to the client. A browser gives the content an origin of its own,
 * runs none of its scripts, and sends its cookies to this preview alone.
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
    'content-security-policy': policy === undefined ? 'sandbox' : ['sandbox', ...[policy].flat()],
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

import { groupsOf } from './ip-address.js';
import { MAX_PORT } from './protocol/bounds.js';

/** An IP address as a number, with the bits of its version. An IPv4 address mapped to IPv6 is an IPv4 address. */
export interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** All addresses that share the first bits of one. */
interface AddressRange extends Address {
  readonly prefix: number;
}

const MAPPED_PREFIX = 0xffffn;

/** Parses an IP address in its canonical form, as `hostOf` returns it; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  if (/^\d+(\.\d+){3}$/.test(text)) {
    const value = text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
    return { bits: 32, value };
  }
  return text.includes(':') ? parseSix(text) : undefined;
}

function parseSix(text: string): Address {
  const value = groupsOf(text).reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
  return value >> 32n === MAPPED_PREFIX ? { bits: 32, value: value & 0xffff_ffffn } : { bits: 128, value };
}

const isInRange = ({ bits, value }: Address, range: AddressRange): boolean =>
  bits === range.bits && value >> BigInt(bits - range.prefix) === range.value >> BigInt(bits - range.prefix);

const range = (text: string): AddressRange => {
  const [address = '', prefix] = text.split('/');
  return { ...(parseAddress(address) as Address), prefix: Number(prefix) };
};

/** Ranges of this machine itself. */
const LOOPBACK = ['127.0.0.0/8', '::1/128'].map(range);

/** Ranges that are not, or not only, addresses of public servers. Source: the special-purpose registries of the IANA. */
const NOT_PUBLIC = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
  // Among those of IPv6 that are assigned at all: protocols such as Teredo, documentation, and 6to4.
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
].map(range);

/** The only addresses of IPv6 that are assigned to networks. */
const GLOBAL_SIX = range('2000::/3');

/** Whether an address is that of a server on the Internet, not of this machine, a private network or anything special. */
const isPublic = (address: Address): boolean =>
  (address.bits === 32 || isInRange(address, GLOBAL_SIX)) && !NOT_PUBLIC.some((each) => isInRange(address, each));

/** Whether an address always means this machine. */
export const isLoopback = (address: Address): boolean => LOOPBACK.some((each) => isInRange(address, each));

/** Whether an address stands for all of this machine: connecting to it reaches the loopback. */
export const isUnspecified = ({ value }: Address): boolean => value === 0n;

export interface Destination {
  /** A name in lower case, in its ASCII form and without a dot at the end, or an IP address in its canonical form. */
  readonly host: string;
  readonly port: number;
}

/** Characters that a URL would not take for a part of the host. */
const FOREIGN = /[\s/\\?#@%[\]]/;

/**
 * Returns the canonical form of a name or an address: `EXAMPLE.com.` is `example.com`, `0x7f.1` is `127.0.0.1`. Undefined
 * when it is neither.
 * @param text an IPv6 address may stand in brackets
 */
export function hostOf(text: string): string | undefined {
  const bare = /^\[[^\]]*\]$/.test(text) ? text.slice(1, -1) : text;
  if (bare === '' || FOREIGN.test(bare)) return undefined;
  try {
    const { hostname } = new URL(`http://${bare.includes(':') ? `[${bare}]` : bare}/`);
    const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    return host === '' ? undefined : host;
  } catch {
    // TypeError: not a host.
    return undefined;
  }
}

/** Returns the number of a port; undefined when the text is not one. */
function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port > 0 && port <= MAX_PORT ? port : undefined;
}

/**
 * Parses `HOST:PORT`.
 * @param fallback the port of a text without one
 */
export function destinationOf(text: string, fallback?: number): Destination | undefined {
  const [, named = '', digits] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(text) ?? [];
  const host = hostOf(named);
  const port = digits === undefined ? fallback : portOf(digits);
  return host === undefined || port === undefined ? undefined : { host, port };
}

/** `HOST:PORT`, with an IPv6 address in brackets. */
export const showDestination = ({ host, port }: Destination): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

export interface AllowedDestination {
  /** A name; with `isBelow`, every name below it instead. Undefined for addresses. */
  readonly name?: string;
  readonly isBelow?: boolean;
  readonly range?: AddressRange;
  /** Undefined for every port. */
  readonly port: number | undefined;
}

const FORMS =
  'must be HOST or HOST:PORT, where HOST is a name (example.com), all names below one (*.example.com), an address (192.0.2.1, [2001:db8::1]) or a range (10.0.0.0/8)';

/** Names that mean this machine wherever they are looked up (RFC 6761). */
const isLocalName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost');

/**
 * Parses an entry of an allow-list.
 * @returns the entry, or a sentence that says what would be right
 */
export function parseAllowed(text: string): AllowedDestination | string {
  const { named, prefix, digits } = splitEntry(text);
  const port = digits === undefined ? undefined : portOf(digits);
  if (digits !== undefined && port === undefined) return 'must have a port from 1 to 65535 after the colon';
  const isBelow = named.startsWith('*.');
  const host = hostOf(isBelow ? named.slice(2) : named);
  if (host === undefined || host.includes('*')) return FORMS;
  const address = parseAddress(host);
  if (!address) return prefix === undefined ? { name: host, isBelow, port } : FORMS;
  return isBelow ? FORMS : rangeEntry(address, prefix, port);
}

/** The parts of `NAME/PREFIX:PORT`. An IPv6 address without brackets has no port. */
function splitEntry(text: string) {
  const isBareSix = text.split(':').length > 2 && !text.includes('[');
  const form = isBareSix ? /^([^/]*)(?:\/(\d+))?$/ : /^(\[[^\]]*\]|[^:/]*)(?:\/(\d+))?(?::(.*))?$/;
  // A URL has no port to complain about.
  const [, named = '', prefix, digits] = (text.includes('//') ? undefined : form.exec(text)) ?? [];
  return { named, prefix, digits };
}

function rangeEntry(
  address: Address,
  digits: string | undefined,
  port: number | undefined,
): AllowedDestination | string {
  const prefix = digits === undefined ? address.bits : Number(digits);
  if (prefix > address.bits) return `must have a prefix length from 0 to ${address.bits} after the slash`;
  return { range: { ...address, prefix }, port };
}

/** The destinations that programs in a sandbox can connect to. */
export class AllowList {
  readonly #entries: readonly AllowedDestination[];

  constructor(entries: readonly AllowedDestination[]) {
    this.#entries = entries;
  }

  /** Whether a destination is listed by the name or the address that a program has given. */
  lists({ host, port }: Destination): boolean {
    const address = parseAddress(host);
    if (address) return this.listsAddress(address, port);
    return this.#for(port).some(({ name, isBelow }) => {
      return name !== undefined && (isBelow === true ? host.endsWith(`.${name}`) : host === name);
    });
  }

  /** Whether an address is listed as such, or as part of a range. */
  listsAddress(address: Address, port: number): boolean {
    return this.#for(port).some(({ range }) => range !== undefined && isInRange(address, range));
  }

  /**
   * Whether a listed name may lead to an address: to a public one, to a listed one, and `localhost` to the loopback.
   * Otherwise the name server of a listed name could open the machine's own network.
   */
  mayLeadTo(address: Address, { host, port }: Destination): boolean {
    if (isPublic(address) || this.listsAddress(address, port)) return true;
    return isLocalName(host) && isLoopback(address);
  }

  /** Hosts of the loopback that programs have to reach without a proxy, because they mean the sandbox itself. */
  get ownHosts(): readonly string[] {
    const isListed = (host: string) => {
      const address = parseAddress(host);
      return this.#entries.some(({ name, range }) => (address ? range && isInRange(address, range) : name === host));
    };
    return ['localhost', '127.0.0.1', '::1'].filter((host) => !isListed(host));
  }

  #for(wanted: number): readonly AllowedDestination[] {
    return this.#entries.filter(({ port }) => port === undefined || port === wanted);
  }
}

/** What the first bytes of a client on a connection are. */
export type Opening =
  /** Not enough bytes to tell. */
  | { readonly kind: 'incomplete' }
  /** A handshake of TLS; the name is undefined when it has none. */
  | { readonly kind: 'tls'; readonly name: string | undefined }
  | { readonly kind: 'http' }
  | { readonly kind: 'other' }
  /** It looks like TLS or HTTP, and is not in order. */
  | { readonly kind: 'broken'; readonly why: string };

const TLS_HANDSHAKE = 22;
const TLS_MAJOR = 3;
const RECORD_HEADER = 5;
const CLIENT_HELLO = 1;
const HANDSHAKE_HEADER = 4;
const SERVER_NAME = 0;
const HOST_NAME = 0;
/** Bytes of a ClientHello before its session id: version and random. */
const HELLO_FIXED = 34;
/** Longest first line of a request, in bytes. */
const MAX_LINE = 16 * 1024;
/** Largest ClientHello, in bytes: those with post-quantum keys have 2 KiB. */
const MAX_HELLO = 16 * 1024;

const CR = 13;
const LF = 10;
const HTTP_LINE = /^\S+\s+\S.*\sHTTP\/\d/i;

/** Tells by its first bytes which protocol a client speaks, and with TLS which server it names (RFC 8446, RFC 6066). */
export function readOpening(bytes: Uint8Array): Opening {
  if (bytes.length === 0) return { kind: 'incomplete' };
  return bytes[0] === TLS_HANDSHAKE ? readTls(bytes) : readLine(bytes);
}

function readLine(bytes: Uint8Array): Opening {
  // Servers skip empty lines before a request.
  const start = bytes.findIndex((byte) => byte !== CR && byte !== LF);
  if (start === -1) return bytes.length > MAX_LINE ? { kind: 'other' } : { kind: 'incomplete' };
  const end = bytes.indexOf(LF, start);
  const line = new TextDecoder('latin1').decode(bytes.subarray(start, end === -1 ? undefined : end));
  if (end !== -1) return HTTP_LINE.test(line) ? { kind: 'http' } : { kind: 'other' };
  if (!/^[!-~]+( [ -~]*)?\r?$/.test(line)) return { kind: 'other' };
  return bytes.length > MAX_LINE ? { kind: 'broken', why: 'its first line is too long' } : { kind: 'incomplete' };
}

function readTls(bytes: Uint8Array): Opening {
  const hello = helloOf(bytes);
  if (hello === undefined) return { kind: 'incomplete' };
  if (typeof hello === 'string') return { kind: 'broken', why: hello };
  try {
    return { kind: 'tls', name: nameIn(new Reader(hello)) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { kind: 'broken', why: 'its TLS handshake is cut off' };
  }
}

/** The ClientHello without the headers of its records; undefined until all of it is there, or why it is none. */
function helloOf(bytes: Uint8Array): Uint8Array | string | undefined {
  const content = recordsOf(bytes);
  if (!content) return 'it begins like TLS and is not';
  const [type = CLIENT_HELLO] = content;
  if (type !== CLIENT_HELLO) return 'its TLS handshake does not begin with a ClientHello';
  if (content.length >= HANDSHAKE_HEADER) {
    const size = new Reader(content.subarray(1)).number(3);
    if (size > MAX_HELLO) return 'its TLS handshake is too large';
    if (content.length >= HANDSHAKE_HEADER + size) return content.subarray(HANDSHAKE_HEADER, HANDSHAKE_HEADER + size);
  }
  return bytes.length > 2 * MAX_HELLO ? 'its TLS handshake is too large' : undefined;
}

/** The content of the records that have arrived, as far as it has; undefined when one is not of a handshake. */
function recordsOf(bytes: Uint8Array): Uint8Array | undefined {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const [type, major = TLS_MAJOR] = bytes.subarray(at);
    if (type !== TLS_HANDSHAKE || major !== TLS_MAJOR) return parts.length > 0 ? joined(parts) : undefined;
    if (at + RECORD_HEADER > bytes.length) break;
    const start = at + RECORD_HEADER;
    at = start + new Reader(bytes.subarray(at + 3)).number(2);
    parts.push(bytes.subarray(start, at));
  }
  return joined(parts);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The server name of a ClientHello. Throws RangeError when the message ends early. */
function nameIn(hello: Reader): string | undefined {
  hello.take(HELLO_FIXED);
  hello.take(hello.number(1));
  hello.take(hello.number(2));
  hello.take(hello.number(1));
  if (hello.isAtEnd) return undefined;
  const extensions = new Reader(hello.take(hello.number(2)));
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = new Reader(extensions.take(extensions.number(2)));
    if (type !== SERVER_NAME) continue;
    const names = new Reader(content.take(content.number(2)));
    while (!names.isAtEnd) {
      const kind = names.number(1);
      const name = names.take(names.number(2));
      if (kind === HOST_NAME) return new TextDecoder('latin1').decode(name);
    }
  }
  return undefined;
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('the message ends early');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  number(length: number): number {
    return this.take(length).reduce((sum, byte) => sum * 256 + byte, 0);
  }
}

/** Port of the proxy on the loopback of a sandbox with an allow-list. */
export const PROXY_PORT = 3128;

const PROXY = `http://127.0.0.1:${PROXY_PORT}`;

/**
 * Returns the variables by which programs find the proxy. ALL_PROXY names it as an HTTP proxy too, which it is: some HTTP
 * libraries fail at the mere sight of a SOCKS proxy.
 * @param ownHosts hosts that programs reach without the proxy
 */
export function proxyVariables(ownHosts: readonly string[]): Readonly<Record<string, string>> {
  const variables = { http_proxy: PROXY, https_proxy: PROXY, all_proxy: PROXY, no_proxy: ownHosts.join(',') };
  const upper = Object.entries(variables).map(([name, value]) => [name.toUpperCase(), value]);
  // Node.js 24 and later read the other variables only with this one.
  return { ...variables, ...(Object.fromEntries(upper) as typeof variables), NODE_USE_ENV_PROXY: '1' };
}

type RefusalReason = 'not_listed' | 'not_public' | 'own_port' | 'other_name' | 'too_many' | 'not_understood';

export interface Refusal {
  readonly reason: RefusalReason;
  /** `HOST:PORT`; undefined when the program did not get that far. */
  readonly destination: string | undefined;
  /** What was refused, why, and what would allow it. */
  readonly message: string;
}

const SETTING = 'sandbox.network.allow';

const refusal = (reason: RefusalReason, destination: Destination | undefined, why: string): Refusal => {
  const shown = destination && showDestination(destination);
  const what = shown === undefined ? 'A connection' : `The connection to ${shown}`;
  return { reason, destination: shown, message: `${what} was refused: ${why}` };
};

export const REFUSALS = {
  notListed: (destination: Destination) =>
    refusal('not_listed', destination, `it is not in ${SETTING}; "${showDestination(destination)}" would allow it.`),
  notPublic: (destination: Destination, address: string) => {
    const entry = showDestination({ host: address, port: destination.port });
    const why = `${address} is not a public address, and ${SETTING} does not list it; "${entry}" would allow it.`;
    return refusal('not_public', destination, why);
  },
  ownPort: (destination: Destination) =>
    refusal('own_port', destination, 'it is a port of the daemon, which no setting opens to a sandbox.'),
  otherName: (destination: Destination, where: 'TLS handshake' | 'Host header', name: string) =>
    refusal(
      'other_name',
      destination,
      `its ${where} names ${name || 'no host'}, which is another host than that of the connection.`,
    ),
  tooMany: (limit: number) =>
    refusal('too_many', undefined, `${limit} connections are open already (sandbox.network.max_connections).`),
  notUnderstood: (destination: Destination | undefined, why: string) => refusal('not_understood', destination, why),
} as const;

/** A connection was refused by a rule, as opposed to having failed. */
export class RefusedConnection extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

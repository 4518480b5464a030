/** What the first bytes of a client on a connection are. */
export type Opening =
  /** Not enough bytes to tell. */
  | { readonly kind: 'incomplete' }
  /** A handshake of TLS; the name is undefined when it has none. */
  | { readonly kind: 'tls'; readonly name: string | undefined }
  /** A request of plain HTTP. */
  | { readonly kind: 'http' }
  /** Another protocol. */
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

/** Reads numbers and blocks one after another. */
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

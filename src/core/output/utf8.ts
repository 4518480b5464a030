/** Classifies a run of bytes. The engine passes the vectorized functions of `node:buffer`. */
export interface ByteScanner {
  readonly isAscii: (bytes: Uint8Array) => boolean;
  readonly isUtf8: (bytes: Uint8Array) => boolean;
}

/** Most bytes that decode to one character, valid or not. */
export const MAX_BYTES_PER_CHARACTER = 4;

/** Below this many bytes a loop is faster than a call into native code. */
const SMALL_CHUNK_BYTES = 48;

/** States of the decoder: the continuation bytes that it accepts next. */
const READY = 0;
const NEEDS_1 = 1;
const NEEDS_2 = 2;
const NEEDS_3 = 3;
const AFTER_E0 = 4;
const AFTER_ED = 5;
const AFTER_F0 = 6;
const AFTER_F4 = 7;

const STATE_COUNT = 8;
const STATE_MASK = STATE_COUNT - 1;

/** Set in a transition when the byte starts a character. Bit position, so that the flags can be summed. */
const STARTS_BIT = 3;
const STARTS = 1 << STARTS_BIT;

/** Set in a transition that produces U+FFFD: for the byte itself, or for the sequence that it cuts short. */
const INVALID = 1 << 4;

/** For each state but READY: the lowest and highest continuation byte, and the state after it. */
const CONTINUATIONS: readonly (readonly [low: number, high: number, next: number])[] = [
  [1, 0, READY],
  [0x80, 0xbf, READY],
  [0x80, 0xbf, NEEDS_1],
  [0x80, 0xbf, NEEDS_2],
  [0xa0, 0xbf, NEEDS_1],
  [0x80, 0x9f, NEEDS_1],
  [0x90, 0xbf, NEEDS_2],
  [0x80, 0x8f, NEEDS_2],
];

function startCharacter(byte: number): number {
  if (byte < 0x80) return READY;
  if (byte < 0xc2 || byte > 0xf4) return READY | INVALID;
  if (byte < 0xe0) return NEEDS_1;
  if (byte === 0xe0) return AFTER_E0;
  if (byte === 0xed) return AFTER_ED;
  if (byte < 0xf0) return NEEDS_2;
  if (byte === 0xf0) return AFTER_F0;
  return byte === 0xf4 ? AFTER_F4 : NEEDS_3;
}

/**
 * The UTF-8 decoder of the WHATWG Encoding Standard as a table, index `state << 8 | byte`. A sequence that breaks off
 * counts as one U+FFFD, and the byte that broke it starts a new sequence (the "maximal subpart" rule), so the
 * characters of a stream are exactly the transitions with STARTS. A sequence still open at the end is counted too, as
 * the U+FFFD that it would become.
 */
function buildTransitions(): Uint8Array {
  const transitions = new Uint8Array(STATE_COUNT << 8);
  CONTINUATIONS.forEach(([low, high, next], state) => {
    const cutShort = state === READY ? 0 : INVALID;
    for (let byte = 0; byte < 256; byte++) {
      const continues = byte >= low && byte <= high;
      transitions[(state << 8) | byte] = continues ? next : startCharacter(byte) | STARTS | cutShort;
    }
  });
  return transitions;
}

const TRANSITIONS = buildTransitions();

/** The table is total for a state and a byte; the fallbacks are for the type checker and never taken. */
const step = (state: number, byte: number | undefined): number => TRANSITIONS[(state << 8) | (byte ?? 0)] ?? 0;

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Counts the characters of bytes known to be valid UTF-8, four bytes at a time. */
function countValid(bytes: Uint8Array): number {
  const prologue = Math.min(-bytes.byteOffset & 3, bytes.length);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + prologue, (bytes.length - prologue) >> 2);
  let continuations = 0;
  for (let i = 0; i < prologue; i++) if (isContinuation(bytes[i])) continuations++;
  for (let i = prologue + words.length * 4; i < bytes.length; i++) if (isContinuation(bytes[i])) continuations++;
  for (let block = 0; block < words.length; block += 255) {
    // Each byte of `lanes` counts one column, so 255 words fit before a byte can overflow.
    const end = Math.min(block + 255, words.length);
    let lanes = 0;
    for (let i = block; i < end; i++) {
      const word = words[i] ?? 0;
      lanes = (lanes + ((word >>> 7) & ~(word >>> 6) & 0x01010101)) | 0;
    }
    continuations += (lanes & 0xff) + ((lanes >>> 8) & 0xff) + ((lanes >>> 16) & 0xff) + (lanes >>> 24);
  }
  return bytes.length - continuations;
}

/** Number of characters that the bytes decode to. */
export function countCharacters(bytes: Uint8Array): number {
  let state = READY;
  let count = 0;
  for (let i = 0; i < bytes.length; i++) {
    const transition = step(state, bytes[i]);
    state = transition & STATE_MASK;
    count += (transition >> STARTS_BIT) & 1;
  }
  return count;
}

/**
 * Offset of the byte at which character `index` starts (the first is 0), or the length when the text has fewer
 * characters.
 */
export function characterOffset(bytes: Uint8Array, index: number): number {
  let state = READY;
  let started = 0;
  for (let i = 0; i < bytes.length; i++) {
    const transition = step(state, bytes[i]);
    state = transition & STATE_MASK;
    started += (transition >> STARTS_BIT) & 1;
    if (started > index) return i;
  }
  return bytes.length;
}

/** Length without an incomplete sequence at the end, of at most three bytes, that further bytes could complete. */
export function completeLength(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  const earliest = Math.max(0, bytes.length - (MAX_BYTES_PER_CHARACTER - 1));
  while (start > earliest && isContinuation(bytes[start])) start--;
  let state = READY;
  for (let i = start; i < bytes.length; i++) state = step(state, bytes[i]) & STATE_MASK;
  return state === READY ? bytes.length : start;
}

/**
 * Counts the characters (code points) of a stream that arrives in chunks, as the WHATWG decoder would return them:
 * invalid bytes count as the U+FFFD they become, a byte order mark counts as a character.
 */
export class Utf8Counter {
  readonly #scanner: ByteScanner;
  #state = READY;
  #characters = 0;
  #invalid = 0;

  constructor(scanner: ByteScanner) {
    this.#scanner = scanner;
  }

  /** Characters so far, including an unfinished one at the end. */
  get characters(): number {
    return this.#characters;
  }

  /**
   * Whether the bytes so far, including an unfinished character at the end, contain invalid UTF-8 that decodes to
   * U+FFFD.
   */
  get lossy(): boolean {
    return this.#invalid !== 0 || this.#state !== READY;
  }

  /** Processes the next bytes. A character may be split between two calls. */
  push(bytes: Uint8Array): void {
    if (bytes.length < SMALL_CHUNK_BYTES) {
      this.#walk(bytes, 0, bytes.length);
      return;
    }
    let start = 0;
    while (this.#state !== READY && start < bytes.length) this.#walk(bytes, start, ++start);
    const rest = start === 0 ? bytes : bytes.subarray(start);
    if (this.#scanner.isAscii(rest)) this.#characters += rest.length;
    else this.#pushMixed(rest);
  }

  #pushMixed(bytes: Uint8Array): void {
    const end = completeLength(bytes);
    const complete = end === bytes.length ? bytes : bytes.subarray(0, end);
    if (this.#scanner.isUtf8(complete)) this.#characters += countValid(complete);
    else this.#walk(bytes, 0, end);
    this.#walk(bytes, end, bytes.length);
  }

  #walk(bytes: Uint8Array, from: number, to: number): void {
    let state = this.#state;
    let started = 0;
    let flags = 0;
    for (let i = from; i < to; i++) {
      const transition = step(state, bytes[i]);
      state = transition & STATE_MASK;
      started += (transition >> STARTS_BIT) & 1;
      flags |= transition;
    }
    this.#state = state;
    this.#characters += started;
    this.#invalid |= flags & INVALID;
  }
}

/** Finds where characters start in bytes that arrive in pieces, and counts them as `Utf8Counter` does. */
export class Utf8Cursor {
  #state = READY;
  #characters = 0;

  get characters(): number {
    return this.#characters;
  }

  /** Begins again, with no character passed. */
  reset(): void {
    this.#state = READY;
    this.#characters = 0;
  }

  /**
   * Passes the bytes from `from` to `to`, as long as there are at most `most` characters.
   * @returns the offset of the byte that starts one more; -1 when there is none
   */
  advance(bytes: Uint8Array, from: number, to: number, most: number): number {
    for (let i = from; i < to; i++) {
      const transition = step(this.#state, bytes[i]);
      const starts = (transition >> STARTS_BIT) & 1;
      if (this.#characters + starts > most) return i;
      this.#characters += starts;
      this.#state = transition & STATE_MASK;
    }
    return -1;
  }
}

/** A piece of a byte stream: text where it is valid UTF-8, otherwise the bytes. */
export interface Piece {
  /** Position of the piece's first byte in the stream. */
  readonly offset: number;
  readonly data: string | Uint8Array;
}

const NOTHING = new Uint8Array(0);

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOrBytes(bytes: Uint8Array): string | Uint8Array {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    // The TypeError of a fatal decoder: the bytes are not UTF-8. Copied, since the caller may reuse its buffer.
    return new Uint8Array(bytes);
  }
}

/**
 * Turns the chunks of a byte stream into text without splitting a character: the bytes of an incomplete character at
 * the end of a chunk, at most three, are held back for the next chunk. An invalid chunk is returned as bytes, whole, so
 * that the bytes of all pieces in order are exactly the stream.
 */
export class Utf8Chunker {
  #held = NOTHING;
  #offset = 0;

  /** Returns the part of the stream up to these bytes that is complete: one piece or none. */
  push(bytes: Uint8Array): Piece[] {
    const joined = this.#held.length === 0 ? bytes : this.#joinHeld(bytes);
    const end = completeLength(joined);
    this.#held = end === joined.length ? NOTHING : new Uint8Array(joined.subarray(end));
    return this.#take(end === joined.length ? joined : joined.subarray(0, end));
  }

  /** Returns the bytes of an incomplete character that are still held back. */
  flush(): Piece[] {
    const held = this.#held;
    this.#held = NOTHING;
    return this.#take(held);
  }

  #joinHeld(bytes: Uint8Array): Uint8Array {
    const joined = new Uint8Array(this.#held.length + bytes.length);
    joined.set(this.#held);
    joined.set(bytes, this.#held.length);
    return joined;
  }

  #take(bytes: Uint8Array): Piece[] {
    if (bytes.length === 0) return [];
    const piece = { offset: this.#offset, data: textOrBytes(bytes) };
    this.#offset += bytes.length;
    return [piece];
  }
}

const COMMON = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const asCodes = (alphabet: string): Uint8Array => Uint8Array.from(alphabet, (digit) => digit.charCodeAt(0));

/** RFC 4648, section 4. */
const STANDARD = asCodes(`${COMMON}+/`);

/** RFC 4648, section 5. */
const URL_SAFE = asCodes(`${COMMON}-_`);

const decoder = new TextDecoder();

/**
 * Digits for all the bytes. Missing bytes of the last group of three give digits of zero bits, which the caller
 * replaces.
 */
function encodeDigits(bytes: Uint8Array, alphabet: Uint8Array): Uint8Array {
  const digits = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  let at = 0;
  for (let i = 0; i < bytes.length; i += 3) {
    const triple = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    digits[at++] = alphabet[triple >> 18] ?? 0;
    digits[at++] = alphabet[(triple >> 12) & 63] ?? 0;
    digits[at++] = alphabet[(triple >> 6) & 63] ?? 0;
    digits[at++] = alphabet[triple & 63] ?? 0;
  }
  return digits;
}

const missingBytes = (bytes: Uint8Array): number => (3 - (bytes.length % 3)) % 3;

/** Base64 with padding. */
export function base64(bytes: Uint8Array): string {
  const digits = encodeDigits(bytes, STANDARD);
  return decoder.decode(digits.fill('='.charCodeAt(0), digits.length - missingBytes(bytes)));
}

/** Base64 with the alphabet for URLs and file names, without padding. */
export function base64Url(bytes: Uint8Array): string {
  const digits = encodeDigits(bytes, URL_SAFE);
  // Ids are short, and for short texts this is faster than a decoder.
  return String.fromCharCode(...digits.subarray(0, digits.length - missingBytes(bytes)));
}

/** Four digits each, the last ones with padding. */
const VALID = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The bytes of base64 with padding; undefined when the text is none. */
export function bytesOf(text: string): Uint8Array | undefined {
  return VALID.test(text) ? Uint8Array.from(atob(text), (character) => character.charCodeAt(0)) : undefined;
}

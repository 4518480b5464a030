import { completeLength } from './utf8.js';

/** A piece of a byte stream: text where it is valid UTF-8, otherwise the bytes. */
export interface Piece {
  /** Position of the piece's first byte in the stream. */
  readonly offset: number;
  readonly data: string | Uint8Array;
}

const NOTHING = new Uint8Array(0);

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOrBytes(bytes: Uint8Array): string | Uint8Array {
  try {
    return decoder.decode(bytes);
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

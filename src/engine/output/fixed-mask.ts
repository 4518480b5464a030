import { findSecrets } from '../../core/secrets/spans.js';

const ASTERISK = 42;
const EMPTY = Buffer.alloc(0);

/** Masks secrets in a stream of bytes by as many asterisks, also where a secret begins in one chunk and ends in another. */
export class FixedMask {
  readonly #secrets: readonly Buffer[];
  /** Bytes that are held back because a secret may begin in them. */
  readonly #heldBytes: number;
  #held: Buffer = EMPTY;
  /** Bytes at the beginning of the held ones that belong to a secret. */
  #maskedBytes = 0;

  /** @param patterns see `patternsOf`; none may be empty */
  constructor(patterns: readonly string[]) {
    this.#secrets = patterns.map((pattern) => Buffer.from(pattern));
    this.#heldBytes = Math.max(...this.#secrets.map(({ length }) => length)) - 1;
  }

  /** Takes a chunk; returns the part of the stream that is final. */
  push(chunk: Uint8Array): Buffer {
    return this.#take(Buffer.concat([this.#held, chunk]), this.#heldBytes);
  }

  /** Returns the held bytes at the end of the stream. */
  flush(): Buffer {
    return this.#take(this.#held, 0);
  }

  #take(data: Buffer, held: number): Buffer {
    const known = this.#maskedBytes > 0 ? [{ start: 0, end: this.#maskedBytes }] : [];
    const spans = findSecrets(data, this.#secrets, known);
    const cut = Math.max(0, data.length - held);
    this.#held = Buffer.from(data.subarray(cut));
    // What follows may not show any more that these bytes belong to a secret.
    const begun = spans.filter(({ start }) => start < cut || (start === 0 && known.length > 0));
    this.#maskedBytes = Math.max(0, ...begun.map(({ end }) => end - cut));
    // A copy: the search of the next chunk needs the held bytes as they are.
    const shown = Buffer.from(data.subarray(0, cut));
    for (const { start, end } of spans) shown.fill(ASTERISK, Math.min(start, cut), Math.min(end, cut));
    return shown;
  }
}

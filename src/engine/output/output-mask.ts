import { findSecrets, MASK, type Span } from '../../core/secrets.js';

const MASK_BYTES = Buffer.from(MASK);
const ASTERISK = 42;
const EMPTY = Buffer.alloc(0);

/**
 * Masks secrets in a stream of bytes, across chunk boundaries: each by one mask, or by as many asterisks as it has bytes. A chunk's end
 * that may be the start of a secret is held back until the following bytes are known: less than the length of the longest secret.
 */
export class OutputMask {
  readonly #secrets: readonly Buffer[];
  readonly #keepsLength: boolean;
  #held: Buffer = EMPTY;
  /** Number of held bytes, from the beginning, that belong to a secret which was masked already. */
  #masked = 0;

  /**
   * @param patterns see `patternsOf`; none may be empty
   * @param style `each-byte`: what is masked is as long as the secret
   */
  constructor(patterns: readonly string[], style: 'each-secret' | 'each-byte' = 'each-secret') {
    this.#secrets = patterns.map((pattern) => Buffer.from(pattern));
    this.#keepsLength = style === 'each-byte';
  }

  /** Takes a chunk; returns the part of the stream that is final. The result is valid as long as the chunk is. */
  push(chunk: Buffer): Buffer {
    const data = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    const spans = this.#findSecrets(data);
    const cut = data.length - this.#tailLength(data);
    if (spans.length === 0 && cut === data.length) {
      this.#held = EMPTY;
      return data;
    }
    const shown = this.#render(data, spans, cut);
    const lastSpan = spans.findLast((span) => span.start < cut || this.#continues(span));
    this.#masked = Math.max(0, (lastSpan?.end ?? 0) - cut);
    this.#held = Buffer.from(data.subarray(cut));
    return shown;
  }

  /** Returns the held bytes at the end of the stream. */
  flush(): Buffer {
    const held = this.#held;
    const shown = this.#render(held, this.#findSecrets(held), held.length);
    this.#held = EMPTY;
    this.#masked = 0;
    return shown;
  }

  /** Returns the ranges that are secret, in order. */
  #findSecrets(data: Buffer): readonly Span[] {
    return findSecrets(data, this.#secrets, this.#masked > 0 ? [{ start: 0, end: this.#masked }] : []);
  }

  /** Whether a range belongs to a secret that was masked with an earlier chunk. */
  #continues({ start }: Span): boolean {
    return start === 0 && this.#masked > 0;
  }

  /** Returns the length of the longest suffix of `data` that is a proper prefix of a secret. */
  #tailLength(data: Buffer): number {
    let longest = 0;
    for (const secret of this.#secrets) {
      for (let length = Math.min(data.length, secret.length - 1); length > longest; length--) {
        if (data[data.length - length] !== secret[0]) continue;
        if (data.subarray(data.length - length).equals(secret.subarray(0, length))) longest = length;
      }
    }
    return longest;
  }

  /** Returns the bytes before `cut`, with a mask at the start of each secret that has not been masked yet. */
  #render(data: Buffer, spans: readonly Span[], cut: number): Buffer {
    if (this.#keepsLength) return fill(data, spans, cut);
    const parts: Buffer[] = [];
    let from = 0;
    for (const span of spans) {
      if (span.start >= cut) break;
      parts.push(data.subarray(from, span.start));
      if (!this.#continues(span)) parts.push(MASK_BYTES);
      from = span.end;
    }
    if (from < cut) parts.push(data.subarray(from, cut));
    return Buffer.concat(parts);
  }
}

/** The bytes before `cut` with asterisks, in a copy: the search of the next chunk needs the held bytes as they are. */
function fill(data: Buffer, spans: readonly Span[], cut: number): Buffer {
  const shown = Buffer.from(data.subarray(0, cut));
  for (const { start, end } of spans) shown.fill(ASTERISK, Math.min(start, cut), Math.min(end, cut));
  return shown;
}

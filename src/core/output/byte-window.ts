/** How much of a stream a `ByteWindow` keeps, in bytes. */
interface ByteWindowSizes {
  readonly headBytes: number;
  readonly tailBytes: number;
}

/**
 * Keeps the first and the last bytes of a stream in constant memory. The head grows with the stream by doubling; the
 * ring for the tail is allocated when the head is full, and holds only bytes that are not in the head.
 */
export class ByteWindow {
  readonly #sizes: ByteWindowSizes;
  #head: Uint8Array | undefined;
  #headLength = 0;
  #ring: Uint8Array | undefined;
  #total = 0;

  constructor(sizes: ByteWindowSizes) {
    this.#sizes = sizes;
  }

  /** Bytes pushed so far. */
  get total(): number {
    return this.#total;
  }

  /** Appends the next bytes of the stream; copies the bytes that it keeps. */
  push(bytes: Uint8Array): void {
    const room = this.#sizes.headBytes - this.#headLength;
    if (bytes.length <= room) {
      this.#appendToHead(bytes);
    } else {
      if (room > 0) this.#appendToHead(bytes.subarray(0, room));
      this.#appendToRing(room > 0 ? bytes.subarray(room) : bytes);
    }
    this.#total += bytes.length;
  }

  /** The first bytes of the stream, at most `headBytes`: a view, valid until the next push. */
  head(): Uint8Array {
    return this.#head?.subarray(0, this.#headLength) ?? new Uint8Array(0);
  }

  /** The last bytes of the stream, at most `tailBytes`: a copy. */
  tail(): Uint8Array {
    const { tailBytes } = this.#sizes;
    const ringed = this.#total - this.#headLength;
    const fromRing = Math.min(ringed, tailBytes);
    const fromHead = Math.min(tailBytes - fromRing, this.#headLength);
    const tail = new Uint8Array(fromHead + fromRing);
    tail.set(this.head().subarray(this.#headLength - fromHead));
    if (this.#ring && fromRing > 0) {
      const oldest = ringed > tailBytes ? ringed % tailBytes : 0;
      const older = this.#ring.subarray(oldest, fromRing);
      tail.set(older, fromHead);
      tail.set(this.#ring.subarray(0, oldest), fromHead + older.length);
    }
    return tail;
  }

  #appendToHead(bytes: Uint8Array): void {
    const length = this.#headLength + bytes.length;
    if (!this.#head || length > this.#head.length) {
      const doubled = Math.min(this.#sizes.headBytes, 2 * this.#headLength);
      const grown = new Uint8Array(Math.max(length, doubled));
      if (this.#head) grown.set(this.#head);
      this.#head = grown;
    }
    this.#head.set(bytes, this.#headLength);
    this.#headLength = length;
  }

  /** Byte `n` after the head is stored at `n % tailBytes`, so that no position needs to be kept. */
  #appendToRing(bytes: Uint8Array): void {
    const { tailBytes } = this.#sizes;
    if (tailBytes === 0) return;
    this.#ring ??= new Uint8Array(tailBytes);
    const skipped = Math.max(0, bytes.length - tailBytes);
    const kept = skipped === 0 ? bytes : bytes.subarray(skipped);
    const ringed = Math.max(0, this.#total - this.#sizes.headBytes);
    const position = (ringed + skipped) % tailBytes;
    const untilEnd = tailBytes - position;
    if (kept.length <= untilEnd) {
      this.#ring.set(kept, position);
    } else {
      this.#ring.set(kept.subarray(0, untilEnd), position);
      this.#ring.set(kept.subarray(untilEnd), 0);
    }
  }
}

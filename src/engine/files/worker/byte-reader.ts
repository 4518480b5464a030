const LINE_FEED = 10;
const NOTHING = Buffer.alloc(0);

/** Reads a stream of bytes by lines and by lengths. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #ahead: Buffer = NOTHING;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next line, without its end; undefined when the stream ends before. */
  async line(): Promise<string | undefined> {
    for (let searched = 0; ;) {
      const end = this.#ahead.indexOf(LINE_FEED, searched);
      if (end !== -1) return this.#take(end + 1).toString('utf8', 0, end);
      searched = this.#ahead.length;
      if (!(await this.#more())) return undefined;
    }
  }

  /** Bytes of this number; undefined when the stream ends before. */
  async exactly(length: number): Promise<Buffer | undefined> {
    while (this.#ahead.length < length) {
      if (!(await this.#more())) return undefined;
    }
    return this.#take(length);
  }

  /** The next bytes, at most this number; undefined at the end of the stream. */
  async upTo(length: number): Promise<Buffer | undefined> {
    if (this.#ahead.length === 0 && !(await this.#more())) return undefined;
    return this.#take(Math.min(length, this.#ahead.length));
  }

  /** All bytes to the end of the stream, at most this number. */
  async rest(maxBytes = Infinity): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let left = maxBytes; left > 0;) {
      const piece = await this.upTo(left);
      if (!piece) break;
      left -= piece.length;
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }

  #take(length: number): Buffer {
    const taken = this.#ahead.subarray(0, length);
    this.#ahead = this.#ahead.subarray(length);
    return taken;
  }

  async #more(): Promise<boolean> {
    const { value, done } = (await this.#source.next()) as IteratorResult<Uint8Array, undefined>;
    if (done === true) return false;
    const piece = Buffer.from(value.buffer, value.byteOffset, value.length);
    this.#ahead = this.#ahead.length === 0 ? piece : Buffer.concat([this.#ahead, piece]);
    return true;
  }
}

/**
 * Extracts a command's output from the stream of its terminal: the part between two marks that the driver prints, which
 * carry the command's 128-bit nonce. Only used for `tty` commands; all others have their own pipes.
 */
export class TerminalFence {
  readonly #opening: Buffer;
  readonly #closing: Buffer;
  #held: Buffer = Buffer.alloc(0);
  #state: 'before' | 'inside' | 'after' = 'before';

  constructor(nonce: string) {
    this.#opening = Buffer.from(fenceMark('a', nonce));
    this.#closing = Buffer.from(fenceMark('z', nonce));
  }

  /** Whether the closing mark has been read. */
  get isClosed(): boolean {
    return this.#state === 'after';
  }

  /** Takes terminal output, and returns the part that belongs to the command. */
  push(chunk: Buffer): Buffer {
    const nothing = chunk.subarray(0, 0);
    if (this.#state === 'after') return nothing;
    let data = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    if (this.#state === 'before') {
      const start = data.indexOf(this.#opening);
      if (start === -1) {
        this.#held = Buffer.from(data.subarray(-this.#opening.length));
        return nothing;
      }
      this.#state = 'inside';
      data = data.subarray(start + this.#opening.length);
    }
    return this.#untilClosing(data);
  }

  /** Returns the data that was held back as a possible start of the closing mark. */
  flush(): Buffer {
    const held = this.#state === 'inside' ? this.#held : Buffer.alloc(0);
    this.#state = 'after';
    return held;
  }

  #untilClosing(data: Buffer): Buffer {
    const end = data.indexOf(this.#closing);
    if (end !== -1) {
      this.#state = 'after';
      return data.subarray(0, end);
    }
    const kept = partialMatch(data, this.#closing);
    this.#held = Buffer.from(data.subarray(data.length - kept));
    return data.subarray(0, data.length - kept);
  }
}

/** The mark is an OSC string, which terminals do not display. */
const fenceMark = (side: 'a' | 'z', nonce: string): string => `\x1b]7711;${side}${nonce}\x07`;

/** Returns the length of the longest suffix of `data` that is a prefix of `mark`. */
function partialMatch(data: Buffer, mark: Buffer): number {
  for (let length = Math.min(data.length, mark.length - 1); length > 0; length--) {
    if (data.subarray(data.length - length).equals(mark.subarray(0, length))) return length;
  }
  return 0;
}

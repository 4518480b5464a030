/**
 * Most bytes that may wait for a terminal or pipe without a reader; further lines are dropped. Bounds the daemon's
 * memory.
 */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Standard error, or a stand-in for it. */
export interface ConsoleStream extends NodeJS.EventEmitter {
  /** Bytes that were written to the stream and are still buffered. */
  readonly writableLength: number;
  /** True for a terminal. */
  readonly isTTY?: boolean;
  write(text: string, done?: () => void): boolean;
  /** Whether the terminal supports colours and NO_COLOR is not set. */
  hasColors?(): boolean;
}

/**
 * Writes lines for people. When the terminal has hung up or the pipe is closed, lines are lost and nothing else
 * happens: the one error listener stays on the stream, since an error may occur at any time after the last line.
 */
export class ConsoleLines {
  readonly isColoured: boolean;
  readonly #stream: ConsoleStream;

  constructor(stream: ConsoleStream) {
    this.#stream = stream;
    this.isColoured = stream.isTTY === true && stream.hasColors?.() === true;
    if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
  }

  /** Writes a line, given without its newline. */
  write(line: string): void {
    if (this.#stream.writableLength <= MAX_WAITING_BYTES) this.#stream.write(`${line}\n`);
  }
}

function ignore(): void {
  // A line that cannot be written is dropped.
}

/** How much may wait for a terminal or pipe that nobody reads before lines are dropped: bounds the daemon's memory. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Standard error, or what stands in for it. */
export interface ConsoleStream extends NodeJS.EventEmitter {
  /** Bytes that have been written to it and are not out yet. */
  readonly writableLength: number;
  /** True for a terminal. */
  readonly isTTY?: boolean;
  write(text: string, done?: () => void): boolean;
  /** Whether a terminal shows colours, and its user wants them (NO_COLOR). */
  hasColors?(): boolean;
}

/**
 * Writes lines for people. A terminal that is gone or a pipe that is closed loses them, and nothing else happens: the one
 * listener that sees to it stays with the stream, since an error may come at any time after the last line.
 */
export class ConsoleLines {
  readonly isColoured: boolean;
  readonly #stream: ConsoleStream;

  constructor(stream: ConsoleStream) {
    this.#stream = stream;
    this.isColoured = stream.isTTY === true && stream.hasColors?.() === true;
    if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
  }

  /** Takes a line, without its end. */
  write(line: string): void {
    if (this.#stream.writableLength <= MAX_WAITING_BYTES) this.#stream.write(`${line}\n`);
  }
}

function ignore(): void {
  // A line that cannot be shown is lost.
}

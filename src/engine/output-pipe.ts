import { closeSync } from 'node:fs';
import { Socket } from 'node:net';

import { drain, openReader, sharedReadBuffer } from './fifo.js';

/** What takes the bytes of a pipe. The chunk is only valid during the call. */
export type ChunkSink = (chunk: Buffer) => void;

/**
 * The reading side of a FIFO that commands write to, one command after another.
 *
 * Two readers: one descriptor that stays, for synchronous reads, and for commands that take their time a stream on a
 * descriptor of its own. That way the stream may close its descriptor when it likes, and the pipe never lacks a reader
 * (writers would die of SIGPIPE). A freshly opened reader is not told of an earlier writer's end, so a stream may be
 * attached before the command has opened its end.
 */
export class OutputPipe {
  readonly path: string;
  readonly #fd: number;
  #stream: Socket | undefined;
  #isPaused = false;

  constructor(path: string) {
    this.path = path;
    this.#fd = openReader(path);
  }

  /** Whether a stream is attached. */
  get isListening(): boolean {
    return this.#stream !== undefined;
  }

  /**
   * Gives the bytes to `sink` as they come, until `release`, or with `onEnd` until nobody can write any more, which it is
   * told. Without, a writer that comes and goes before the command's own is not taken for the end.
   */
  listen(sink: ChunkSink, onEnd?: () => void): void {
    if (this.#stream) return;
    let fd: number;
    try {
      fd = openReader(this.path);
    } catch {
      // ENOENT: a command has removed the adapter's files. What comes is read when it ends.
      return;
    }
    const onread = {
      buffer: sharedReadBuffer,
      callback: (length: number) => {
        if (this.#stream === stream) sink(sharedReadBuffer.subarray(0, length));
        return !this.#isPaused;
      },
    };
    // `onread` (net.connect's, which the constructor takes too) reads into one buffer, without the stream's own queue.
    const options = { fd, readable: true, writable: false, onread };
    const stream = new Socket(options);
    this.#stream = stream;
    // A failing read ends the stream as the end of its writers does; what it could not read, drain() will.
    stream.on('error', () => stream.destroy());
    stream.on('close', () => {
      if (this.#stream !== stream) return;
      this.#stream = undefined;
      if (onEnd) onEnd();
      else this.listen(sink);
    });
  }

  /** Stops or goes on reading the stream: the writers then wait. */
  setPaused(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    if (!isPaused) this.#stream?.resume();
  }

  /** Reads all that has been written so far. `held`: some process still has the pipe open. */
  drain(sink: ChunkSink): 'free' | 'held' {
    return drain(this.#fd, sink);
  }

  /** Detaches the stream, if there is one. */
  release(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    this.#isPaused = false;
    stream?.destroy();
  }

  /** Closes both readers: processes that still write get SIGPIPE. */
  close(): void {
    this.release();
    closeSync(this.#fd);
  }
}

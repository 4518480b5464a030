import { closeSync } from 'node:fs';
import { Socket } from 'node:net';

import { drain, openReader, sharedReadBuffer } from '../system/fifo.js';

/** Pause before a stream is attached again for which there was no descriptor, in milliseconds. */
const RETRY_MS = 20;

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
  readonly #open: typeof openReader;
  #stream: Socket | undefined;
  /** Runs while a stream is to be attached as soon as there is a descriptor for it. */
  #retry: NodeJS.Timeout | undefined;
  #isPaused = false;

  /** @param open opens a reader */
  constructor(path: string, open = openReader) {
    this.path = path;
    this.#open = open;
    this.#fd = open(path);
  }

  /** Whether a stream is attached, or will be. */
  get isListening(): boolean {
    return this.#stream !== undefined || this.#retry !== undefined;
  }

  /**
   * Gives the bytes to `sink` as they come, until `release`, or with `onEnd` until nobody can write any more, which it is
   * told. Without, a writer that comes and goes before the command's own is not taken for the end.
   */
  listen(sink: ChunkSink, onEnd?: () => void): void {
    if (this.isListening) return;
    let fd: number;
    try {
      fd = this.#open(this.path);
    } catch (error) {
      // ENOENT: a command has removed the adapter's files. What comes is read when it ends.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#listenLater(sink, onEnd);
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

  /** The daemon is out of descriptors. Whoever writes must not wait for ever: until there is one, it is read now and then. */
  #listenLater(sink: ChunkSink, onEnd?: () => void): void {
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      const isEnded = !this.#isPaused && this.drain(sink) === 'free';
      // A new reader would not be told of an end that has been.
      if (isEnded && onEnd) onEnd();
      else this.listen(sink, onEnd);
    }, RETRY_MS);
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
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#isPaused = false;
    stream?.destroy();
  }

  /** Closes both readers: processes that still write get SIGPIPE. */
  close(): void {
    this.release();
    closeSync(this.#fd);
  }
}

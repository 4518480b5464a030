import { closeSync } from 'node:fs';
import { Socket } from 'node:net';

import { drain, openReader, sharedReadBuffer } from '../system/fifo.js';
import type { OutputStream } from './output-stream.js';

/** Delay before a pipe without a stream is read, and attaching one is tried again, in milliseconds. */
const RETRY_MS = 20;

/**
 * Time that output may take of one turn of the event loop, in milliseconds. libuv reads a pipe up to 32 times in a turn, as long as each read
 * fills its buffer: 2 MiB, which take 10 ms to be streamed, while all other sessions wait.
 */
const MAX_TURN_MS = 1;

/** Receives the bytes of a pipe. The chunk is only valid during the call. */
type ChunkSink = (chunk: Buffer) => void;

/**
 * The read end of a FIFO to which commands write, one command after another.
 * Two readers: one permanent descriptor for synchronous reads, and a stream with its own descriptor for long-running
 * commands. The stream may thus close its descriptor at any time, and the pipe never lacks a reader (writers would die
 * of SIGPIPE). A freshly opened reader gets no EOF from an earlier writer, so a stream may be attached before the
 * command has opened its end.
 */
export class OutputPipe {
  readonly path: string;
  readonly #fd: number;
  readonly #open: typeof openReader;
  #stream: Socket | undefined;
  /** Set while a stream waits for a free descriptor. */
  #retry: NodeJS.Timeout | undefined;
  #isPaused = false;
  /** Time that the sink has taken since the pipe was last left for the next turn, in milliseconds. */
  #busyMs = 0;
  #nextTurn: NodeJS.Immediate | undefined;

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
   * Passes bytes to `sink` as they arrive, until `release`; with `onEnd`, until EOF, which is reported through it.
   * Without `onEnd`, a writer that opens and closes the pipe before the command's own does not count as EOF.
   */
  listen(sink: ChunkSink, onEnd?: () => void): void {
    if (this.isListening) return;
    let fd: number;
    try {
      fd = this.#open(this.path);
    } catch {
      this.#listenLater(sink, onEnd);
      return;
    }
    const onread = {
      buffer: sharedReadBuffer,
      callback: (length: number) => {
        if (this.#stream !== stream) return false;
        const start = performance.now();
        sink(sharedReadBuffer.subarray(0, length));
        this.#busyMs += performance.now() - start;
        return !this.#isPaused && !this.#leaveForNextTurn();
      },
    };
    // `onread` (net.connect's, which the constructor takes too) reads into one buffer, without the stream's own queue.
    const options = { fd, readable: true, writable: false, onread };
    const stream = new Socket(options);
    this.#stream = stream;
    // A failing read ends the stream as EOF does; drain() reads what is left.
    stream.on('error', () => stream.destroy());
    stream.on('close', () => {
      if (this.#stream !== stream) return;
      this.#stream = undefined;
      if (onEnd) onEnd();
      else this.listen(sink);
    });
  }

  /**
   * Without a second descriptor the permanent one is polled, so that writers do not block: until a descriptor is free
   * (EMFILE), or to the end where a command has removed the adapter's files (ENOENT).
   */
  #listenLater(sink: ChunkSink, onEnd?: () => void): void {
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      const isEnded = !this.#isPaused && this.drain(sink) === 'free';
      // A new reader gets no EOF for writers that have closed before.
      if (isEnded && onEnd) onEnd();
      else this.listen(sink, onEnd);
    }, RETRY_MS);
  }

  /** Pauses or resumes reading the stream (backpressure: writers block). */
  setPaused(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    if (!isPaused) this.#stream?.resume();
  }

  /** Yields to the event loop when this turn has been busy long enough; returns true if it did. */
  #leaveForNextTurn(): boolean {
    if (this.#busyMs < MAX_TURN_MS) return false;
    this.#busyMs = 0;
    this.#nextTurn ??= setImmediate(this.#resume);
    return true;
  }

  readonly #resume = (): void => {
    this.#nextTurn = undefined;
    if (!this.#isPaused) this.#stream?.resume();
  };

  /** Reads everything that has been written so far. `held`: some process still has the pipe open. */
  drain(sink: ChunkSink): 'free' | 'held' {
    return drain(this.#fd, sink);
  }

  /** Detaches the stream, if there is one. */
  release(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    clearImmediate(this.#nextTurn);
    this.#nextTurn = undefined;
    this.#isPaused = false;
    stream?.destroy();
  }

  /** Closes both readers: processes that still write receive SIGPIPE. */
  close(): void {
    this.release();
    closeSync(this.#fd);
  }
}

/** Forwards a pipe to a command's output, with backpressure: writers block while the disk or a client is behind. */
export class PipeFeed {
  readonly #pipe: OutputPipe;
  readonly #output: OutputStream;
  readonly #onBytes: () => void;
  #isHeldByClient = false;
  #isHeldByDisk = false;

  constructor(pipe: OutputPipe, output: OutputStream, onBytes: () => void) {
    this.#pipe = pipe;
    this.#output = output;
    this.#onBytes = onBytes;
  }

  /** Reads bytes as they arrive; calls `onEnd` at EOF. */
  listen(onEnd?: () => void): void {
    this.#pipe.listen(this.#take, onEnd);
    this.#applyHolds();
  }

  /** Reads everything that has been written so far; returns `held` when some process can still write. */
  drain(): 'free' | 'held' {
    return this.#pipe.drain(this.#take);
  }

  /** The same, but reads nothing while a client or the disk is behind. */
  drainUnlessHeld(): 'free' | 'held' {
    return this.#isHeldByClient || this.#isHeldByDisk ? 'held' : this.drain();
  }

  /** Detaches from the pipe, which is then free for another command. */
  release(): void {
    this.#pipe.release();
  }

  /** Pauses or resumes reading for a slow client (backpressure). */
  holdForClient(isHeld: boolean): void {
    this.#isHeldByClient = isHeld;
    this.#applyHolds();
  }

  readonly #take = (chunk: Buffer): void => {
    this.#output.write(chunk);
    this.#onBytes();
    if (!this.#isHeldByDisk && this.#output.spool.isCongested(this.#onDiskReady)) {
      this.#isHeldByDisk = true;
      this.#applyHolds();
    }
  };

  readonly #onDiskReady = (): void => {
    this.#isHeldByDisk = false;
    this.#applyHolds();
  };

  #applyHolds(): void {
    this.#pipe.setPaused(this.#isHeldByClient || this.#isHeldByDisk);
  }
}

interface ClosedOutputOptions {
  readonly feed: PipeFeed;
  /** How long the program may go on after the output is closed, in milliseconds; undefined for no limit. */
  readonly graceMs: number | undefined;
  /** Resolves when the program has the output open. */
  readonly started: Promise<void>;
  /** Whether the program still runs: afterwards the pipe may belong to another command. */
  readonly isRunning: () => boolean;
}

/**
 * Listens to an output, and reports when it has stayed closed for the grace period. A program that closes and reopens
 * it may go on.
 */
export function listenUntilClosed(
  { feed, graceMs, started, isRunning }: ClosedOutputOptions,
  onExpired: () => void,
): void {
  if (graceMs === undefined) {
    feed.listen();
    return;
  }
  const expire = () => {
    if (isRunning() && feed.drain() === 'free') onExpired();
  };
  const onClosed = () => {
    setTimeout(expire, graceMs).unref();
  };
  const listen = () => {
    feed.listen(() => {
      onClosed();
      listen();
    });
  };
  listen();
  // A close before the listener was attached raises no event.
  void started.then(() => {
    if (isRunning() && feed.drain() === 'free') onClosed();
  });
}

import type { OutputPipe } from './output-pipe.js';
import type { OutputStream } from './output-stream.js';

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

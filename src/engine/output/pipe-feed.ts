import type { OutputPipe } from './output-pipe.js';
import type { OutputStream } from './output-stream.js';

/** Leads a pipe into a command's output, and makes the writers wait while the disk or a client is behind. */
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

  /** Reads as the bytes come; `onEnd` when nobody can write any more. */
  listen(onEnd?: () => void): void {
    this.#pipe.listen(this.#take, onEnd);
    this.#applyHolds();
  }

  /** Reads all that has been written so far; `held` when some process can still write. */
  drain(): 'free' | 'held' {
    return this.#pipe.drain(this.#take);
  }

  /** Detaches from the pipe, which is then free for another command. */
  release(): void {
    this.#pipe.release();
  }

  /** Makes the writers wait for a slow client, or lets them go on. */
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

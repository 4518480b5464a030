import { setImmediate as eventLoop } from 'node:timers/promises';

/** Longest time that limit monitoring may block the event loop, in milliseconds. */
const SLICE_MS = 4;

/** Splits long work into slices. */
export class Slices {
  #since = performance.now();

  /** Whether the slice is used up, and `next` is due. */
  get isOver(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Yields to the event loop. */
  async next(): Promise<void> {
    await eventLoop();
    this.#since = performance.now();
  }
}

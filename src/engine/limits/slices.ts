import { setImmediate as eventLoop } from 'node:timers/promises';

/** Longest that work for limits keeps the event loop to itself, in milliseconds. */
const SLICE_MS = 4;

/** Divides work that would take long in one piece. */
export class Slices {
  #since = performance.now();

  /** Whether others are to have their turn now, with `next`. */
  get isOver(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Lets everything else that is due be done. */
  async next(): Promise<void> {
    await eventLoop();
    this.#since = performance.now();
  }
}

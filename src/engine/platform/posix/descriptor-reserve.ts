import { closeSync, openSync } from 'node:fs';

/** Descriptors that two runs of a program need at a time, with their pipes and the event loop of one that blocks. */
const COUNT = 16;

/** Descriptors that are held for programs without which nothing goes on when all others are in use. */
export class DescriptorReserve {
  readonly #held: number[] = [];

  /** Starts a program, for which the descriptors are free meanwhile. */
  use<T>(start: () => T): T {
    for (const fd of this.#held.splice(0)) closeSync(fd);
    try {
      return start();
    } finally {
      this.fill();
    }
  }

  /** Takes as many descriptors as there are, up to the number that is held. */
  fill(): void {
    try {
      while (this.#held.length < COUNT) this.#held.push(openSync('/dev/null', 'r'));
    } catch {
      // EMFILE, ENFILE: the rest is taken after the next run.
    }
  }
}

import { signal } from '@preact/signals';

/** Least time between two polite notices, in milliseconds: a screen reader reads each of them to its end. */
const POLITE_INTERVAL_MS = 5000;

/** What is said to screen readers. */
export class Notices {
  /** Read when the reader is idle. */
  readonly polite = signal('');
  /** Read at once. */
  readonly assertive = signal('');
  #lastAt = -Infinity;

  /** Says something at once, such as a new confirmation. */
  interrupt(text: string): void {
    this.assertive.value = text;
  }

  /** Says something when the reader is idle; dropped when the last notice was just now. */
  say(text: string): void {
    const now = performance.now();
    if (now - this.#lastAt < POLITE_INTERVAL_MS) return;
    this.#lastAt = now;
    this.polite.value = text;
  }
}

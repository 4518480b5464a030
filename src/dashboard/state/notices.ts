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
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Says something at once, such as a new confirmation. */
  interrupt(text: string): void {
    this.assertive.value = text;
  }

  /** Says something when the reader is idle. The newest notice waits until the last one was long enough ago. */
  say(text: string): void {
    clearTimeout(this.#timer);
    const waitMs = this.#lastAt + POLITE_INTERVAL_MS - performance.now();
    if (waitMs > 0) this.#timer = setTimeout(() => this.#say(text), waitMs);
    else this.#say(text);
  }

  #say(text: string): void {
    this.#lastAt = performance.now();
    this.polite.value = text;
  }
}

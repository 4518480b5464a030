import { signal } from '@preact/signals';

const TICK_MS = 1000;

/** The time, a tick a second, for all texts that say how long ago something was. */
export class Clock {
  /** Milliseconds since the epoch, by this browser. */
  readonly now = signal(Date.now());

  constructor() {
    setInterval(() => {
      // Nothing is seen of a page in the background.
      if (!document.hidden) this.now.value = Date.now();
    }, TICK_MS);
  }
}

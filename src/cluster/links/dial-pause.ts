import { setTimeout as sleep } from 'node:timers/promises';

/** First and longest pause between two attempts to connect, in milliseconds. */
const FIRST_MS = 5;
const LONGEST_MS = 1000;

/** The pauses between attempts to connect: each is twice as long as the one before. */
export class DialPause {
  #nextMs = FIRST_MS;

  /** Starts with the shortest pause again. */
  reset(): void {
    this.#nextMs = FIRST_MS;
  }

  /** Waits, at most until the signal. */
  async wait(signal: AbortSignal): Promise<void> {
    const ms = this.#nextMs;
    this.#nextMs = Math.min(2 * ms, LONGEST_MS);
    await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

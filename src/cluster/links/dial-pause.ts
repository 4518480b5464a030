import { setTimeout as sleep } from 'node:timers/promises';

/** First and longest pause between two attempts to connect, in milliseconds. */
const FIRST_MS = 5;
const LONGEST_MS = 1000;
/** A connection that has lasted longer has worked, in milliseconds. A node, or a proxy, may welcome each and close it. */
const LASTING_MS = 10_000;

/** The pauses between attempts to connect: each is twice as long as the one before. */
export class DialPause {
  #nextMs = FIRST_MS;

  /** Whether the connection that has ended has lasted: then the next one needs no pause, and later ones the shortest. */
  endsAfter(lastedMs: number): boolean {
    if (lastedMs < LASTING_MS) return false;
    this.#nextMs = FIRST_MS;
    return true;
  }

  /** Waits, at most until the signal. */
  async wait(signal: AbortSignal): Promise<void> {
    const ms = this.#nextMs;
    this.#nextMs = Math.min(2 * ms, LONGEST_MS);
    await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

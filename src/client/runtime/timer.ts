import { MAX_TIMER_MS } from '../../core/time.js';

/** Handle of a timer, in Node.js and in browsers. */
export type Timer = ReturnType<typeof setTimeout>;

/** Starts a timer; returns undefined for a time that exceeds the longest timer, such as `Infinity`. */
export const startTimer = (ms: number, onTime: () => void): Timer | undefined =>
  ms > MAX_TIMER_MS ? undefined : setTimeout(onTime, ms);

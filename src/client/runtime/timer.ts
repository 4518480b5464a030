/** Longest possible timer, in milliseconds (a 32-bit signed integer). */
const MAX_TIMER_MS = 2_147_483_647;

/** Handle of a timer, in Node.js and in browsers. */
export type Timer = ReturnType<typeof setTimeout>;

/** Starts a timer; returns undefined for a time that exceeds the longest timer, such as `Infinity`. */
export const startTimer = (ms: number, onTime: () => void): Timer | undefined =>
  ms > MAX_TIMER_MS ? undefined : setTimeout(onTime, ms);

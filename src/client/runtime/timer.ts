/** Longest timer there is, in milliseconds (a 32-bit signed integer). */
const MAX_TIMER_MS = 2_147_483_647;

/** A timer of any environment. */
export type Timer = ReturnType<typeof setTimeout>;

/** Starts a timer; none for a time beyond what timers can hold, such as `Infinity`. */
export const startTimer = (ms: number, onTime: () => void): Timer | undefined =>
  ms > MAX_TIMER_MS ? undefined : setTimeout(onTime, ms);

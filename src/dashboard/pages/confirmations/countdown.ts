import { formatDuration } from '../../format/time.js';

/** Time from which on it is short, in milliseconds. */
const SHORT_MS = 30_000;

/** What is left of the time to decide. */
export interface Countdown {
  readonly text: string;
  readonly isShort: boolean;
  readonly isOver: boolean;
}

/**
 * The time that is left. `now` is the time of the daemon: that of the browser may differ.
 * @param expiresAt ISO 8601
 * @param now milliseconds since the epoch
 */
export function countdown(expiresAt: string, now: number): Countdown {
  const left = Date.parse(expiresAt) - now;
  if (left <= 0) return { text: 'time is up', isShort: true, isOver: true };
  const seconds = Math.ceil(left / 1000);
  const text = seconds < 60 ? `${seconds} s left` : `${formatDuration(seconds * 1000)} left`;
  return { text, isShort: left <= SHORT_MS, isOver: false };
}

/** Pause after the first failed attempt, in milliseconds; it doubles with each further one. */
const FIRST_PAUSE_MS = 500;
/** Longest pause, also where the receiver asks for more, in milliseconds. */
const MAX_PAUSE_MS = 60_000;

const TOO_MANY_REQUESTS = 429;
const FIRST_SERVER_ERROR = 500;

/** Whether an answer with this HTTP status calls for another attempt. */
export const isWorthRetrying = (status: number): boolean =>
  status === TOO_MANY_REQUESTS || status >= FIRST_SERVER_ERROR;

/**
 * Pause before the next attempt, in milliseconds: exponential, with jitter, so that many senders do not come back at
 * the same moment.
 * @param attempt number of the failed attempt, from 1
 * @param random from 0 to 1
 * @param retryAfter the receiver's `Retry-After`; only a number of seconds counts
 */
export function pauseBeforeRetry(attempt: number, random: number, retryAfter?: string | null): number {
  const wished = /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) * 1000 : 0;
  const exponential = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + random / 2);
  return Math.min(MAX_PAUSE_MS, Math.max(wished, exponential));
}

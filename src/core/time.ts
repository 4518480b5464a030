/** Longest timer, in milliseconds (a 32-bit signed integer): a longer one fires at once. */
export const MAX_TIMER_MS = 2_147_483_647;

/** Formats a time span for a sentence, in its largest fitting unit: `0.5 s`, `3 min`, `120 min`, `24 h`, `7 d`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes <= 180) return `${minutes} min`;
  const hours = Math.round(seconds / 3600);
  return hours <= 72 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}

/**
 * Polls until something is so.
 * @param everyMs pause between two looks, in milliseconds
 * @returns false when it is not so within `withinMs` milliseconds
 */
export async function until(isSo: () => boolean, everyMs: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!isSo()) {
    if (performance.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return true;
}

/**
 * Waits for a promise, at most `ms` milliseconds.
 * @returns whether the promise was fulfilled in time
 * @throws what the promise is rejected with in that time
 */
export async function settledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

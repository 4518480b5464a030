/** Longest timer, in milliseconds (a 32-bit signed integer): a longer one fires at once. */
export const MAX_TIMER_MS = 2_147_483_647;

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

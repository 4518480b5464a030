import { setTimeout as sleep } from 'node:timers/promises';

/** Pauses before processes are asked about again that could not be listed, in milliseconds. */
const PAUSES_MS = [50, 150, 300, 500];

/**
 * Asks about processes, and again for a second if they cannot be listed: a machine without free processes cannot run ps(1),
 * and a daemon without free descriptors cannot read /proc. The first answer is passed on as it is, without a promise.
 * @throws the last error, as a rejection
 */
export function askPatiently<T>(ask: () => T | Promise<T>): T | Promise<T> {
  try {
    const answer = ask();
    return answer instanceof Promise ? answer.catch(() => askAgain(ask)) : answer;
  } catch {
    return askAgain(ask);
  }
}

async function askAgain<T>(ask: () => T | Promise<T>, [pauseMs = 0, ...later] = PAUSES_MS): Promise<T> {
  await sleep(pauseMs);
  try {
    return await ask();
  } catch (error) {
    if (later.length === 0) throw error;
    return askAgain(ask, later);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';

/** Pauses before processes are asked about again that could not be listed, in milliseconds. */
const PAUSES_MS = [50, 150, 300, 500];

/**
 * Asks about processes, and again for a second if they cannot be listed: a machine without free processes cannot run ps(1).
 * @throws the last error
 */
export async function askPatiently<T>(ask: () => T | Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await ask();
    } catch {
      await sleep(pauseMs);
    }
  }
  return ask();
}

import { setTimeout as sleep } from 'node:timers/promises';

import { hasCode } from '../../client/contract/errors.js';
import { CommandLineError } from '../console/failure.js';

/** Repeats a request that was refused because the token had made too many: nothing of it was done. */
export async function patiently<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      const wait = hasCode(error, 'RATE_LIMITED') ? error.details?.['retry_after_ms'] : undefined;
      if (typeof wait !== 'number') throw error;
      await sleep(wait);
    }
  }
}

/** The connection of a transfer broke, or the daemon is being stopped. */
export class BrokenConnection extends Error {
  override readonly name = 'BrokenConnection';
}

/** Time without progress after which a transfer is given up, in milliseconds: that of a lost connection. */
const GIVE_UP_MS = 30_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2000;

/**
 * Repeats a transfer whose connection breaks, until half a minute has passed without progress.
 * @param moved how far it has come
 * @throws CommandLineError then; the errors of an attempt
 */
export async function persistently<T>(attempt: () => Promise<T>, moved: () => number): Promise<T> {
  let furthest = -1;
  let since = 0;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      return await patiently(attempt);
    } catch (error) {
      if (!(error instanceof BrokenConnection)) throw error;
      if (moved() > furthest) [furthest, since, pause] = [moved(), performance.now(), FIRST_PAUSE_MS];
      if (performance.now() - since > GIVE_UP_MS) throw givenUp(error);
      await sleep(pause);
    }
  }
}

const givenUp = (cause: BrokenConnection): CommandLineError =>
  new CommandLineError(`the connection broke and did not come back: ${cause.message}`, {
    hint: 'Call it again: a large file goes on where it was.',
    cause,
  });

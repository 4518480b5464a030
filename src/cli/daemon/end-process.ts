import { setTimeout as sleep } from 'node:timers/promises';

import { isProcess } from '../../engine/platform/process-identity.js';
import { CommandLineError } from '../console/failure.js';

/**
 * Time-out in milliseconds. A daemon shuts down within 5 seconds, and exits on its own when that fails; the rest is a
 * margin for slow machines.
 */
const TIMEOUT_MS = 15_000;
/** Interval at which the process is checked while it ends, in milliseconds. */
const POLL_MS = 50;

/** A process of this machine. */
export interface KnownProcess {
  readonly pid: number;
  /** See `ProcessOrigins.identityOf`. */
  readonly identity: string;
}

/**
 * Ends a process by SIGTERM, and waits until it has exited.
 * @param what names it in messages
 * @throws CommandLineError when it does not end in time; the system's error when this user may not signal it
 */
export async function endProcess({ pid, identity }: KnownProcess, what: string): Promise<void> {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  const deadline = performance.now() + TIMEOUT_MS;
  while (isProcess(pid, identity)) {
    if (performance.now() > deadline) {
      throw new CommandLineError(`${what} (process ${pid}) has not ended within ${TIMEOUT_MS / 1000} s`, {
        hint: `\`kill -KILL ${pid}\` ends it at once; the next start removes what it leaves behind.`,
      });
    }
    await sleep(POLL_MS);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';

import type { Answer } from '../../client/index.js';
import { identityLike, isProcess } from '../../engine/platform/process-identity.js';
import type { Context } from '../console/context.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { CommandLineError } from '../console/failure.js';
import { findStatus } from '../connect/find-status.js';

/**
 * Time-out in milliseconds. A daemon shuts down within 5 seconds, and exits on its own when that fails; the rest is a
 * margin for slow machines.
 */
const STOP_TIMEOUT_MS = 15_000;
/** Interval at which the process is checked while it ends, in milliseconds. */
const POLL_MS = 50;

/**
 * Ends the daemon at the address with SIGTERM and waits until its process has exited.
 * @throws CommandLineError when it is not a process of this user on this machine, or does not end in time
 */
export async function stopDaemon(context: Context, options: DaemonOptions): Promise<void> {
  const found = await findStatus(options, context);
  if (found.state === 'stopped') {
    await context.stdout.write(`not running: ${found.why}\n`);
    return;
  }
  if (found.state === 'unknown') throw new CommandLineError(found.why, { hint: found.hint });
  const { status, url } = found;
  const { pid } = status;
  assertHere(status, url);
  try {
    process.kill(pid, 'SIGTERM');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw notPermitted(status, url, cause);
  }
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  while (status.process_identity !== null && isProcess(pid, status.process_identity)) {
    if (performance.now() > deadline) {
      throw new CommandLineError(
        `the daemon at ${url} (process ${pid}) has not ended within ${STOP_TIMEOUT_MS / 1000} s`,
        {
          hint: `\`kill -KILL ${pid}\` ends it at once; the next start removes what it leaves behind.`,
        },
      );
    }
    await sleep(POLL_MS);
  }
  await context.stdout.write(`stopped the daemon at ${url} (process ${pid})\n`);
}

/** The pid is valid only if this process sees the very process that answered, and not another PID namespace. */
function assertHere(status: Answer<'daemon_status'>, url: string): void {
  const { pid, process_identity: identity } = status;
  if (identity !== null && isProcess(pid, identity)) return;
  if (
    process.getuid?.() !== 0 &&
    identity !== null &&
    identityLike(identity, process.pid)?.split('/')[0] === identity.split('/')[0]
  ) {
    throw notPermitted(status, url);
  }
  throw new CommandLineError(`the daemon at ${url} is no process of this machine or container`, {
    hint: `Stop it where it runs: process ${pid} of user ${status.user}.`,
  });
}

const notPermitted = ({ pid, user }: Answer<'daemon_status'>, url: string, cause?: unknown): CommandLineError =>
  new CommandLineError(`the daemon at ${url} is process ${pid} of user ${user}, which this user may not stop`, {
    hint: `Run this as ${user} or root. In a container, stop the container.`,
    cause,
  });

import type { Answer } from '../../client/index.js';
import { identityLike, isProcess } from '../../engine/platform/process-identity.js';
import { CommandLineError } from '../console/failure.js';
import { endProcess, type KnownProcess } from './end-process.js';

/**
 * The process of a daemon that has answered. Its pid is valid only if this process sees the very process that answered,
 * and not another PID namespace.
 * @throws CommandLineError when it is not on this machine, or not of this user
 */
export function processOf(status: Answer<'daemon_status'>, url: string): KnownProcess {
  const { pid, process_identity: identity } = status;
  if (identity !== null && isProcess(pid, identity)) return { pid, identity };
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

/**
 * Ends a daemon that has answered, and waits until it has exited.
 * @throws CommandLineError as `processOf` and `endProcess`
 */
export async function endDaemon(status: Answer<'daemon_status'>, url: string): Promise<void> {
  const daemon = processOf(status, url);
  try {
    await endProcess(daemon, `the daemon at ${url}`);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EPERM') throw notPermitted(status, url, cause);
    throw cause;
  }
}

const notPermitted = ({ pid, user }: Answer<'daemon_status'>, url: string, cause?: unknown): CommandLineError =>
  new CommandLineError(`the daemon at ${url} is process ${pid} of user ${user}, which this user may not stop`, {
    hint: `Run this as ${user} or root. In a container, stop the container.`,
    cause,
  });

import type { Answer } from '../../client/index.js';
import { type ProcessLaunch, readLaunch } from '../../engine/platform/linux/process-launch.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { findStatus } from '../connect/find-status.js';
import type { Context } from '../console/context.js';
import { CommandLineError } from '../console/failure.js';
import { endDaemon, processOf } from './local-daemon.js';
import { startInBackground } from './start-daemon.js';

/**
 * Stops the daemon at the address, and starts it again as it was started.
 * @throws CommandLineError when there is none, it is not a process of this user on this machine, or does not start again
 */
export async function restartDaemon(context: Context, options: DaemonOptions): Promise<void> {
  const found = await findStatus(options, context);
  if (found.state === 'unknown') throw new CommandLineError(found.why, { hint: found.hint });
  if (found.state === 'stopped') {
    throw new CommandLineError(`no daemon runs: ${found.why}`, { hint: '`shell-adapter serve` starts one.' });
  }
  const { status, url } = found;
  const launch = launchOf(status, url);
  await endDaemon(status, url);
  const started = await startInBackground(launch);
  await context.stdout.write(`the daemon runs again at ${started} (process ${status.pid} has ended)\n`);
}

/** How the daemon was started. */
function launchOf(status: Answer<'daemon_status'>, url: string): ProcessLaunch {
  const { pid } = processOf(status, url);
  const launch = readOwn(pid);
  if (launch.env['INVOCATION_ID'] !== undefined && launch.env['NOTIFY_SOCKET'] !== undefined) {
    throw new CommandLineError(`the daemon at ${url} is run by systemd`, {
      hint: 'Restart its unit: `systemctl restart shell-adapter`.',
    });
  }
  return launch;
}

function readOwn(pid: number): ProcessLaunch {
  try {
    return readLaunch(pid);
  } catch (cause) {
    throw new CommandLineError(`how process ${pid} was started cannot be read: ${(cause as Error).message}`, {
      hint: 'It needs the /proc of Linux, and the user of the daemon. Stop the daemon, and start it again.',
      cause,
    });
  }
}

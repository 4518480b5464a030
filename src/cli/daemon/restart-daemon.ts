import { allHolderDirectories, type HolderDirectory } from '../../cluster/holder-directory.js';
import type { Answer } from '../../client/index.js';
import { choosePlatform, identityLike, isProcess } from '../../engine/platform/choose-platform.js';
import { type ProcessLaunch, readLaunch } from '../../engine/platform/linux/process-table.js';
import { until } from '../../core/time.js';
import { type DaemonOptions, givenUrl } from '../connect/daemon-address.js';
import { findStatus } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { CommandLineError } from '../console/failure.js';
import { startInBackground } from './start-daemon.js';

/**
 * Time-out in milliseconds. A daemon shuts down within 5 seconds, and exits on its own when that fails; the rest is a
 * margin for slow machines.
 */
const TIMEOUT_MS = 15_000;
/** Interval at which the process is checked while it ends, in milliseconds. */
const POLL_MS = 50;

interface KnownProcess {
  readonly pid: number;
  /** See `ProcessOrigins.identityOf`. */
  readonly identity: string;
}

/**
 * Ends a process by SIGTERM, and waits until it has exited.
 * @param what names it in messages
 * @throws CommandLineError when it does not end in time; the system's error when this user may not signal it
 */
async function endProcess({ pid, identity }: KnownProcess, what: string): Promise<void> {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  if (await until(() => !isProcess(pid, identity), POLL_MS, TIMEOUT_MS)) return;
  throw new CommandLineError(`${what} (process ${pid}) has not ended within ${TIMEOUT_MS / 1000} s`, {
    hint: `\`kill -KILL ${pid}\` ends it at once; the next start removes what it leaves behind.`,
  });
}

/**
 * The process of a daemon that has answered. Its pid is valid only if this process sees the very process that answered,
 * and not another PID namespace.
 * @throws CommandLineError when it is not on this machine, or not of this user
 */
function processOf(status: Answer<'daemon_status'>, url: string): KnownProcess {
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
async function endDaemon(status: Answer<'daemon_status'>, url: string): Promise<void> {
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

/**
 * Ends the daemon at the address with SIGTERM, and what holds its sessions, and waits until all have exited. Without a
 * daemon, ends what one with this configuration has left.
 * @throws CommandLineError when it is not a process of this user on this machine, or does not end in time
 */
export async function stopDaemon(context: Context, options: DaemonOptions): Promise<void> {
  const found = await findStatus(options, context);
  if (found.state === 'unknown') throw new CommandLineError(found.why, { hint: found.hint });
  if (found.state === 'stopped') {
    const ended = await endHolders(await abandoned(options, context));
    const also = ended > 0 ? `; ended the sessions that had outlived it (${processes(ended)})` : '';
    await context.stdout.write(`not running: ${found.why}${also}\n`);
    return;
  }
  const { status, url } = found;
  const directories = directoriesOf(status, url);
  await endDaemon(status, url);
  // Not before the daemon, which would start others.
  await endHolders(directories);
  await context.stdout.write(`stopped the daemon at ${url} (process ${status.pid})\n`);
}

const platform = choosePlatform('auto');

/** The directory of a daemon that runs, and that of one before it at the same port. */
function directoriesOf(
  { pid, state_directory: state }: Answer<'daemon_status'>,
  url: string,
): readonly HolderDirectory[] {
  const port = URL.canParse(url) ? new URL(url).port : '';
  return allHolderDirectories(state).filter((directory) => {
    const owner = directory.ownerOn(platform);
    return owner === pid || (owner === undefined && String(directory.port) === port);
  });
}

/** The directories of daemons that have ended, with the port of the configuration; none for an address alone. */
async function abandoned(options: DaemonOptions, context: Context): Promise<readonly HolderDirectory[]> {
  if (givenUrl(options, context)) return [];
  const { configurationOf } = await import('../connect/configuration.js');
  const { adapter, socketio } = configurationOf(context, options.config);
  const directories = allHolderDirectories(adapter.stateDirectory);
  return directories.filter(
    (directory) => directory.port === socketio.port && directory.ownerOn(platform) === undefined,
  );
}

/** Ends all holders in these directories; returns how many there were. */
async function endHolders(directories: readonly HolderDirectory[]): Promise<number> {
  const holders = directories.flatMap((directory) => directory.living());
  await Promise.all(holders.map((holder) => endProcess(holder, `the process ${holder.name} that holds sessions`)));
  return holders.length;
}

const processes = (count: number): string => (count === 1 ? '1 process' : `${count} processes`);

import { allHolderDirectories, type HolderDirectory } from '../../app/detach/holder-directory.js';
import type { Answer } from '../../client/index.js';
import { choosePlatform } from '../../engine/platform/choose-platform.js';
import type { Context } from '../console/context.js';
import { type DaemonOptions, givenUrl } from '../connect/daemon-address.js';
import { CommandLineError } from '../console/failure.js';
import { findStatus } from '../connect/find-status.js';
import { endProcess } from './end-process.js';
import { endDaemon } from './local-daemon.js';

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
  const [{ readConfiguration, skipRuleTests }, { findConfiguration }] = await Promise.all([
    import('../../config/read/read.js'),
    import('../connect/configuration-file.js'),
  ]);
  const { adapter, socketio } = readConfiguration(findConfiguration(context, options.config), skipRuleTests);
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

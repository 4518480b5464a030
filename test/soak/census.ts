import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import {
  descriptorCount,
  processesWith,
  residentBytes,
  runtimeDirectoriesOf,
  runtimeParents,
  zombiesOf,
} from '../support/processes.js';
import type { SoakedDaemon } from './soaked-daemon.js';

/** What a daemon has at a moment in which it has nothing to do. */
export interface Census {
  readonly minute: number;
  readonly pid: number;
  readonly memoryMib: number;
  readonly descriptors: number;
  /** Its shells, and what they have left running; those kept ready for later included. */
  readonly processes: number;
  readonly zombies: number;
  /** In its runtime directory, and below its state directory. */
  readonly files: number;
}

const MIB = 1024 * 1024;

/** Counts what a daemon has now. */
export const takeCensus = (daemon: SoakedDaemon, minute: number): Census => ({
  minute,
  pid: daemon.pid,
  memoryMib: residentBytes(daemon.pid) / MIB,
  descriptors: descriptorCount(daemon.pid),
  processes: processesWith(`SOAK_SHELL=${daemon.mark}\0`).length,
  zombies: zombiesOf(daemon.pid).length,
  files: [daemon.stateDirectory, ...runtimeDirectoriesOf(daemon.pid)].reduce((sum, path) => sum + filesBelow(path), 0),
});

/** The directories in which daemons of this user keep what commands pass through. */
const runtimeDirectories = (): string[] =>
  runtimeParents().flatMap((parent) =>
    existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name)) : [],
  );

/** How many files, pipes and sockets are below a directory. */
function filesBelow(directory: string): number {
  try {
    const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    return names.filter((name) => statSync(join(directory, name), { throwIfNoEntry: false })?.isDirectory() === false)
      .length;
  } catch (error) {
    // It was removed meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** What is left of all daemons once the last one has ended. */
export interface Leftovers {
  readonly processes: readonly string[];
  readonly runtimeDirectories: readonly string[];
  readonly sockets: readonly string[];
  /** Output of commands. */
  readonly stateFiles: readonly string[];
}

/** Finds what daemons that have ended have left: nothing, if all is well. */
export function findLeftovers(daemon: SoakedDaemon, pids: readonly number[]): Leftovers {
  const isOurs = (path: string) => pids.some((pid) => path.split('/').at(-1)?.startsWith(`${pid}-`));
  const found = ['SOAK_SHELL', 'SOAK_DAEMON'].flatMap((name) => processesWith(`${name}=${daemon.mark}\0`));
  return {
    processes: found.map(({ pid, command }) => `${pid} ${command}`),
    runtimeDirectories: runtimeDirectories().filter(isOurs),
    sockets: [daemon.socket].filter((path) => existsSync(path)),
    stateFiles: readdirSync(daemon.stateDirectory, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.startsWith('spool/'),
    ),
  };
}

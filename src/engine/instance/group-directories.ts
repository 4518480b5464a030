import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { readSmallFile } from '../system/small-file.js';
import { membersBelow, removeGroup } from '../limits/control-files.js';

/** File in a daemon's runtime directory that lists its control groups, one per line. */
const FILE = 'control-groups';
/** Longest wait until killed processes have left their group, and the polling interval, both in milliseconds. */
const END_MS = 200;
const POLL_MS = 5;

/** Records the control groups of this instance; a successor removes them if this instance was killed. */
export function noteGroups(runtimePath: string, directories: readonly string[]): void {
  writeFileSync(join(runtimePath, FILE), directories.map((directory) => `${directory}\n`).join(''), { mode: 0o600 });
}

/** Control groups that a dead daemon has left. */
export interface LeftGroups {
  /** Returns the processes in the groups. */
  members(): readonly number[];
  /** Removes the groups; those that still hold processes stay. */
  remove(): void;
}

/** Returns the control groups of the daemon with this runtime directory. */
export function groupsOf(runtimePath: string): LeftGroups {
  const directories = (readSmallFile(join(runtimePath, FILE)) ?? '').split('\n').filter((line) => line !== '');
  return {
    members: () => directories.flatMap(membersBelow),
    remove: () => {
      const deadline = performance.now() + END_MS;
      for (const directory of directories) {
        while (!removeGroup(directory) && performance.now() < deadline) pause(POLL_MS);
      }
    },
  };
}

/** Blocks the thread for `ms` milliseconds, in a process that is about to exit and must not do anything else before. */
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { readSmallFile } from '../system/small-file.js';
import { membersBelow, removeGroup } from './control-files.js';

/** File in a daemon's runtime directory that names its control groups, one a line. */
const FILE = 'control-groups';
/** Killed processes are in their group until they have ended: how long that is waited for at most, and looked at how often. */
const END_MS = 200;
const POLL_MS = 5;

/** Notes the control groups of this run of the daemon, for a successor to remove if it was killed. */
export function noteGroups(runtimePath: string, directories: readonly string[]): void {
  writeFileSync(join(runtimePath, FILE), directories.map((directory) => `${directory}\n`).join(''), { mode: 0o600 });
}

/** Control groups that a daemon has left. */
export interface LeftGroups {
  /** Processes in them. */
  members(): readonly number[];
  /** Removes them; those that still hold processes stay. */
  remove(): void;
}

/** The control groups of the daemon with this runtime directory. */
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

/** Does nothing for so long, for a process that is about to end and must not do anything else before. */
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

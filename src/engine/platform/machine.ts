import { statfsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { dirname } from 'node:path';

import type { MachineSize } from '../../core/limits.js';

/**
 * Measures the machine: its memory, or what a container may use of it, and the disk that a directory is on.
 * @param directory may not exist yet; absolute
 */
export const machineSize = (directory: string): MachineSize => ({
  // Without a limit it is 0, undefined, or more than any machine has, depending on the system.
  memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Infinity),
  diskBytes: diskBytesOf(directory),
});

function diskBytesOf(path: string): number | undefined {
  const space = diskSpaceOf(path);
  if (space) return space.totalBytes;
  // It is created later, on the disk of its parent.
  return dirname(path) === path ? undefined : diskBytesOf(dirname(path));
}

/** Space of a disk, in bytes. */
interface DiskSpace {
  readonly totalBytes: number;
  /** What users other than root can still use. */
  readonly freeBytes: number;
}

/** Returns the space of the disk that a path is on; undefined if the path does not exist. */
export function diskSpaceOf(path: string): DiskSpace | undefined {
  try {
    const { blocks, bavail, bsize } = statfsSync(path);
    return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
  } catch {
    // It was removed, or is created later.
    return undefined;
  }
}

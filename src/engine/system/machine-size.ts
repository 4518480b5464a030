import { statfsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { dirname } from 'node:path';

import type { MachineSize } from '../../core/limits/safety-net.js';

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
  try {
    const { blocks, bsize } = statfsSync(path);
    return blocks * bsize;
  } catch {
    // ENOENT: it is created later, on the disk of its parent. No error leaves the root directory.
    return dirname(path) === path ? undefined : diskBytesOf(dirname(path));
  }
}

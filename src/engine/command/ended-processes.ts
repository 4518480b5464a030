import type { Processes } from '../platform/contract/processes.js';
import type { Command } from './command.js';

/**
 * Finds the processes of a command's last two samples that are ending or have ended: the kernel does not report which
 * ones it has killed.
 * @param unharmed processes that were not killed
 */
export function findEnded({ meter }: Command, isEnding: Processes['isEnding'], unharmed: readonly number[]): number[] {
  const pids = new Set([...meter.earlierPids, ...meter.lastPids]);
  return [...pids].filter((pid) => !unharmed.includes(pid) && isEnding({ pid }));
}

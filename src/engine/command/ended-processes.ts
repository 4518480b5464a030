import type { Command } from './command.js';
import type { LimitTarget } from './limit-target.js';

/**
 * Returns the pids, as reported to clients, of the processes of a command's last two samples that are ending or have ended:
 * the kernel does not report which ones it has killed.
 * @param unharmed processes that were not killed; by default the processes around the shell
 */
export function findEnded(
  { meter }: Command,
  { own, numbers, isEnding }: Pick<LimitTarget, 'own' | 'numbers' | 'isEnding'>,
  unharmed: readonly number[] = own.slice(0, -1),
): number[] {
  const pids = new Set([...meter.earlierPids, ...meter.lastPids]);
  return [...pids].filter((pid) => !unharmed.includes(pid) && isEnding({ pid })).map((pid) => numbers.of(pid));
}

import { statSync } from 'node:fs';

/**
 * Changes within this time may have the same timestamp, in milliseconds: the kernel's clock for files ticks every 1 to
 * 10 ms.
 */
const CLOCK_TICK_MS = 50;

/** The version of a directory that has to be read in any case. */
export const UNSETTLED = '';

/**
 * A text that is another one after files of a directory were made, deleted or replaced. Shortly after a change, another
 * one can leave the timestamp unchanged: `UNSETTLED`, as for a directory that is not there.
 */
export function versionOf(directory: string): string {
  const stats = statSync(directory, { bigint: true, throwIfNoEntry: false });
  if (!stats || Date.now() - Number(stats.ctimeMs) < CLOCK_TICK_MS) return UNSETTLED;
  return `${stats.ino}.${stats.ctimeNs}`;
}

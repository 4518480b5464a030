import { openSync } from 'node:fs';

import { type ProcessEntry, TICKS_PER_SECOND, ticksNow } from './process-table.js';
import { readSmallDescriptor } from './small-file.js';

const MS_PER_TICK = 1000 / TICKS_PER_SECOND;

/** Process numbers begin anew after 32,768 at the earliest: of two that were given away shortly after each other, one is not further than this. */
const MAX_DISTANCE = 16_384;

/** When something began, so that the processes that have started since can be told from older ones. */
export interface Beginning {
  /** On the monotonic clock, in milliseconds. */
  readonly at: number;
  /** Number of the newest process; undefined where the kernel does not tell. */
  readonly newestPid: number | undefined;
}

export const beginNow = (): Beginning => ({ at: performance.now(), newestPid: newestPid() });

/**
 * Tells which processes have started since: by their start, which is known to a clock tick, and within that by their
 * numbers, which are given away in turn. To be made before processes are looked at, which takes its time: it would make
 * the first of them older than the beginning.
 */
export function startedSince({ at, newestPid }: Beginning): (entry: ProcessEntry) => boolean {
  const tick = Math.floor(ticksNow() - (performance.now() - at) / MS_PER_TICK);
  return ({ pid, startTicks }) => {
    if (startTicks < tick - 1) return false;
    return startTicks > tick + 1 || newestPid === undefined || wasGivenAfter(pid, newestPid);
  };
}

/** Tells whether any process of the machine has been started since this was asked last. A cheap look. */
export class NewProcesses {
  #newest: number | undefined;

  /** True the first time, and where the kernel does not tell. */
  get areThere(): boolean {
    const before = this.#newest;
    this.#newest = newestPid();
    return this.#newest === undefined || this.#newest !== before;
  }
}

function wasGivenAfter(pid: number, other: number): boolean {
  const distance = pid - other;
  return distance > 0 ? distance <= MAX_DISTANCE : distance < -MAX_DISTANCE;
}

/** proc(5), ns_last_pid. */
function newestPid(): number | undefined {
  return descriptor === null ? undefined : Number(readSmallDescriptor(descriptor));
}

function openOrNull(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}

/** Open for good: it is read with every command. Null where the kernel is built without it (CONFIG_CHECKPOINT_RESTORE). */
const descriptor = openOrNull('/proc/sys/kernel/ns_last_pid');

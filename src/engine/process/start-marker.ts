import { openSync } from 'node:fs';

import { listPids, type ProcessEntry, TICKS_PER_SECOND, ticksNow } from './process-table.js';
import { readSmallDescriptor, readSmallFile } from '../system/small-file.js';

const MS_PER_TICK = 1000 / TICKS_PER_SECOND;

/** Process numbers begin anew after 32,768 at the earliest: of two that were given away shortly after each other, one is not further than this. */
const MAX_DISTANCE = 16_384;

/** When something began, so that the processes that have started since can be told from older ones. */
export interface StartMarker {
  /** On the monotonic clock, in milliseconds. */
  readonly at: number;
  /** Number of the newest process; undefined where the kernel does not tell. */
  readonly newestPid: number | undefined;
}

export const markStart = (): StartMarker => ({ at: performance.now(), newestPid: newestPid() });

/**
 * Tells which processes have started since: by their start, which is known to a clock tick, and within that by their
 * numbers, which are given away in turn. To be made before processes are looked at, which takes its time: it would make
 * the first of them older than the beginning.
 */
export function startedSince({ at, newestPid }: StartMarker): (entry: ProcessEntry) => boolean {
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
  get hasAny(): boolean {
    const before = this.#newest;
    this.#newest = newestPid();
    return this.#newest === undefined || this.#newest !== before;
  }
}

/** More processes than any machine starts in a millisecond. */
const MAX_FORKS_PER_MS = 20;

/** Process numbers that were given away since some moment. */
export interface GivenPids {
  /** How many; Infinity when that cannot be told, because they may have been used up and begun anew. */
  readonly count: number;
  /** The newest; undefined where the kernel does not tell. */
  readonly newest: number | undefined;
  readonly includes: (pid: number) => boolean;
  /** All of them, in the order of their giving. */
  readonly list: () => number[];
}

/** The process numbers that were given away since a beginning, threads' included: a cheap look, which finds none mostly. */
export function pidsGivenSince({ at, newestPid: before }: StartMarker): GivenPids {
  const newest = newestPid();
  if (newest !== undefined && newest === before) return { count: 0, newest, includes: () => false, list: () => [] };
  const isSure = (performance.now() - at) * MAX_FORKS_PER_MS < maxPid();
  if (newest === undefined || before === undefined || !isSure) {
    return { count: Infinity, newest, includes: () => true, list: listPids };
  }
  const distance = (to: number) => (to > before ? to - before : to - before + maxPid());
  const count = distance(newest);
  return {
    count,
    newest,
    includes: (pid) => pid !== before && distance(pid) <= count,
    list: () => Array.from({ length: count }, (_, index) => (before + index + 1) % maxPid()),
  };
}

/** Process numbers are below this, proc(5): the smallest there is where the kernel does not tell. */
function maxPid(): number {
  knownMaxPid ??= Number(readSmallFile('/proc/sys/kernel/pid_max') ?? DEFAULT_MAX_PID);
  return knownMaxPid;
}

const DEFAULT_MAX_PID = 32_768;
let knownMaxPid: number | undefined;

function wasGivenAfter(pid: number, other: number): boolean {
  const distance = pid - other;
  return distance > 0 ? distance <= MAX_DISTANCE : distance < -MAX_DISTANCE;
}

/** proc(5), ns_last_pid, or else the last field of loadavg. */
function newestPid(): number | undefined {
  if (descriptor !== null) return Number(readSmallDescriptor(descriptor));
  const last = loadDescriptor === null ? undefined : readSmallDescriptor(loadDescriptor).trimEnd().split(' ').at(-1);
  return last === undefined ? undefined : Number(last);
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
/** Likewise, for such kernels: slower to read. */
const loadDescriptor = descriptor === null ? openOrNull('/proc/loadavg') : null;

import { openSync } from 'node:fs';

import { listPids, ticksNow } from './process-table.js';
import { type GivenPids, type NewProcesses, type ProcessEntry, type StartMarker, MS_PER_TICK } from '../platform.js';
import { readSmallDescriptor, readSmallFile } from '../../system/local-files.js';

/**
 * Pids wrap around after 32,768 at the earliest: two pids that were assigned shortly after each other are not further
 * apart than this.
 */
const MAX_DISTANCE = 16_384;

/** Returns a marker for this moment. */
export const markStart = (): StartMarker => ({ at: performance.now(), newestPid: newestPid() });

/** Age up to which a reading of the newest pid serves for another marker, in milliseconds. */
const RECENT_MS = 1;

/**
 * Returns a marker for this moment that may count processes of the last millisecond as started later. Commands that
 * follow each other closely then share a reading of the kernel's counter.
 */
export function markRecentStart(): StartMarker {
  const at = performance.now();
  return { at, newestPid: at - lastReading.at < RECENT_MS ? lastReading.pid : newestPid() };
}

/**
 * Returns a predicate for processes that were started after the marker: by their start time, which has a resolution of
 * one clock tick, and within that by their pids, which are assigned in order. Must be called before processes are
 * listed, which takes time: the first of them would seem older than the marker.
 */
export function startedSince({ at, newestPid }: StartMarker): (entry: ProcessEntry) => boolean {
  const tick = Math.floor(ticksNow() - (performance.now() - at) / MS_PER_TICK);
  return ({ pid, startTicks }) => {
    if (startTicks < tick - 1) return false;
    return startTicks > tick + 1 || newestPid === undefined || wasAssignedAfter(pid, newestPid);
  };
}

/** Detects whether any process of the machine was started since the last check; cheap. */
export class PidCounter implements NewProcesses {
  #newest: number | undefined;

  /** True for the first call, and where the kernel does not report it. */
  get hasAny(): boolean {
    const before = this.#newest;
    this.#newest = newestPid();
    return this.#newest === undefined || this.#newest !== before;
  }
}

/** Upper bound of processes that a machine starts per millisecond. */
const MAX_FORKS_PER_MS = 20;

/** Returns the pids that were assigned since a start marker, including those of threads; cheap, and mostly empty. */
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

/** Upper bound of pids, proc(5); the smallest possible value where the kernel does not report it. */
function maxPid(): number {
  knownMaxPid ??= Number(readSmallFile('/proc/sys/kernel/pid_max') ?? DEFAULT_MAX_PID);
  return knownMaxPid;
}

const DEFAULT_MAX_PID = 32_768;
let knownMaxPid: number | undefined;

function wasAssignedAfter(pid: number, other: number): boolean {
  const distance = pid - other;
  return distance > 0 ? distance <= MAX_DISTANCE : distance < -MAX_DISTANCE;
}

let lastReading: { readonly at: number; readonly pid: number | undefined } = { at: -Infinity, pid: undefined };

function newestPid(): number | undefined {
  // Before it is read: what is started meanwhile is newer.
  const at = performance.now();
  const pid = readNewestPid();
  lastReading = { at, pid };
  return pid;
}

/** proc(5), ns_last_pid, or else the last field of loadavg. */
function readNewestPid(): number | undefined {
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

/** Stays open: it is read with every command. Null where the kernel is built without it (CONFIG_CHECKPOINT_RESTORE). */
const descriptor = openOrNull('/proc/sys/kernel/ns_last_pid');
/** Stays open as well, for such kernels: slower to read. */
const loadDescriptor = descriptor === null ? openOrNull('/proc/loadavg') : null;

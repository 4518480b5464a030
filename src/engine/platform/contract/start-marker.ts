import type { ProcessEntry } from './process-entry.js';

/** A point in time that separates processes started later from older ones. */
export interface StartMarker {
  /** On the monotonic clock, in milliseconds. */
  readonly at: number;
  /** Pid of the newest process; undefined where the platform does not report it. */
  readonly newestPid: number | undefined;
  /** Start times, by pid, of processes that are known to be older; for platforms whose start times are coarse. */
  readonly older?: ReadonlyMap<number, number> | undefined;
}

/** Pids that were assigned since some moment. */
export interface GivenPids {
  /** Number of pids; Infinity when unknown. */
  readonly count: number;
  /** The newest; undefined where the platform does not report it. */
  readonly newest: number | undefined;
  readonly includes: (pid: number) => boolean;
  /** Returns all of them, in the order of their assignment. */
  readonly list: () => number[];
}

/** Detects whether any process of the machine was started since the last check. */
export interface NewProcesses {
  /** True for the first check, and where the platform does not report it. */
  readonly hasAny: boolean;
}

/** When processes were started. */
export interface ProcessClock {
  /** The current time on the clock of `startTicks`. */
  readonly ticksNow: () => number;
  /** Returns a marker for this moment. */
  readonly markStart: () => StartMarker;
  /** The same, but processes of the last millisecond may count as started later: cheaper. */
  readonly markRecentStart: () => StartMarker;
  /**
   * Returns a predicate for processes that were started after the marker. Must be called before processes are listed,
   * which takes time: the first of them would seem older than the marker.
   */
  readonly startedSince: (marker: StartMarker) => (entry: ProcessEntry) => boolean;
  /** Returns the pids that were assigned since a start marker, including those of threads. */
  readonly pidsGivenSince: (marker: StartMarker) => GivenPids;
  readonly watchForNew: () => NewProcesses;
}

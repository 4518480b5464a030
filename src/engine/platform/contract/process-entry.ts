/** Name of the environment variable that identifies processes of the adapter: `instance.session.command`. */
export const TAG_VARIABLE = 'SHELL_ADAPTER_TAG';

/** Clock ticks per second of start times and CPU times: USER_HZ, which is 100 on every Linux in use. */
export const TICKS_PER_SECOND = 100;

/** Longest command line that is reported, in characters. */
const MAX_COMMAND_LINE = 200;

/** A process at one moment. `startTicks` distinguishes it from a later one with the same pid. */
export interface ProcessEntry {
  readonly pid: number;
  readonly name: string;
  /** R, S, D, Z (zombie), T (stopped), … */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  /** Pid of the session leader; 0 where the platform cannot tell. */
  readonly session: number;
  /** Foreground process group of its terminal, -1 without one. */
  readonly foregroundGroup: number;
  /** Start time, in clock ticks on the platform's clock: see `ProcessClock`. */
  readonly startTicks: number;
  /** CPU time in clock ticks: its own, and where the platform counts it, that of children it has waited for. */
  readonly cpuTicks: number;
  readonly threads: number;
  /** Resident memory, in pages, including shared pages. */
  readonly residentPages: number;
}

/** Bytes that a process, and the children it has waited for, have written. */
export interface Writes {
  /** To disks, as far as the process has caused it. */
  readonly diskBytes: number;
  /** To anything: disks, memory, pipes, terminals. */
  readonly allBytes: number;
}

/** Whether a process has not ended. */
export const isRunning = ({ state }: Pick<ProcessEntry, 'state'>): boolean => state !== 'Z' && state !== 'X';

/** Truncates a command line to the displayed length. */
export const shownCommandLine = (line: string): string => line.slice(0, MAX_COMMAND_LINE);

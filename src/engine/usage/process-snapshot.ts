import type { ProcessEntry, Writes } from '../platform/contract/process-entry.js';
import type { ListAge } from '../platform/contract/processes.js';

/** Processes at one moment, shared by all groups that are sampled then. */
export interface ProcessSnapshot {
  /** Whether nothing is taken from a cache. */
  readonly isExact: boolean;
  /** Returns every process of the machine. */
  all(): Iterable<ProcessEntry>;
  /** Returns the children of a process that it has not waited for. */
  childrenOf(pid: number): readonly ProcessEntry[];
  /** Returns these processes without those that have ended. */
  of(pids: Iterable<number>): ProcessEntry[];
  /**
   * Returns what a process, and the children it has waited for, have written; zeros when not available.
   * @param mustBeNew whether to read it even if the process has used next to no CPU time since the last read
   */
  writesOf(pid: number, mustBeNew?: boolean): Writes;
  /** Returns the memory of processes, in bytes, with shared pages counted once; exact, but slow. */
  heldBytes(entries: readonly ProcessEntry[]): number;
  /** Returns the tag or mark of a process at the time it was first sampled: programs can change what they show. */
  originOf(entry: ProcessEntry): string | undefined;
}

/** Source of process data. */
export interface UsageReader {
  /**
   * Samples all processes in slices; yields to the event loop in between.
   * @param age which list of processes serves, where they are listed aside; by default 'new'
   */
  sample(age?: ListAge): Promise<ProcessSnapshot>;
  /** Samples all processes synchronously; undefined where that requires other programs. */
  sampleNow(): ProcessSnapshot | undefined;
  /** Returns a process with its children; empty when that is not available synchronously, or expensive. */
  family(pid: number): readonly ProcessEntry[];
  /**
   * Returns the CPU time of a process and of children that it has waited for, in clock ticks, at the latest time of which
   * that is known; undefined when it is not known.
   * @param since when the process cannot have been started yet, on the monotonic clock, in milliseconds
   */
  cpuTicksOf(pid: number, since: number): number | undefined;
  /** Whether exactly this process still runs, as far as can be determined. */
  isAlive(entry: ProcessEntry): boolean;
}

/** Returns the pids of these processes and all their descendants, in no particular order. */
export function descendantsIn(snapshot: ProcessSnapshot, roots: Iterable<number>): Set<number> {
  const found = new Set(roots);
  // A Set iterates over entries that are added during the iteration.
  for (const pid of found) for (const child of snapshot.childrenOf(pid)) found.add(child.pid);
  return found;
}

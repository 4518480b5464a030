import type { ProcessEntry } from '../process/process-table.js';

/** Processes as they were at one moment, for all groups that are looked at then. */
export interface ProcessSnapshot {
  /** Whether nothing in it was known before. */
  readonly isExact: boolean;
  /** Every process of the machine. */
  all(): Iterable<ProcessEntry>;
  /** Those that this one has started and not waited for. */
  childrenOf(pid: number): readonly ProcessEntry[];
  /** These processes; those that have gone are left out. */
  of(pids: Iterable<number>): ProcessEntry[];
  /**
   * Bytes that a process, and the children it has waited for, have caused to be written to disks; 0 when not told.
   * @param mustBeNew whether it is read though the process has used next to no CPU time since it was read last
   */
  writtenBy(pid: number, mustBeNew?: boolean): number;
  /** Memory of processes, in bytes, what they share with each other counted once: an exact look, and a slow one. */
  heldBytes(entries: readonly ProcessEntry[]): number;
  /** The tag or mark that a process has, or had when it was first seen: programs can change what they show. */
  originOf(entry: ProcessEntry): string | undefined;
}

/** Where figures of processes come from. */
export interface UsageReader {
  readonly name: 'proc' | 'pidusage';
  /** A look at all processes, in slices: others get the event loop in between. */
  sample(): Promise<ProcessSnapshot>;
  /** The same at once; undefined where it takes other programs. */
  sampleNow(): ProcessSnapshot | undefined;
  /** A process with its children; none when that is not had at once. */
  family(pid: number): readonly ProcessEntry[];
  /** CPU time of one process and of children that it has waited for, in clock ticks; undefined when that is not had at once. */
  cpuTicksOf(pid: number): number | undefined;
  /** Whether this very process still runs, as far as can be told. */
  isAlive(entry: ProcessEntry): boolean;
}

/** Everything that descends from these processes, they included, with no order. */
export function descendantsIn(snapshot: ProcessSnapshot, roots: Iterable<number>): Set<number> {
  const found = new Set(roots);
  // What is added while it is gone through is gone through too.
  for (const pid of found) for (const child of snapshot.childrenOf(pid)) found.add(child.pid);
  return found;
}

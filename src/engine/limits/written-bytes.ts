import { type CountedProcess, InheritedCounter } from '../../core/limits/inherited-counter.js';
import { MB } from '../../core/limits/limits.js';
import { bytesWrittenBy, readProcess } from '../process/process-table.js';

/**
 * Margin to a limit below which every sample reads all counters, in bytes: more than can be written between two
 * samples.
 */
const NEAR_BYTES = 512 * MB;

/** Whether cached values of bytes written are acceptable. */
export const isFarFrom = (limitMb: number | undefined, writtenBytes: number): boolean =>
  limitMb === undefined || limitMb * MB - writtenBytes > NEAR_BYTES;

/** CPU time below which a group counts as idle, in milliseconds: it cannot have written much. */
const IDLE_MS = 1;
/** Number of samples after which all counters are read, whatever the CPU time. */
const REFRESH_SAMPLES = 8;

interface Origin {
  readonly startTicks: number;
  readonly parent: number;
  value: number;
}

/** Sums the bytes written by the members of a control group, of which only the process ids are known. */
export class WrittenBytes {
  readonly #counter = new InheritedCounter();
  /** Start time and parent are read once; only the counters are read again. */
  readonly #origins = new Map<number, Origin>();

  #cpuMs = -Infinity;
  #samples = 0;

  get total(): number {
    return this.#counter.total;
  }

  /** Returns the counter of a process as of the last read; see InheritedCounter. */
  seenOf(pid: number): number {
    return this.#counter.seenOf(pid);
  }

  /** Returns the sum of all other counters, including ended processes without a wait(2). */
  seenBeyond(pids: readonly number[]): number {
    return this.#counter.seenBeyond(pids);
  }

  /**
   * Takes the current members, parents before their children; returns the bytes written so far.
   * @param cpuMs CPU time that they have used so far
   * @param isExact whether to read the counters even if they have used next to no CPU time since
   */
  update(pids: readonly number[], cpuMs: number, isExact: boolean): number {
    this.#samples += 1;
    // Spreads the refreshes of the groups over the samples: their first processes have different pids.
    const isRefreshDue = (this.#samples + (pids[0] ?? 0)) % REFRESH_SAMPLES === 0;
    if (!isExact && cpuMs - this.#cpuMs < IDLE_MS && !isRefreshDue) return this.#counter.total;
    this.#cpuMs = cpuMs;
    const present = new Set([...pids, ...this.#ended(new Set(pids))]);
    for (const pid of this.#origins.keys()) if (!present.has(pid)) this.#origins.delete(pid);
    return this.#counter.update([...present].flatMap((pid) => this.#count(pid) ?? []));
  }

  /** Former members without a wait(2): their counters have not been added to their parents' yet. */
  #ended(members: ReadonlySet<number>): number[] {
    const gone = [...this.#origins].filter(([pid]) => !members.has(pid));
    return gone.flatMap(([pid, { startTicks }]) => (readProcess(pid)?.startTicks === startTicks ? [pid] : []));
  }

  #count(pid: number): CountedProcess | undefined {
    const value = bytesWrittenBy(pid);
    const known = this.#origins.get(pid);
    if (known && known.value <= value) return { ...known, pid, value: (known.value = value) };
    // A counter that has fallen belongs to another process with the same pid.
    const entry = readProcess(pid);
    if (entry) {
      const origin = { startTicks: entry.startTicks, parent: entry.parent, value };
      this.#origins.set(pid, origin);
      return { ...origin, pid };
    }
    // The process has ended since the members were listed; its parent, which was read before, will inherit its counter.
    return known && { ...known, pid, value: 0 };
  }
}

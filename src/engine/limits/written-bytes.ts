import { type CountedProcess, InheritedCounter } from '../../core/limits/inherited-counter.js';
import { MB } from '../../core/limits/limits.js';
import { bytesWrittenBy, readProcess } from '../process/process-table.js';

/** Nearer to a limit than this, everything is read at each look: more than can be written between two, in bytes. */
const NEAR_BYTES = 512 * MB;

/** Whether what has been written may be known from an earlier look, in part. */
export const isFarFrom = (limitMb: number | undefined, writtenBytes: number): boolean =>
  limitMb === undefined || limitMb * MB - writtenBytes > NEAR_BYTES;

/** Who has used less CPU time has not written much, in milliseconds. */
const IDLE_MS = 1;
/** At one of so many looks everything is read, whatever was used. */
const REFRESH_LOOKS = 8;

interface Origin {
  readonly startTicks: number;
  readonly parent: number;
  value: number;
}

/** Sums what the members of a control group have written, of whom only the process ids are known. */
export class WrittenBytes {
  readonly #counter = new InheritedCounter();
  /** Where they come from is asked once: their counters are all that is read again. */
  readonly #origins = new Map<number, Origin>();

  #cpuMs = -Infinity;
  #looks = 0;

  get total(): number {
    return this.#counter.total;
  }

  /** What one had when it was last read; see InheritedCounter. */
  seenOf(pid: number): number {
    return this.#counter.seenOf(pid);
  }

  /** What all but these had then, those too that have ended and were not waited for. */
  seenBeyond(pids: readonly number[]): number {
    return this.#counter.seenBeyond(pids);
  }

  /**
   * Takes the members as they are now, parents before their children; gives the bytes written so far.
   * @param cpuMs CPU time that they have used so far
   * @param isExact whether they are read though they have used next to none since
   */
  update(pids: readonly number[], cpuMs: number, isExact: boolean): number {
    this.#looks += 1;
    // Not all groups at the same look: their first processes have different numbers.
    const isTurn = (this.#looks + (pids[0] ?? 0)) % REFRESH_LOOKS === 0;
    if (!isExact && cpuMs - this.#cpuMs < IDLE_MS && !isTurn) return this.#counter.total;
    this.#cpuMs = cpuMs;
    const present = new Set([...pids, ...this.#ended(new Set(pids))]);
    for (const pid of this.#origins.keys()) if (!present.has(pid)) this.#origins.delete(pid);
    return this.#counter.update([...present].flatMap((pid) => this.#count(pid) ?? []));
  }

  /** Former members that nobody has waited for: their counters have not gone over to their parents. */
  #ended(members: ReadonlySet<number>): number[] {
    const gone = [...this.#origins].filter(([pid]) => !members.has(pid));
    return gone.flatMap(([pid, { startTicks }]) => (readProcess(pid)?.startTicks === startTicks ? [pid] : []));
  }

  #count(pid: number): CountedProcess | undefined {
    const value = bytesWrittenBy(pid);
    const known = this.#origins.get(pid);
    if (known && known.value <= value) return { ...known, pid, value: (known.value = value) };
    // A counter that has fallen is another process's, with the same pid.
    const entry = readProcess(pid);
    if (entry) {
      const origin = { startTicks: entry.startTicks, parent: entry.parent, value };
      this.#origins.set(pid, origin);
      return { ...origin, pid };
    }
    // It has gone since the members were listed; its parent, which was read before, will have its counter.
    return known && { ...known, pid, value: 0 };
  }
}

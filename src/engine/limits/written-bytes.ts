import { type CountedProcess, InheritedCounter } from '../../core/limits/inherited-counter.js';
import { bytesWrittenBy, readProcess } from '../process-table.js';

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

  /** Takes the members as they are now, parents before their children; gives the bytes written so far. */
  update(pids: readonly number[]): number {
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

import { InheritedCounter } from '../../core/limits/inherited-counter.js';
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

  /** Takes the members as they are now; gives the bytes written so far. */
  update(pids: readonly number[]): number {
    const counted = pids.flatMap((pid) => {
      const value = bytesWrittenBy(pid);
      const origin = this.#originOf(pid, value);
      if (!origin) return [];
      origin.value = value;
      return [{ ...origin, pid }];
    });
    const present = new Set(pids);
    for (const pid of this.#origins.keys()) if (!present.has(pid)) this.#origins.delete(pid);
    return this.#counter.update(counted);
  }

  #originOf(pid: number, value: number): Origin | undefined {
    const known = this.#origins.get(pid);
    // A counter that has fallen is another process's, with the same pid.
    if (known && known.value <= value) return known;
    const entry = readProcess(pid);
    if (!entry) return undefined;
    const origin = { startTicks: entry.startTicks, parent: entry.parent, value };
    this.#origins.set(pid, origin);
    return origin;
  }
}

/** CPU time over a moving window: short bursts do not exceed a limit, only the average of a window does. */
export class CpuWindow {
  readonly #windowMs: number;
  #samples: { readonly at: number; readonly cpuMs: number }[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Adds a sample of the CPU time used so far, at a time of a monotonic clock; both in milliseconds. */
  push(at: number, cpuMs: number): void {
    this.#samples.push({ at, cpuMs });
    // The newest sample that is at least as old as the window is kept as the beginning of the window.
    while ((this.#samples[1]?.at ?? Infinity) <= at - this.#windowMs) this.#samples.shift();
  }

  /** Percent of one core over the window; undefined until the window is complete. */
  get percent(): number | undefined {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (!first || !last || last.at - first.at < this.#windowMs) return undefined;
    return percentBetween(first, last);
  }

  /** Percent of one core between the last two samples; undefined before there are two. */
  get latest(): number | undefined {
    const [before, last] = this.#samples.slice(-2);
    return before && last ? percentBetween(before, last) : undefined;
  }

  /** Discards all samples, so that the window begins with the next one. */
  clear(): void {
    this.#samples = [];
  }
}

interface Sample {
  readonly at: number;
  readonly cpuMs: number;
}

const percentBetween = (first: Sample, last: Sample): number | undefined =>
  last.at > first.at ? ((last.cpuMs - first.cpuMs) / (last.at - first.at)) * 100 : undefined;

/** A process with a counter. When the process has ended and was waited for, its parent inherits the count. */
export interface CountedProcess {
  readonly pid: number;
  /** Distinguishes it from a later process with the same pid. */
  readonly startTicks: number;
  readonly parent: number;
  /** Count of the process, including the children it has waited for. */
  readonly value: number;
}

/**
 * Sums a counter over processes that start and end, such as their CPU time or the bytes they have written. The total
 * never decreases, and counts nothing twice. The last known count of an ended process moves to its parent, if the
 * parent waited for it: then the parent's counter has grown by that amount. If no process has waited (its parent had
 * ended before), the count is kept here.
 */
export class InheritedCounter {
  #known = new Map<number, CountedProcess>();
  #orphaned = 0;
  #total = 0;

  /** Sum over all processes so far, those that have ended included. */
  get total(): number {
    return this.#total;
  }

  /** The total, with the current count of one process in place of its last known one. */
  totalWith(pid: number, value: number): number {
    return this.#total + Math.max(0, value - (this.#known.get(pid)?.value ?? 0));
  }

  /** The processes of the last update. */
  get known(): ReadonlyMap<number, CountedProcess> {
    return this.#known;
  }

  /**
   * Updates the counts from a list of all current processes; returns the total.
   * @param reaper the process that waits for orphans, if one does
   */
  update(processes: readonly CountedProcess[], reaper?: number): number {
    const now = new Map(processes.map((process) => [process.pid, process]));
    const isSame = (before: CountedProcess) => now.get(before.pid)?.startTicks === before.startTicks;
    const growth = new Map<number, number>();
    for (const { pid, startTicks, value } of processes) {
      const before = this.#known.get(pid);
      growth.set(pid, value - (before?.startTicks === startTicks ? before.value : 0));
    }
    for (const ended of [...this.#known.values()].filter((before) => !isSame(before))) {
      let left = ended.value;
      for (const heir of [this.#heirOf(ended, isSame), reaper].filter((pid) => pid !== undefined)) {
        const grown = growth.get(heir) ?? 0;
        const taken = Math.max(0, Math.min(left, grown));
        growth.set(heir, grown - taken);
        left -= taken;
      }
      this.#orphaned += left;
    }
    this.#known = now;
    const sum = processes.reduce((total, { value }) => total + value, 0);
    this.#total = Math.max(this.#total, sum + this.#orphaned);
    return this.#total;
  }

  /** The nearest ancestor that still runs. */
  #heirOf(ended: CountedProcess, isRunning: (before: CountedProcess) => boolean): number | undefined {
    let ancestor = this.#known.get(ended.parent);
    for (let depth = 0; ancestor && depth < this.#known.size; depth++) {
      if (isRunning(ancestor)) return ancestor.pid;
      ancestor = this.#known.get(ancestor.parent);
    }
    return undefined;
  }
}

/** A process with a counter that its parent takes over when it has ended and was waited for. */
export interface CountedProcess {
  readonly pid: number;
  /** Tells it from a later process of the same pid. */
  readonly startTicks: number;
  readonly parent: number;
  /** Its own and that of the children it has waited for. */
  readonly value: number;
}

/**
 * Sums a counter over processes that come and go, such as their CPU time or the bytes they have written: never falls,
 * and counts nothing twice. What a process had counted when it was last seen goes over to its parent, if that waited for
 * it: then the parent's counter has grown by as much. If nobody has (its parent had ended before), it is kept here.
 */
export class InheritedCounter {
  #known = new Map<number, CountedProcess>();
  #lost = 0;
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** What a process had when it was last seen; 0 for one that was not there. */
  seenOf(pid: number): number {
    return this.#known.get(pid)?.value ?? 0;
  }

  /** What all but these had when they were last seen. */
  seenBeyond(pids: readonly number[]): number {
    return [...this.#known.values()].reduce((sum, { pid, value }) => (pids.includes(pid) ? sum : sum + value), 0);
  }

  /**
   * Takes all processes as they are now; gives the total.
   * @param reaper the one of them that waits for those whose parents have ended, if one does
   */
  update(processes: readonly CountedProcess[], reaper?: number): number {
    const now = new Map(processes.map((process) => [process.pid, process]));
    const isSame = (before: CountedProcess) => now.get(before.pid)?.startTicks === before.startTicks;
    const growth = new Map<number, number>();
    for (const { pid, startTicks, value } of processes) {
      const before = this.#known.get(pid);
      growth.set(pid, value - (before?.startTicks === startTicks ? before.value : 0));
    }
    for (const gone of [...this.#known.values()].filter((before) => !isSame(before))) {
      let left = gone.value;
      for (const heir of [this.#heirOf(gone, isSame), reaper].filter((pid) => pid !== undefined)) {
        const grown = growth.get(heir) ?? 0;
        const taken = Math.max(0, Math.min(left, grown));
        growth.set(heir, grown - taken);
        left -= taken;
      }
      this.#lost += left;
    }
    this.#known = now;
    const sum = processes.reduce((total, { value }) => total + value, 0);
    this.#total = Math.max(this.#total, sum + this.#lost);
    return this.#total;
  }

  /** The nearest of those it descends from that still runs. */
  #heirOf(gone: CountedProcess, isThere: (before: CountedProcess) => boolean): number | undefined {
    let ancestor = this.#known.get(gone.parent);
    for (let depth = 0; ancestor && depth < this.#known.size; depth++) {
      if (isThere(ancestor)) return ancestor.pid;
      ancestor = this.#known.get(ancestor.parent);
    }
    return undefined;
  }
}

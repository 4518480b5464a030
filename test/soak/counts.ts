/** Name of the count of processes that were killed from outside. */
export const KILLS = 'processes killed from outside';

/** How often something was done or seen. */
export class Counts {
  readonly #counts = new Map<string, number>();
  readonly #times = new Map<string, number>();

  add(what: string, count = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
    this.#times.set(what, performance.now());
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  /** When it was last added, on the clock of `performance.now`; -Infinity if never. */
  lastTimeOf(what: string): number {
    return this.#times.get(what) ?? -Infinity;
  }

  /** All of them by name. */
  toJSON(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort());
  }
}

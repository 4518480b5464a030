/** What has happened in a run, and how often. */
export class Counts {
  readonly #counts = new Map<string, number>();

  add(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** By name. */
  entries(): readonly (readonly [string, number])[] {
    return [...this.#counts].toSorted(([one], [other]) => one.localeCompare(other));
  }
}

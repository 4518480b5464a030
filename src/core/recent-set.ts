/**
 * The values added last: at least `size` of them, and less than twice as many. All operations take constant time; to
 * delete the oldest value of a Set takes longer with each one that was deleted before.
 */
export class RecentSet<T> {
  readonly #size: number;
  #newer = new Set<T>();
  #older: ReadonlySet<T> = new Set<T>();

  constructor(size: number) {
    this.#size = size;
  }

  /** Adds a value; older ones may be dropped. */
  add(value: T): void {
    if (this.#newer.size >= this.#size) {
      this.#older = this.#newer;
      this.#newer = new Set();
    }
    this.#newer.add(value);
  }

  /** Whether a value was added and is still kept. */
  has(value: T): boolean {
    return this.#newer.has(value) || this.#older.has(value);
  }
}

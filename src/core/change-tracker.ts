/** Most items whose last change stays known after they were retired. */
const MAX_RETIRED = 1000;

/** What is known of an item: the values that it was last seen with, and the revision of its last change. */
interface Seen {
  readonly stamp: readonly unknown[];
  readonly revision: number;
}

/**
 * Finds out which items have changed between looks, without comparing what they would be rendered to: each look notes
 * the values on which an item depends. Each change has a revision, so that any number of readers can ask for what is new.
 */
export class ChangeTracker<T extends object> {
  readonly #seen = new Map<T, Seen>();
  /** The last change of items that will not change any more, the oldest first. */
  readonly #retired: { readonly item: T; readonly revision: number }[] = [];
  #revision = 0;

  /** Revision of the last change; 0 before the first one. */
  get revision(): number {
    return this.#revision;
  }

  /** Items that are not retired. */
  get items(): IterableIterator<T> {
    return this.#seen.keys();
  }

  /** Notes the values of an item. It has changed if one of them is another than before. */
  note(item: T, stamp: readonly unknown[]): void {
    const seen = this.#seen.get(item);
    if (seen && isSame(seen.stamp, stamp)) return;
    this.#revision += 1;
    this.#seen.set(item, { stamp, revision: this.#revision });
  }

  /** Notes that an item will not change any more. Its last change stays known, unless there are many later ones. */
  retire(item: T): void {
    const revision = this.#seen.get(item)?.revision;
    if (revision === undefined) return;
    this.#seen.delete(item);
    this.#retired.push({ item, revision });
    if (this.#retired.length > MAX_RETIRED) this.#retired.shift();
  }

  forget(item: T): void {
    this.#seen.delete(item);
  }

  /** Items that have changed after a revision, those with the newest change first. */
  changedSince(revision: number): T[] {
    if (revision >= this.#revision) return [];
    const seen = [...this.#seen].map(([item, { revision: of }]) => ({ item, revision: of }));
    return [...seen, ...this.#retired]
      .filter((entry) => entry.revision > revision)
      .sort((a, b) => b.revision - a.revision)
      .map(({ item }) => item);
  }
}

const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((value, index) => Object.is(value, b[index]));

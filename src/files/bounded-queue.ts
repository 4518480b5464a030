/** Items that were not accepted. Times in milliseconds since 1970. */
export interface Loss {
  readonly count: number;
  readonly since: number;
  readonly until: number;
}

/** A queued item. */
export interface Queued<Item> {
  readonly item: Item;
  readonly weight: number;
  /** Number of lost items that a notice reports; undefined for any other item. */
  readonly reports?: number;
}

/** Bounds of a queue, and what its notices look like. */
export interface BoundedQueueOptions<Item> {
  readonly maxItems: number;
  /** Total weight above which nothing is accepted. */
  readonly maxWeight: number;
  readonly weightOf: (item: Item) => number;
  /** Returns the item that reports lost items. */
  readonly describeLoss: (loss: Loss) => Item;
}

/** A bounded queue: items beyond its bounds are counted, and a notice takes their place. */
export class BoundedQueue<Item> {
  readonly #options: BoundedQueueOptions<Item>;
  readonly #items: Queued<Item>[] = [];
  #weight = 0;
  #loss: Loss | undefined;

  constructor(options: BoundedQueueOptions<Item>) {
    this.#options = options;
  }

  /** Number of queued items, without the notice of items that were lost last. */
  get length(): number {
    return this.#items.length;
  }

  /** Whether items were lost that no notice reports yet. */
  get hasLoss(): boolean {
    return this.#loss !== undefined;
  }

  /** The newest item. */
  get last(): Queued<Item> | undefined {
    return this.#items.at(-1);
  }

  /** Adds an item; when the queue is full, it is counted as lost instead. */
  push(item: Item): void {
    const { maxItems, maxWeight } = this.#options;
    if (this.#items.length >= maxItems || this.#weight > maxWeight) {
      this.#lose(1);
      return;
    }
    this.#report();
    this.#add({ item, weight: this.#options.weightOf(item) });
  }

  /** Puts an item before all others, whatever the bounds. */
  unshift(item: Item): void {
    this.#items.unshift({ item, weight: 0 });
  }

  /** Returns the first `count` items at most; the notice of a loss if there are no others. */
  peek(count: number): readonly Queued<Item>[] {
    if (this.#items.length === 0) this.#report();
    return this.#items.slice(0, count);
  }

  /** Removes the first `count` items, which were written. */
  remove(count: number): readonly Queued<Item>[] {
    const removed = this.#items.splice(0, count);
    for (const { weight } of removed) this.#weight -= weight;
    return removed;
  }

  /** Removes the items up to one of them, and counts them as lost. */
  dropUpTo(last: Queued<Item> | undefined): void {
    for (const { reports = 1 } of this.remove(this.#items.findIndex((queued) => queued === last) + 1)) {
      this.#lose(reports);
    }
  }

  #lose(count: number): void {
    const now = Date.now();
    this.#loss = { count: (this.#loss?.count ?? 0) + count, since: this.#loss?.since ?? now, until: now };
  }

  #report(): void {
    if (!this.#loss) return;
    this.#add({ item: this.#options.describeLoss(this.#loss), weight: 0, reports: this.#loss.count });
    this.#loss = undefined;
  }

  #add(queued: Queued<Item>): void {
    this.#items.push(queued);
    this.#weight += queued.weight;
  }
}

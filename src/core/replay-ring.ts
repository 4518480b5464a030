/** An event that is kept, its number, and what keeping it costs, in bytes. */
interface KeptEvent<T> {
  readonly seq: number;
  readonly event: T;
  readonly bytes: number;
}

export interface Replay<T> {
  /** The kept events, in order. */
  readonly events: readonly { readonly seq: number; readonly event: T }[];
  /** The requested events before them that are no longer kept, both ends included. */
  readonly gap: { readonly fromSeq: number; readonly toSeq: number } | null;
}

/**
 * Numbers the events of a session and keeps the newest of them, up to a budget, for clients that reconnect. The kept
 * events are always a contiguous sequence up to the newest: an event larger than the budget clears the ring.
 */
export class ReplayRing<T> {
  readonly #maxBytes: number;
  readonly #kept = new Map<number, { readonly event: T; readonly bytes: number }>();
  #keptBytes = 0;
  #nextSeq = 0;

  /** @param maxBytes budget for all kept events; 0 keeps nothing */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Number of the next event; the first event has number 0. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /**
   * Adds an event and returns its number. `bytes` is the cost of keeping it, including overhead if the budget is to
   * bound memory; it counts as at least 1.
   */
  push(event: T, bytes: number): number {
    const seq = this.#nextSeq++;
    const cost = Math.max(1, bytes);
    this.#kept.set(seq, { event, bytes: cost });
    this.#keptBytes += cost;
    while (this.#keptBytes > this.#maxBytes) this.#dropOldest();
    return seq;
  }

  /** Returns the kept events numbered `fromSeq` and up. A number in the future returns no events and no gap. */
  since(fromSeq: number): Replay<T> {
    const oldest = this.#oldestSeq;
    const events: { seq: number; event: T }[] = [];
    for (let seq = Math.max(fromSeq, oldest); seq < this.#nextSeq; seq++) {
      const entry = this.#kept.get(seq);
      if (entry) events.push({ seq, event: entry.event });
    }
    return { events, gap: fromSeq < oldest ? { fromSeq, toSeq: oldest - 1 } : null };
  }

  /** Cost of the kept events numbered `fromSeq` and up, in bytes. */
  bytesSince(fromSeq: number): number {
    let bytes = 0;
    for (let seq = Math.max(fromSeq, this.#oldestSeq); seq < this.#nextSeq; seq++)
      bytes += this.#kept.get(seq)?.bytes ?? 0;
    return bytes;
  }

  /** Returns the newest kept events whose cost together is at most `maxBytes`, none before `fromSeq`, in order. */
  newest(maxBytes: number, fromSeq: number): KeptEvent<T>[] {
    const events: KeptEvent<T>[] = [];
    let room = maxBytes;
    for (let seq = this.#nextSeq - 1; seq >= Math.max(fromSeq, this.#oldestSeq); seq--) {
      const entry = this.#kept.get(seq);
      if (!entry || entry.bytes > room) break;
      room -= entry.bytes;
      events.push({ seq, ...entry });
    }
    return events.reverse();
  }

  get #oldestSeq(): number {
    return this.#nextSeq - this.#kept.size;
  }

  /** By number: iterating a Map from its start visits every entry that was deleted there before. */
  #dropOldest(): void {
    const seq = this.#oldestSeq;
    this.#keptBytes -= this.#kept.get(seq)?.bytes ?? 0;
    this.#kept.delete(seq);
  }
}

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

/**
 * Returns a function that computes its result again only when its argument is another object than at the last call: for what
 * is derived from the configuration, which is replaced as a whole.
 */
export function rememberLast<Argument extends object, Result>(
  compute: (argument: Argument) => Result,
): (argument: Argument) => Result {
  let last: { readonly argument: Argument; readonly result: Result } | undefined;
  return (argument) => {
    if (last?.argument !== argument) last = { argument, result: compute(argument) };
    return last.result;
  };
}

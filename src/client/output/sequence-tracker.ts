/** Range of missing event numbers of a session, both ends included. */
export interface SequenceGap {
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** Tracks the event numbers of one session: duplicates, gaps, and the next number. */
export class SequenceTracker {
  #next: number | undefined;

  /** @param next number of the next event; without it, the first event of any number is accepted */
  constructor(next?: number) {
    this.#next = next;
  }

  /** Number of the next new event; undefined before the first event. */
  get next(): number | undefined {
    return this.#next;
  }

  /** Records the number of an event; returns whether it is a duplicate, and the gap in front of it. */
  accept(seq: number): { readonly isDuplicate: boolean; readonly gap?: SequenceGap } {
    const expected = this.#next ?? seq;
    if (seq < expected) return { isDuplicate: true };
    this.#next = seq + 1;
    return seq === expected
      ? { isDuplicate: false }
      : { isDuplicate: false, gap: { fromSeq: expected, toSeq: seq - 1 } };
  }

  /** Records that events up to a number are dropped; returns the part of them that was not known to be missing. */
  skip(toSeq: number): SequenceGap | undefined {
    const expected = this.#next;
    if (expected !== undefined && toSeq < expected) return undefined;
    this.#next = toSeq + 1;
    return expected === undefined ? undefined : { fromSeq: expected, toSeq };
  }
}

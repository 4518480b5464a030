/** Numbers of a session's events that did not come, both ends included. */
export interface SequenceGap {
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** Follows the numbers of one session's events: which were seen already, which were left out, which comes next. */
export class SequenceTracker {
  #next: number | undefined;

  /** @param next the number that the next event has; without it, whatever comes first is taken */
  constructor(next?: number) {
    this.#next = next;
  }

  /** Number that the next new event has; undefined as long as nothing is known. */
  get next(): number | undefined {
    return this.#next;
  }

  /** Takes the number of an event: whether it was seen before, and what is missing in front of it. */
  accept(seq: number): { readonly isDuplicate: boolean; readonly gap?: SequenceGap } {
    const expected = this.#next ?? seq;
    if (seq < expected) return { isDuplicate: true };
    this.#next = seq + 1;
    return seq === expected
      ? { isDuplicate: false }
      : { isDuplicate: false, gap: { fromSeq: expected, toSeq: seq - 1 } };
  }

  /** Takes the announcement that events up to a number will not come; gives those that were not known to be missing. */
  skip(toSeq: number): SequenceGap | undefined {
    const expected = this.#next;
    if (expected !== undefined && toSeq < expected) return undefined;
    this.#next = toSeq + 1;
    return expected === undefined ? undefined : { fromSeq: expected, toSeq };
  }
}

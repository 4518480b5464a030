/**
 * Within this time a repeated event is only counted, and the count is recorded with the next one, so that a burst cannot
 * fill a log. In milliseconds.
 */
const REPEAT_MS = 1000;
/** Maximum number of kinds of events that are remembered; beyond that all are dropped. */
const MAX_KNOWN = 1000;

/** Tells which events of a burst are recorded. Times are in milliseconds of one clock, of any kind. */
export class Repeats {
  readonly #known = new Map<string, { readonly at: number; left: number }>();

  /** Number of events of a kind left out before this one; undefined when this one is left out too. */
  countOf(kind: string, now: number): number | undefined {
    const known = this.#known.get(kind);
    if (known && now - known.at < REPEAT_MS) {
      known.left += 1;
      return undefined;
    }
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(kind, { at: now, left: 0 });
    return known?.left ?? 0;
  }
}

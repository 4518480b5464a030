import type { CastEvent } from './asciicast.js';

/** Times at which events are shown, in milliseconds, with pauses that may be shorter than they were. */
export class Timeline {
  readonly events: readonly CastEvent[];
  /** Commands: the label of each marker with its time. */
  readonly marks: readonly { readonly atMs: number; readonly label: string }[];
  readonly #times: readonly number[];

  /** @param maxPauseMs longest pause between two events; by default as it was */
  constructor(events: readonly CastEvent[], maxPauseMs = Infinity) {
    this.events = events;
    let at = 0;
    let before = 0;
    this.#times = events.map(([seconds]) => {
      const ms = Math.max(before, seconds * 1000);
      at += Math.min(maxPauseMs, ms - before);
      before = ms;
      return at;
    });
    this.marks = events.flatMap(([, code, label], index) =>
      code === 'm' ? [{ atMs: this.timeOf(index), label }] : [],
    );
  }

  /** Time of the last event. */
  get durationMs(): number {
    return this.#times.at(-1) ?? 0;
  }

  /** Time of an event; that of the last one for an index beyond it. */
  timeOf(index: number): number {
    return this.#times[index] ?? this.durationMs;
  }

  /** Index of the first event after a time. */
  indexAfter(ms: number): number {
    let low = 0;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.timeOf(middle) <= ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** What the terminal gets from one event up to another, that one not included. */
  outputOf(from: number, to: number): string {
    return this.events
      .slice(from, to)
      .flatMap(([, code, data]) => (code === 'o' ? [data] : []))
      .join('');
  }
}

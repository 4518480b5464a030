/** CPU time over a moving window: short bursts do not exceed a limit, only the average of a window does. */
export class CpuWindow {
  readonly #windowMs: number;
  #samples: { readonly at: number; readonly cpuMs: number }[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Adds a sample of the CPU time used so far, at a time of a monotonic clock; both in milliseconds. */
  push(at: number, cpuMs: number): void {
    this.#samples.push({ at, cpuMs });
    // The newest sample that is at least as old as the window is kept as the beginning of the window.
    while ((this.#samples[1]?.at ?? Infinity) <= at - this.#windowMs) this.#samples.shift();
  }

  /** Percent of one core over the window; undefined until the window is complete. */
  get percent(): number | undefined {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (!first || !last || last.at - first.at < this.#windowMs) return undefined;
    return percentBetween(first, last);
  }

  /** Percent of one core between the last two samples; undefined before there are two. */
  get latest(): number | undefined {
    const [before, last] = this.#samples.slice(-2);
    return before && last ? percentBetween(before, last) : undefined;
  }

  /** Discards all samples, so that the window begins with the next one. */
  clear(): void {
    this.#samples = [];
  }
}

interface Sample {
  readonly at: number;
  readonly cpuMs: number;
}

const percentBetween = (first: Sample, last: Sample): number | undefined =>
  last.at > first.at ? ((last.cpuMs - first.cpuMs) / (last.at - first.at)) * 100 : undefined;

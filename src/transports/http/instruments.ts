import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** A counter with its labels bound. */
export type Count = (by?: number) => void;
/** A histogram with its labels bound. */
export type TakeTime = (ms: number) => void;

/** Most values of a histogram that wait to be entered: entering some hundred takes less than a millisecond. */
const MAX_WAITING = 256;

/**
 * Creates the counters and histograms of a registry. What is counted is added up in place, and entered into the registry when
 * metrics are read: prom-client looks the labels up for each value, which would cost every command more than what is counted.
 */
export class Instruments {
  readonly #registry: Registry;
  readonly #waiting: (() => void)[] = [];

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Creates a counter. The name is that of the metric without its prefix `shell_adapter_`. */
  counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name: `shell_adapter_${name}`, help, labelNames, registers: [this.#registry] });
  }

  /** Creates a gauge that is read when the metrics are, named in the same way. */
  gauge<L extends string>(name: string, help: string, labelNames: readonly L[], read: (gauge: Gauge<L>) => void): void {
    const gauge = new Gauge({
      name: `shell_adapter_${name}`,
      help,
      labelNames,
      registers: [this.#registry],
      collect: () => {
        read(gauge);
      },
    });
  }

  /** Creates a histogram, named in the same way. The buckets are in seconds. */
  histogram<L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]): Histogram<L> {
    const registers = [this.#registry];
    return new Histogram({ name: `shell_adapter_${name}`, help, labelNames, buckets, registers });
  }

  /** Binds the labels of a counter and exports it as 0: rates need a start value. */
  bind<L extends string>(counter: Counter<L>, labels: Record<L, string>): Count {
    const bound = counter.labels(labels);
    bound.inc(0);
    let waiting = 0;
    this.#waiting.push(() => {
      if (waiting > 0) bound.inc(waiting);
      waiting = 0;
    });
    return (by = 1) => {
      waiting += by;
    };
  }

  /** Binds the labels of a histogram of seconds; it is exported after its first value. */
  bindTime<L extends string>(histogram: Histogram<L>, labels: Record<L, string>): TakeTime {
    const bound = histogram.labels(labels);
    const waiting: number[] = [];
    const enter = () => {
      for (const ms of waiting) bound.observe(ms / 1000);
      waiting.length = 0;
    };
    this.#waiting.push(enter);
    return (ms) => {
      if (waiting.push(ms) === MAX_WAITING) enter();
    };
  }

  /** Enters what was counted into the registry: has to be called before metrics are read. */
  enter(): void {
    for (const enter of this.#waiting) enter();
  }
}

/** Creates a table with an entry for each name. */
export function each<N extends string, T>(names: readonly N[], make: (name: N) => T): Record<N, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, T>;
}

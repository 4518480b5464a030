import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** A counter with its labels bound. */
export type Count = (by?: number) => void;
/** A histogram with its labels bound. */
export type TakeTime = (ms: number) => void;

/** Creates the counters and histograms of a registry. */
export class Instruments {
  readonly #registry: Registry;

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
}

/** Binds the labels of a counter and exports it as 0: rates need a start value. */
export function bind<L extends string>(counter: Counter<L>, labels: Record<L, string>): Count {
  const bound = counter.labels(labels);
  bound.inc(0);
  return (by) => {
    bound.inc(by);
  };
}

/** Binds the labels of a histogram of seconds; it is exported after its first value. */
export function bindTime<L extends string>(histogram: Histogram<L>, labels: Record<L, string>): TakeTime {
  const bound = histogram.labels(labels);
  return (ms) => {
    bound.observe(ms / 1000);
  };
}

/** Creates a table with an entry for each name. */
export function each<N extends string, T>(names: readonly N[], make: (name: N) => T): Record<N, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, T>;
}

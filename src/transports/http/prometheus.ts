import { performance } from 'node:perf_hooks';

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import {
  type Labels,
  type Metric,
  METRIC_PREFIX,
  METRICS,
  type Metrics,
  type MetricScope,
  type Readings,
  seriesOf,
} from '../../core/metrics.js';

const TABLE: readonly (readonly [string, Metric])[] = Object.entries(METRICS);

/** Most values of a histogram that wait to be entered: entering some hundred takes less than a millisecond. */
const MAX_WAITING = 256;

/**
 * A counter or histogram with its labels bound. Its values wait, and are entered into prom-client when metrics are read:
 * prom-client looks the labels up for each value, which would cost every command more than what is counted.
 */
interface Series {
  readonly add: (value: number) => void;
  /** Enters what waits. */
  readonly enter: () => void;
}

function counterSeries(counter: Counter, labels: Labels): Series {
  counter.inc(labels, 0);
  let waiting = 0;
  return {
    add: (by) => {
      waiting += by;
    },
    enter: () => {
      if (waiting > 0) counter.inc(labels, waiting);
      waiting = 0;
    },
  };
}

function histogramSeries(histogram: Histogram, labels: Labels): Series {
  const waiting: number[] = [];
  const enter = () => {
    for (const value of waiting) histogram.observe(labels, value);
    waiting.length = 0;
  };
  return {
    add: (value) => {
      if (waiting.push(value) === MAX_WAITING) enter();
    },
    enter,
  };
}

/** Series by the value of their first label, then of the second, and so on. */
interface SeriesTree {
  readonly branches: Map<string, SeriesTree>;
  series: Series | undefined;
}

const newTree = (): SeriesTree => ({ branches: new Map(), series: undefined });

/** All series of a counter or histogram. */
class Instrument {
  readonly #labelNames: readonly string[];
  readonly #open: (labels: Labels) => Series;
  readonly #tree = newTree();
  readonly #all: Series[] = [];

  constructor(metric: Metric, open: (labels: Labels) => Series) {
    this.#labelNames = Object.keys(metric.labels);
    this.#open = open;
    for (const labels of seriesOf(metric)) this.#find(labels);
  }

  add(labels: Labels, value: number): void {
    this.#find(labels).add(value);
  }

  enter(): void {
    for (const series of this.#all) series.enter();
  }

  #find(labels: Labels): Series {
    let tree = this.#tree;
    for (const name of this.#labelNames) {
      const value = labels[name] ?? '';
      let next = tree.branches.get(value);
      if (!next) tree.branches.set(value, (next = newTree()));
      tree = next;
    }
    return (tree.series ??= this.#openSeries(labels));
  }

  /** The labels are exported in the order of the table. */
  #openSeries(labels: Labels): Series {
    const series = this.#open(Object.fromEntries(this.#labelNames.map((name) => [name, labels[name] ?? ''])));
    this.#all.push(series);
    return series;
  }
}

/** What a gauge is: see `Readings`. */
type AnyReading = number | undefined | readonly (readonly [Labels, number])[];

function show(gauge: Gauge, reading: AnyReading): void {
  if (reading === undefined) return;
  if (typeof reading === 'number') {
    gauge.set(reading);
    return;
  }
  gauge.reset();
  for (const [labels, value] of reading) gauge.set(labels, value);
}

/**
 * The metrics of `core/metrics.ts` for [Prometheus](https://prometheus.io), with those of the process. Gauges are sampled, because
 * gauges that are incremented and decremented can drift.
 */
export class PrometheusMetrics implements Metrics {
  /** `Content-Type` of `render`. */
  readonly contentType: string;
  readonly #registry: Registry;
  readonly #instruments = new Map<string, Instrument>();
  readonly #gauges = new Map<string, Gauge>();
  readonly #updates: (() => Promise<void>)[] = [];
  /** At the last `render`. */
  #loopUtilization = { active: 0, idle: 0, utilization: 0 };
  #readOthers: (() => Promise<readonly string[]>) | undefined;

  /**
   * @param registry where the metrics are registered; they are exported in the order of their registration
   * @default a registry of its own
   */
  constructor(registry: Registry = new Registry()) {
    this.#registry = registry;
    this.contentType = registry.contentType;
    registerProcessMetrics(registry);
    this.#register('daemon');
  }

  readonly count: Metrics['count'] = (name, labels, by = 1) => {
    // LLM tools report arbitrary values.
    this.#instruments.get(name)?.add(labels, Number.isFinite(by) && by > 0 ? by : 0);
  };

  readonly observe: Metrics['observe'] = (name, value, labels) => {
    this.#instruments.get(name)?.add(labels, value);
  };

  /**
   * Adds the gauges of a scope, and with `gateway` or `registry` all of its metrics, which are not counted before. Has to be
   * called once for each scope.
   * @param read is called on each `render`, and not again while it runs
   */
  watch<S extends MetricScope>(scope: S, read: () => Readings<S> | Promise<Readings<S>>): void {
    if (scope !== 'daemon') this.#register(scope);
    let reading: Promise<Readings<S>> | undefined;
    this.#updates.push(async () => {
      reading ??= Promise.resolve(read()).finally(() => {
        reading = undefined;
      });
      for (const [name, value] of Object.entries<AnyReading>(await reading)) {
        const gauge = this.#gauges.get(name);
        if (gauge) show(gauge, value);
      }
    });
  }

  /**
   * Adds the metrics of other processes to those of this one. Has to be called once.
   * @param read gives what they render
   */
  include(read: () => Promise<readonly string[]>): void {
    this.#readOthers = read;
  }

  /** Renders all metrics as text, in the format of `contentType`. */
  async render(): Promise<string> {
    this.#countLoopTime();
    for (const instrument of this.#instruments.values()) instrument.enter();
    await Promise.all(this.#updates.map((update) => update()));
    const own = await this.#registry.metrics();
    return this.#readOthers ? mergeExpositions([own, ...(await this.#readOthers())]) : own;
  }

  #register(scope: MetricScope): void {
    for (const [name, metric] of TABLE) if ((metric.scope ?? 'daemon') === scope) this.#add(name, metric);
  }

  #add(name: string, metric: Metric): void {
    const { help, labels, kind } = metric;
    const registers = [this.#registry];
    const common = { name: METRIC_PREFIX + name, help, labelNames: Object.keys(labels), registers };
    if (kind === 'gauge') {
      this.#gauges.set(name, new Gauge(common));
    } else if (kind === 'counter') {
      const counter = new Counter(common);
      this.#instruments.set(name, new Instrument(metric, (series) => counterSeries(counter, series)));
    } else {
      const histogram = new Histogram({ ...common, buckets: [...metric.buckets] });
      this.#instruments.set(name, new Instrument(metric, (series) => histogramSeries(histogram, series)));
    }
  }

  #countLoopTime(): void {
    const now = performance.eventLoopUtilization();
    const { active, idle } = performance.eventLoopUtilization(now, this.#loopUtilization);
    this.#loopUtilization = now;
    this.count('event_loop_seconds_total', { state: 'active' }, active / 1000);
    this.count('event_loop_seconds_total', { state: 'idle' }, idle / 1000);
  }
}

/** In milliseconds, one day: prom-client's event loop monitor cannot be disabled, but its interval can be long. */
const NO_MONITOR_MS = 86_400_000;
/** Metrics that only this monitor provides. */
const MONITORED = /^nodejs_eventloop_lag_\w+_seconds$/;

/**
 * Registers metrics of the process: prom-client's defaults, except the statistics of event loop delay. For these it
 * wakes the process 100 times per second, which costs 1 % of a core while the daemon is idle. Event loop utilisation
 * costs nothing, and shows the load.
 *
 * prom-client's observers in Node.js stay active until the process ends, without keeping it alive.
 */
function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NO_MONITOR_MS });
  for (const { name } of registry.getMetricsAsArray()) if (MONITORED.test(name)) registry.removeSingleMetric(name);
}

/**
 * Metrics that say how something is set, and are no amounts: of several processes the largest value counts. Those of the
 * process are prom-client's.
 */
const SETTINGS = new Set([
  ...TABLE.filter(([, metric]) => metric.kind === 'gauge' && metric.isSetting).map(([name]) => METRIC_PREFIX + name),
  'process_start_time_seconds',
  'process_max_fds',
  'nodejs_version_info',
]);

/**
 * Makes one exposition of those of several processes: values of the same metric and labels are added. Source:
 * https://prometheus.io/docs/instrumenting/exposition_formats/, as prom-client writes it.
 */
export function mergeExpositions(texts: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const text of texts) for (const part of text.split(/^(?=# HELP )/m)) addFamily(families, part);
  return [...families.values()].map(render).join('\n');
}

/** A metric with all its samples. */
interface Family {
  readonly head: readonly string[];
  /** Values by name and labels, as they are written. */
  readonly samples: Map<string, number>;
}

function addFamily(families: Map<string, Family>, text: string): void {
  const lines = text.split('\n').filter((line) => line !== '');
  const [first] = lines;
  if (first === undefined) return;
  const name = first.split(' ')[2] ?? '';
  const family = families.get(name) ?? { head: lines.filter(isComment), samples: new Map<string, number>() };
  families.set(name, family);
  const combine = SETTINGS.has(name) ? Math.max : add;
  for (const line of lines) if (!isComment(line)) addSample(family.samples, line, combine);
}

function addSample(samples: Map<string, number>, line: string, combine: (one: number, other: number) => number): void {
  const at = line.lastIndexOf(' ');
  const key = line.slice(0, at);
  const value = Number(line.slice(at + 1).replace('Inf', 'Infinity'));
  const known = samples.get(key);
  samples.set(key, known === undefined ? value : combine(known, value));
}

const add = (one: number, other: number): number => one + other;

const isComment = (line: string): boolean => line.startsWith('#');

const render = ({ head, samples }: Family): string =>
  [...head, ...[...samples].map(([key, value]) => `${key} ${textOf(value)}`), ''].join('\n');

/** Infinity as Prometheus writes it. */
const textOf = (value: number): string =>
  Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'Nan';

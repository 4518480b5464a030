import { formatBytes, formatPercent, formatRate } from '../../format/size.js';
import { countOf } from '../../format/words.js';
import type { HostSample, HostSizes } from '../../state/wire.js';

/** A card with the course of a value. */
export interface HostCard {
  readonly title: string;
  /** Names of its lines. */
  readonly series: readonly string[];
  /** The values of a sample, one for each line; null for those that are not known. */
  readonly values: (sample: HostSample) => readonly (number | null)[];
  /** The newest value as text. */
  readonly text: (sample: HostSample) => string;
  /** What it is measured against. */
  readonly detail: (sample: HostSample, sizes: HostSizes) => string;
  /** What the card has no room for. */
  readonly hint?: (sample: HostSample) => string;
  /** The highest value that is possible; undefined for none. */
  readonly top?: (sizes: HostSizes) => number | null;
}

const orDash = (value: number | null, format: (value: number) => string): string =>
  value === null ? '—' : format(value);

/** The cards of the machine. */
export const HOST_CARDS: readonly HostCard[] = [
  {
    title: 'CPU',
    series: ['CPU'],
    values: ({ cpu_percent: cpu }) => [cpu],
    text: ({ cpu_percent: cpu }) => orDash(cpu, formatPercent),
    detail: (_sample, { cpus }) => `of ${countOf(cpus, 'CPU')}`,
    top: () => 100,
  },
  {
    title: 'Memory',
    series: ['Memory'],
    values: ({ memory_used_bytes: used }) => [used],
    text: ({ memory_used_bytes: used }) => formatBytes(used),
    detail: (_sample, { memory_bytes: size }) => `of ${formatBytes(size)}`,
    hint: ({ daemon_rss_bytes: rss }) => `The daemon has ${formatBytes(rss)} of it`,
    top: ({ memory_bytes: size }) => size,
  },
  {
    title: 'Disk',
    series: ['Disk'],
    values: ({ disk_used_bytes: used }) => [used],
    text: ({ disk_used_bytes: used }) => orDash(used, formatBytes),
    detail: (_sample, { disk_bytes: size }) => (size === null ? 'of the workspace' : `of ${formatBytes(size)}`),
    top: ({ disk_bytes: size }) => size,
  },
  {
    title: 'Load',
    series: ['Load'],
    values: ({ load1: load }) => [load],
    text: ({ load1: load }) => load.toFixed(2),
    detail: (_sample, { cpus }) => `1 min, ${countOf(cpus, 'CPU')}`,
  },
  {
    title: 'Network',
    series: ['Received', 'Sent'],
    values: ({ net_rx_bytes_s: received, net_tx_bytes_s: sent }) => [received, sent],
    text: ({ net_rx_bytes_s: received }) => orDash(received, formatRate),
    detail: ({ net_tx_bytes_s: sent }) => `received; sent ${orDash(sent, formatRate)}`,
  },
  {
    title: 'Commands',
    series: ['Commands', 'Sessions'],
    values: ({ commands_running: commands, sessions }) => [commands, sessions],
    text: ({ commands_running: commands }) => String(commands),
    detail: ({ sessions }) => `running, in ${countOf(sessions, 'session')}`,
  },
];

/** A span of time that charts can show. */
export interface TimeWindow {
  readonly name: string;
  readonly title: string;
  readonly ms: number;
}

/** The spans of time that charts can show; the first is the default. */
export const TIME_WINDOWS: readonly [TimeWindow, ...TimeWindow[]] = [
  { name: '5m', title: '5 min', ms: 300_000 },
  { name: '15m', title: '15 min', ms: 900_000 },
  { name: '1h', title: '1 h', ms: 3_600_000 },
];

/** Samples of a span of time. */
export interface SeenSamples {
  readonly samples: readonly HostSample[];
  /** Their times, in seconds. */
  readonly times: readonly number[];
}

/** The samples from a time on, in milliseconds. */
export function samplesSince(samples: readonly HostSample[], from: number): SeenSamples {
  const seen = samples.slice(samples.findLastIndex(({ at }) => Date.parse(at) < from) + 1);
  return { samples: seen, times: seen.map(({ at }) => Date.parse(at) / 1000) };
}

/** Samples as columns: the times, then a column for each line. */
export function columnsOf(
  { samples, times }: SeenSamples,
  { values, series }: Pick<HostCard, 'values' | 'series'>,
): (number | null)[][] {
  const rows = samples.map(values);
  return [[...times], ...series.map((_, index) => rows.map((row) => row[index] ?? null))];
}

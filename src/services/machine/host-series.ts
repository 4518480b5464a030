import type { HostEntry } from '../../core/protocol/results.js';
import type { HostReading } from '../../engine/host/host-reader.js';

/** Counts of the daemon itself that belong to an entry. */
export type DaemonCounts = Pick<HostEntry, 'sessions' | 'commands_running' | 'daemon_rss_bytes'>;

const MS_PER_SECOND = 1000;

const rounded = (value: number): number => Math.round(value * 10) / 10;

/**
 * Makes an entry of a reading.
 * @param before the reading before it, from which rates are counted; undefined for the first one
 */
export function hostEntryOf(reading: HostReading, before: HostReading | undefined, counts: DaemonCounts): HostEntry {
  const { at, load1, memory, disk, net } = reading;
  const seconds = before && (reading.ticks - before.ticks) / MS_PER_SECOND;
  // An interface that has gone takes its counter with it.
  const rate = (now: number, then: number | undefined) =>
    seconds === undefined || then === undefined || seconds <= 0 ? null : Math.round(Math.max(0, now - then) / seconds);
  return {
    at: at.toISOString(),
    cpu_percent: cpuPercent(reading, before),
    load1,
    memory_used_bytes: memory.used,
    disk_used_bytes: disk?.used ?? null,
    net_rx_bytes_s: rate(net.received, before?.net.received),
    net_tx_bytes_s: rate(net.sent, before?.net.sent),
    ...counts,
  };
}

function cpuPercent({ cpu: now }: HostReading, before: HostReading | undefined): number | null {
  const then = before?.cpu;
  if (!now || !then || now.total <= then.total) return null;
  return rounded(Math.min(100, Math.max(0, (100 * (now.busy - then.busy)) / (now.total - then.total))));
}

/** Names of the columns of `host_history`. */
const COLUMNS = [
  'at',
  'cpu_percent',
  'load1',
  'memory_used_bytes',
  'disk_used_bytes',
  'net_rx_bytes_s',
  'net_tx_bytes_s',
  'sessions',
  'commands_running',
  'daemon_rss_bytes',
] as const satisfies readonly (keyof HostEntry)[];

/** Entries as columns: an array for each field. */
export type HostColumns = { readonly [K in keyof HostEntry]: HostEntry[K][] };

/** Turns entries into columns. */
export const columnsOf = (entries: readonly HostEntry[]): HostColumns =>
  Object.fromEntries(COLUMNS.map((name) => [name, entries.map((entry) => entry[name])])) as unknown as HostColumns;

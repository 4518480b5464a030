import { statfs } from 'node:fs/promises';

import type { Answer, Request } from '../../core/protocol/requests.js';
import type { HostEntry } from '../../core/protocol/results.js';
import type { Machine, MachineReading } from '../../engine/platform/platform.js';

/** What the machine, and the disk of the workspace, are used for at one moment. */
export interface HostReading extends MachineReading {
  readonly at: Date;
  /** On the monotonic clock, in milliseconds. */
  readonly ticks: number;
  /** File system of the workspace, in bytes; undefined when it is not known. */
  readonly disk: { readonly total: number; readonly used: number } | undefined;
}

/** Reads the use of the machine, and of the disk of the workspace. */
export class HostReader {
  readonly #workspace: string;
  readonly #machine: Machine;
  #disk: HostReading['disk'];
  #isRefreshing = false;

  /** @param workspace directory on the disk that is reported */
  constructor(workspace: string, machine: Machine) {
    this.#workspace = workspace;
    this.#machine = machine;
  }

  /** Takes a reading. What takes longer, as the disk, is read in the background: the value is that of the reading before. */
  read(): HostReading {
    void this.refresh();
    return { ...this.#machine.read(), at: new Date(), ticks: performance.now(), disk: this.#disk };
  }

  /**
   * Reads what takes longer; never rejects. A file system that does not answer delays no reading, and is asked once.
   */
  async refresh(): Promise<void> {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      await Promise.all([this.#machine.refresh(), this.#readDisk()]);
    } catch {
      // EMFILE, for example: what was read before stays.
    } finally {
      this.#isRefreshing = false;
    }
  }

  async #readDisk(): Promise<void> {
    try {
      const { blocks, bfree, bsize } = await statfs(this.#workspace);
      this.#disk = { total: blocks * bsize, used: (blocks - bfree) * bsize };
    } catch {
      // The workspace has been removed.
      this.#disk = undefined;
    }
  }
}

/** Counts of the daemon itself that belong to an entry. */
type DaemonCounts = Pick<HostEntry, 'sessions' | 'commands_running'>;

const MS_PER_SECOND = 1000;

const rounded = (value: number): number => Math.round(value * 10) / 10;

/**
 * Makes an entry of a reading.
 * @param before the reading before it, from which rates are counted; undefined for the first one
 */
function hostEntryOf(reading: HostReading, before: HostReading | undefined, counts: DaemonCounts): HostEntry {
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
    daemon_rss_bytes: residentBytes(),
  };
}

let lastResidentBytes = 0;

/** Memory of the daemon; without free descriptors, with which /proc is read, that of the last time. */
function residentBytes(): number {
  try {
    lastResidentBytes = process.memoryUsage.rss();
  } catch {
    // EMFILE
  }
  return lastResidentBytes;
}

function cpuPercent({ cpu: now }: HostReading, before: HostReading | undefined): number | null {
  const then = before?.cpu;
  if (!now || !then || now.total <= then.total) return null;
  return rounded(Math.min(100, Math.max(0, (100 * (now.busy - then.busy)) / (now.total - then.total))));
}

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
type HostColumns = { readonly [K in keyof HostEntry]: HostEntry[K][] };

const columnsOf = (entries: readonly HostEntry[]): HostColumns =>
  Object.fromEntries(COLUMNS.map((name) => [name, entries.map((entry) => entry[name])])) as unknown as HostColumns;

/** Interval of the history, in milliseconds: 0.003 % of a core. */
const HISTORY_MS = 10_000;
/** Entries of the history: an hour. */
const MAX_ENTRIES = 360;
/** Least age of the last reading before subscribers get another one, in milliseconds: a tick may be a little early. */
const LIVE_MS = 900;

interface Numbered {
  readonly number: number;
  readonly entry: HostEntry;
}

/** Measures the machine: every 10 seconds for the history, and every second while clients subscribe to it. */
export class HostMonitor implements Disposable {
  readonly #reader: HostReader;
  readonly #counts: () => DaemonCounts;
  readonly #history: HostEntry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #before: HostReading | undefined;
  /** Last reading of all. */
  #last: HostReading | undefined;
  #live: (Numbered & { readonly reading: HostReading }) | undefined;

  constructor(reader: HostReader, counts: () => DaemonCounts) {
    this.#reader = reader;
    this.#counts = counts;
  }

  /** Starts the history with a first entry. */
  async start(): Promise<void> {
    this.#timer ??= setInterval(() => {
      this.#note();
    }, HISTORY_MS).unref();
    await this.#reader.refresh();
    this.#note();
  }

  /** Returns what was measured in the last hour. */
  history({ since }: Request<'host_history'>): Answer<'host_history'> {
    const after = since === undefined ? -Infinity : Date.parse(since);
    const { memory, disk, cpus } = this.#last ?? this.#read();
    return {
      interval_ms: HISTORY_MS,
      ...columnsOf(this.#history.filter(({ at }) => Date.parse(at) > after)),
      memory_bytes: memory.total,
      disk_bytes: disk?.total ?? null,
      cpus,
    };
  }

  /** Returns an entry of now, or that of less than a second ago, and its number: a higher one is another entry. */
  live(): Numbered {
    const now = performance.now();
    const { number = 0, reading: lastLive } = this.#live ?? {};
    if (this.#live && lastLive && now - lastLive.ticks < LIVE_MS) return this.#live;
    const before = lastLive && now - lastLive.ticks < HISTORY_MS ? lastLive : this.#last;
    const reading = this.#read();
    this.#live = { number: number + 1, entry: hostEntryOf(reading, before, this.#counts()), reading };
    return this.#live;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #note(): void {
    const reading = this.#read();
    this.#history.push(hostEntryOf(reading, this.#before, this.#counts()));
    if (this.#history.length > MAX_ENTRIES) this.#history.shift();
    this.#before = reading;
  }

  #read(): HostReading {
    return (this.#last = this.#reader.read());
  }
}

import { type ProcessEntry, TICKS_PER_SECOND, type Writes } from '../platform/contract/process-entry.js';
import type { ListAge, Processes } from '../platform/contract/processes.js';
import { heldBytesOf } from './memory-of.js';
import type { ProcessSnapshot, UsageReader } from './process-snapshot.js';
import { Slices } from './slices.js';

/** Age below which a process may still exec another program with another environment, in clock ticks. */
const YOUNG_TICKS = TICKS_PER_SECOND;
/** Number of samples after which the bytes written by an idle process are read again. */
const REFRESH_SAMPLES = 8;

/** Cached facts about a process between two samples. */
interface Remembered {
  readonly startTicks: number;
  readonly origin?: { readonly value: string | undefined };
  readonly written?: { readonly cpuTicks: number; readonly writes: Writes };
}

/**
 * Reads the platform's table of processes. Environments, and bytes written by processes that have used no CPU time since, are cached: they cost as
 * much as all the rest.
 */
export class TableReader implements UsageReader {
  readonly processes: Processes;
  readonly #memory = new Map<number, Remembered>();
  #samples = 0;

  constructor(processes: Processes) {
    this.processes = processes;
  }

  async sample(age: ListAge = 'new'): Promise<ProcessSnapshot> {
    const { askAside, list } = this.processes;
    const entries = askAside ? await askAside(list, age) : await this.#listInSlices();
    this.#samples += 1;
    this.#forgetOthersThan(entries);
    return new TableSnapshot(entries, this, false);
  }

  sampleNow(): ProcessSnapshot {
    return new TableSnapshot(undefined, this, true);
  }

  /** Returns a snapshot that reads only what is requested. */
  glance(): ProcessSnapshot {
    return new TableSnapshot(undefined, this, false);
  }

  family(pid: number): readonly ProcessEntry[] {
    const { askAside, read, childrenOf } = this.processes;
    // A list for this alone would cost more than it tells: the next sample tells it as well.
    if (askAside) return [];
    const entry = read(pid);
    return entry ? [entry, ...childrenOf(pid)] : [];
  }

  cpuTicksOf(pid: number, since: number): number | undefined {
    return this.processes.readCheaply(pid, since)?.cpuTicks;
  }

  isAlive(entry: ProcessEntry): boolean {
    return this.processes.isAlive(entry);
  }

  /**
   * Returns the tag or mark of a process; undefined for a foreign one.
   * @param nowTicks the time, in clock ticks since boot: reading it costs a file access
   */
  originOf(entry: ProcessEntry, nowTicks: number): string | undefined {
    const { pid, startTicks } = entry;
    const known = this.#rememberedOf(entry);
    const isYoung = nowTicks - startTicks < YOUNG_TICKS;
    if (known?.origin && (known.origin.value !== undefined || !isYoung)) return known.origin.value;
    const value = this.processes.originOf(entry);
    this.#memory.set(pid, { ...known, startTicks, origin: { value } });
    return value;
  }

  /** Returns what was written, possibly from an earlier sample. */
  writesOf(entry: ProcessEntry): Writes {
    const { pid, startTicks, cpuTicks } = entry;
    const known = this.#rememberedOf(entry);
    const isRefreshDue = (pid + this.#samples) % REFRESH_SAMPLES === 0;
    if (known?.written?.cpuTicks === cpuTicks && !isRefreshDue) return known.written.writes;
    const writes = this.processes.writesOf(pid);
    this.#memory.set(pid, { ...known, startTicks, written: { cpuTicks, writes } });
    return writes;
  }

  async #listInSlices(): Promise<readonly ProcessEntry[]> {
    const slices = new Slices();
    const entries: ProcessEntry[] = [];
    for (const pid of this.processes.pids()) {
      const entry = this.processes.read(pid);
      if (entry) entries.push(entry);
      if (slices.isOver) await slices.next();
    }
    return entries;
  }

  #rememberedOf({ pid, startTicks }: ProcessEntry): Remembered | undefined {
    const known = this.#memory.get(pid);
    return known?.startTicks === startTicks ? known : undefined;
  }

  #forgetOthersThan(entries: readonly ProcessEntry[]): void {
    const present = new Set(entries.map(({ pid }) => pid));
    for (const pid of this.#memory.keys()) if (!present.has(pid)) this.#memory.delete(pid);
  }
}

/** One walk over the table, taken lazily unless the entries are given. */
class TableSnapshot implements ProcessSnapshot {
  /** Whether nothing is taken from the cache. */
  readonly isExact: boolean;
  readonly #reader: TableReader;
  #entries: Map<number, ProcessEntry> | undefined;
  #children: Map<number, ProcessEntry[]> | undefined;
  #nowTicks: number | undefined;

  /** @param entries undefined for lazy reading */
  constructor(entries: readonly ProcessEntry[] | undefined, reader: TableReader, isExact: boolean) {
    this.#entries = entries && new Map(entries.map((entry) => [entry.pid, entry]));
    this.#reader = reader;
    this.isExact = isExact;
  }

  all(): Iterable<ProcessEntry> {
    return this.#table().values();
  }

  childrenOf(pid: number): readonly ProcessEntry[] {
    this.#children ??= this.#groupByParent();
    return this.#children.get(pid) ?? [];
  }

  of(pids: Iterable<number>): ProcessEntry[] {
    return [...pids].flatMap(
      (pid) => (this.#entries ? this.#entries.get(pid) : this.#reader.processes.read(pid)) ?? [],
    );
  }

  writesOf(pid: number, mustBeNew = this.isExact): Writes {
    const entry = mustBeNew ? undefined : this.#entries?.get(pid);
    return entry ? this.#reader.writesOf(entry) : this.#reader.processes.writesOf(pid);
  }

  heldBytes(entries: readonly ProcessEntry[]): number {
    return heldBytesOf(entries, this.#reader.processes);
  }

  originOf(entry: ProcessEntry): string | undefined {
    this.#nowTicks ??= this.#reader.processes.ticksNow();
    return this.#reader.originOf(entry, this.#nowTicks);
  }

  #groupByParent(): Map<number, ProcessEntry[]> {
    const children = new Map<number, ProcessEntry[]>();
    for (const entry of this.all()) {
      const siblings = children.get(entry.parent);
      if (siblings) siblings.push(entry);
      else children.set(entry.parent, [entry]);
    }
    return children;
  }

  #table(): Map<number, ProcessEntry> {
    const { pids, read } = this.#reader.processes;
    return (this.#entries ??= new Map(
      pids().flatMap((pid) => {
        const entry = read(pid);
        return entry ? [[pid, entry] as const] : [];
      }),
    ));
  }
}

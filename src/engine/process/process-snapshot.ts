import { setImmediate as eventLoop } from 'node:timers/promises';

import { isListedByProgram, type ListAge, type ProcessEntry, type Processes } from '../platform/platform.js';

/** Longest time that limit monitoring may block the event loop, in milliseconds. */
const SLICE_MS = 4;

/** Splits long work into slices. */
export class Slices {
  #since = performance.now();

  /** Whether the slice is used up, and `next` is due. */
  get isOver(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Yields to the event loop. */
  async next(): Promise<void> {
    await eventLoop();
    this.#since = performance.now();
  }
}

/** Processes at one moment, shared by all groups that are sampled then. */
export class ProcessSnapshot {
  readonly #processes: Processes;
  readonly #origins = new Map<number, string | undefined>();
  #entries: ReadonlyMap<number, ProcessEntry> | undefined;
  #children: ReadonlyMap<number, readonly ProcessEntry[]> | undefined;

  /** @param entries by default processes are read when they are asked for, synchronously */
  constructor(processes: Processes, entries?: readonly ProcessEntry[]) {
    this.#processes = processes;
    this.#entries = entries && byPid(entries);
  }

  /** Returns every process of the machine. */
  all(): Iterable<ProcessEntry> {
    return this.#table().values();
  }

  /** Returns these processes without those that have ended. */
  of(pids: Iterable<number>): ProcessEntry[] {
    const read = (pid: number) => (this.#entries ? this.#entries.get(pid) : this.#processes.read(pid));
    return [...pids].flatMap((pid) => read(pid) ?? []);
  }

  /** Returns the pids of these processes and all their descendants, in no particular order. */
  descendantsOf(roots: Iterable<number>): Set<number> {
    const children = (this.#children ??= byParent(this.all()));
    const found = new Set(roots);
    // A Set iterates over entries that are added during the iteration.
    for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child.pid);
    return found;
  }

  /** Returns the tag or mark of a process; undefined for a foreign one. */
  originOf(entry: ProcessEntry): string | undefined {
    const { pid } = entry;
    if (!this.#origins.has(pid)) this.#origins.set(pid, this.#processes.originOf(entry));
    return this.#origins.get(pid);
  }

  #table(): ReadonlyMap<number, ProcessEntry> {
    const { pids, read } = this.#processes;
    return (this.#entries ??= byPid(pids().flatMap((pid) => read(pid) ?? [])));
  }
}

/**
 * Takes a snapshot of all processes in slices; yields to the event loop in between.
 * @param age which list of processes serves, where a program lists them
 */
export async function takeSnapshot(processes: Processes, age: ListAge): Promise<ProcessSnapshot> {
  if (!isListedByProgram(processes)) return walkedSnapshot(processes);
  return processes.ask(() => listedSnapshot(processes, processes.list()), age);
}

/** Origins are read while the list is at hand: later they may need another one. */
function listedSnapshot(processes: Processes, entries: readonly ProcessEntry[]): ProcessSnapshot {
  const snapshot = new ProcessSnapshot(processes, entries);
  for (const entry of entries) snapshot.originOf(entry);
  return snapshot;
}

async function walkedSnapshot(processes: Processes): Promise<ProcessSnapshot> {
  const slices = new Slices();
  const entries: ProcessEntry[] = [];
  for (const pid of processes.pids()) {
    const entry = processes.read(pid);
    if (entry) entries.push(entry);
    if (slices.isOver) await slices.next();
  }
  return new ProcessSnapshot(processes, entries);
}

/** Remembered origins, at most: after that all are read again. */
const MAX_KNOWN = 10_000;

/**
 * The same processes, with the tags and marks that they showed first: programs can change what they show. It also saves
 * half of the time of a sample where many sessions run.
 */
export function withFirstOrigins(processes: Processes): Processes {
  const known = new Map<number, { readonly startTicks: number; readonly origin: string }>();
  const originOf: Processes['originOf'] = (entry) => {
    const { pid, startTicks } = entry;
    const before = known.get(pid);
    if (before?.startTicks === startTicks) return before.origin;
    const origin = processes.originOf(entry);
    if (known.size >= MAX_KNOWN) known.clear();
    if (origin !== undefined) known.set(pid, { startTicks, origin });
    return origin;
  };
  return { ...processes, originOf };
}

const byPid = (entries: readonly ProcessEntry[]) => new Map(entries.map((entry) => [entry.pid, entry]));

function byParent(entries: Iterable<ProcessEntry>): Map<number, ProcessEntry[]> {
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of entries) {
    const siblings = children.get(entry.parent);
    if (siblings) siblings.push(entry);
    else children.set(entry.parent, [entry]);
  }
  return children;
}

/** Page size in bytes: 4 KiB on every machine that Node.js runs on, except for some of arm64. */
export const PAGE_BYTES = 4096;

/** Memory of processes, in bytes, with shared pages counted for each of them: a quick upper bound. */
export const residentBytes = (entries: readonly ProcessEntry[]): number =>
  entries.reduce((sum, entry) => sum + entry.residentPages, 0) * PAGE_BYTES;

/** Same as `residentBytes`, for process ids. */
export const residentBytesOf = (pids: readonly number[], { read }: Processes): number =>
  residentBytes(pids.flatMap((pid) => read(pid) ?? []));

/** Memory of processes, in bytes, with shared pages counted once. Takes twice the time of `residentBytes`. */
export const heldBytesOf = (entries: readonly ProcessEntry[], { proportionalBytes }: Processes): number =>
  entries.reduce((sum, entry) => sum + (proportionalBytes(entry.pid) ?? entry.residentPages * PAGE_BYTES), 0);

/** Bytes of files in memory that are not in the memory of these processes already, because they are not mapped. */
export const unmappedBytes = (
  fileBytes: number,
  entries: readonly ProcessEntry[],
  { sharedBytes }: Processes,
): number =>
  fileBytes === 0 ? 0 : Math.max(0, fileBytes - entries.reduce((sum, { pid }) => sum + sharedBytes(pid), 0));

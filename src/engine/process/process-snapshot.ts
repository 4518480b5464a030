import { setTimeout as sleep } from 'node:timers/promises';

import { BoundedMap } from '../../core/bounded-map.js';
import {
  isListedByProgram,
  isRunning,
  type ListAge,
  PAGE_BYTES,
  type ProcessEntry,
  type Processes,
} from '../platform/platform.js';
import { Slices } from '../system/promises.js';
import { markOf, sessionOf } from './session-mark.js';

/**
 * The processes of the machine at one moment, found by what they are known by. Costs some 10 µs for each process of the machine where it is not
 * listed yet, and little for each question.
 */
export class ProcessSnapshot {
  readonly #processes: Processes;
  readonly #origins = new Map<number, string | undefined>();
  #entries: Map<number, ProcessEntry> | undefined;
  #byParent: ReadonlyMap<number, readonly ProcessEntry[]> | undefined;
  #byTerminalSession: ReadonlyMap<number, readonly ProcessEntry[]> | undefined;
  /** By the tag of a session, `instance.session`, or by a mark. */
  #byOrigin: ReadonlyMap<string, readonly ProcessEntry[]> | undefined;

  /** @param entries by default processes are read when they are asked for, synchronously */
  constructor(processes: Processes, entries?: readonly ProcessEntry[]) {
    this.#processes = processes;
    this.#entries = entries && byPid(entries);
  }

  /** Returns every process of the machine, also those that have ended and were not waited for. */
  all(): Iterable<ProcessEntry> {
    return this.#table().values();
  }

  /** All processes that have not ended. */
  get running(): readonly ProcessEntry[] {
    return [...this.all()].filter(isRunning);
  }

  /** Returns these processes without those that have ended. */
  of(pids: Iterable<number>): ProcessEntry[] {
    const read = (pid: number) => (this.#entries ? this.#entries.get(pid) : this.#processes.read(pid));
    return [...pids].flatMap((pid) => read(pid) ?? []);
  }

  /** Returns the pids of these processes and all their descendants, in no particular order. */
  descendantsOf(roots: Iterable<number>): Set<number> {
    const children = (this.#byParent ??= groupedBy(this.all(), ({ parent }) => parent));
    const found = new Set(roots);
    // A Set iterates over entries that are added during the iteration. A process that has ended may have children, too: they were read before.
    for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child.pid);
    return found;
  }

  /**
   * The running processes with these pids, and all their descendants, in the order of their pids: signals must reach parents first, since a
   * shell reports children that were killed.
   */
  withDescendants(pids: Iterable<number>): ProcessEntry[] {
    const found = this.of(this.descendantsOf(pids)).filter(isRunning);
    return found.sort((a, b) => a.pid - b.pid);
  }

  /**
   * Adds the members of a group that the walk has missed: a process that was started after the walk had passed its number, by a parent that has
   * ended since, is found nowhere else. Returns the running members.
   */
  include(group: KnownMembers | undefined): readonly ProcessEntry[] {
    // The group's list has to be newer.
    const entries = this.#table();
    const members = group?.members() ?? [];
    const missed = members.filter((pid) => !entries.has(pid)).flatMap((pid) => this.#processes.read(pid) ?? []);
    for (const entry of missed) entries.set(entry.pid, entry);
    if (missed.length > 0) this.#byParent = this.#byTerminalSession = this.#byOrigin = undefined;
    return this.of(members).filter(isRunning);
  }

  /** Running processes of a session of the kernel: those on one terminal. */
  inSession(leader: number | undefined): readonly ProcessEntry[] {
    this.#byTerminalSession ??= groupedBy(this.running, ({ session }) => session);
    return (leader !== undefined && this.#byTerminalSession.get(leader)) || [];
  }

  /**
   * Running processes with the tag or the mark of a session.
   * @param tag `instance.session`
   */
  withTag(tag: string): readonly ProcessEntry[] {
    this.#byOrigin ??= groupedBy(this.running, (entry) => sessionOf(this.originOf(entry) ?? ''));
    return [...(this.#byOrigin.get(tag) ?? []), ...(this.#byOrigin.get(markOf(tag)) ?? [])];
  }

  /** Returns the tag of a process, or without one its mark; undefined for a foreign one. */
  originOf(entry: ProcessEntry): string | undefined {
    const { pid } = entry;
    if (!this.#origins.has(pid)) this.#origins.set(pid, this.#processes.originOf(entry));
    return this.#origins.get(pid);
  }

  #table(): Map<number, ProcessEntry> {
    return (this.#entries ??= byPid(this.#processes.list()));
  }
}

/**
 * Takes a snapshot of all processes in slices; yields to the event loop in between.
 * @param age which list of processes serves, where a program lists them
 */
export async function takeSnapshot(processes: Processes, age: ListAge): Promise<ProcessSnapshot> {
  if (!isListedByProgram(processes)) return walkedSnapshot(processes);
  return processes.ask(() => listedSnapshot(processes), age, 'all');
}

/** Origins are read while the list is at hand: later they may need another one. */
function listedSnapshot(processes: Processes): ProcessSnapshot {
  const snapshot = new ProcessSnapshot(processes, processes.list());
  for (const entry of snapshot.running) snapshot.originOf(entry);
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

/** Processes that are known to belong together, regardless of their tags and marks. */
export interface KnownMembers {
  /** Whether `members` is complete and cheap. */
  readonly isKeptByKernel: boolean;
  members(): readonly number[];
  /** Blocks or unblocks fork(2) for all members. */
  holdForks(isHeld: boolean): void;
}

const pending = new WeakMap<Processes, Promise<ProcessSnapshot>>();

/** Returns a snapshot that begins after the call: one for everybody who asks in the same turn of the event loop. Rejects after EMFILE. */
export function nextSnapshot(processes: Processes): Promise<ProcessSnapshot> {
  const asked = pending.get(processes);
  if (asked) return asked;
  const snapshot = new Promise((resolve) => setImmediate(resolve)).then(() => {
    pending.delete(processes);
    return processes.ask(() => listedSnapshot(processes));
  });
  pending.set(processes, snapshot);
  return snapshot;
}

/** Pauses before processes are asked about again that could not be listed, in milliseconds. */
const PAUSES_MS = [50, 150, 300, 500];

/**
 * Asks about processes, and again for a second if they cannot be listed: a machine without free processes cannot run ps(1),
 * and a daemon without free descriptors cannot read /proc. The first answer is passed on as it is, without a promise.
 * @throws the last error, as a rejection
 */
export function askPatiently<T>(ask: () => T | Promise<T>): T | Promise<T> {
  try {
    const answer = ask();
    return answer instanceof Promise ? answer.catch(() => askAgain(ask)) : answer;
  } catch {
    return askAgain(ask);
  }
}

async function askAgain<T>(ask: () => T | Promise<T>, [pauseMs = 0, ...later] = PAUSES_MS): Promise<T> {
  await sleep(pauseMs);
  try {
    return await ask();
  } catch (error) {
    if (later.length === 0) throw error;
    return askAgain(ask, later);
  }
}

/** Remembered origins, at most. */
const MAX_KNOWN = 10_000;

/**
 * The same processes, with the tags and marks that they showed first: programs can change what they show. It also saves
 * half of the time of a sample where many sessions run.
 */
export function withFirstOrigins(processes: Processes): Processes {
  const known = new BoundedMap<number, { readonly startTicks: number; readonly origin: string }>(MAX_KNOWN);
  const originOf: Processes['originOf'] = (entry) => {
    const { pid, startTicks } = entry;
    const before = known.get(pid);
    if (before?.startTicks === startTicks) return before.origin;
    const origin = processes.originOf(entry);
    if (origin !== undefined) known.set(pid, { startTicks, origin });
    return origin;
  };
  return { ...processes, originOf };
}

const byPid = (entries: readonly ProcessEntry[]) => new Map(entries.map((entry) => [entry.pid, entry]));

function groupedBy<K>(entries: Iterable<ProcessEntry>, keyOf: (entry: ProcessEntry) => K): Map<K, ProcessEntry[]> {
  const groups = new Map<K, ProcessEntry[]>();
  for (const entry of entries) {
    const key = keyOf(entry);
    const group = groups.get(key);
    if (group) group.push(entry);
    else groups.set(key, [entry]);
  }
  return groups;
}

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

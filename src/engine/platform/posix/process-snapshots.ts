import { createHash } from 'node:crypto';

import {
  type ListAge,
  type MeasuredProcesses,
  type ProcessEntry,
  TAG_VARIABLE,
  TICKS_PER_SECOND,
} from '../platform.js';
import {
  DescriptorReserve,
  LINE_ARGUMENTS,
  LIST_ARGUMENTS,
  type ListedProcess,
  type Listing,
  parseLines,
  parseProcessList,
  runPs,
  runPsAside,
  variableIn,
} from './process-list.js';
import { findMeasured, ProcessUsage } from './process-usage.js';

/** Age up to which a snapshot serves for single processes, in milliseconds: a poll then does not run ps(1) each time. */
const RECENT_MS = 20;
/** The same as a multiple of the time that it took: on a loaded machine, questions about many processes share one too. */
const RECENT_SHARE = 4;
/** Taken for the CPU time of ps(1) until a run has taken less, in milliseconds. */
const FIRST_COST_MS = 50;
/** Start times have a resolution of one second, and vary by a second between two runs of ps(1) on Linux. */
export const START_SLACK_TICKS = 2 * TICKS_PER_SECOND;
/** Beside a list, a measurement tells the start by the age, in whole seconds, and by the clock of its own moment. */
const MEASUREMENT_SLACK_TICKS = 2 * START_SLACK_TICKS;

/** All processes at one moment. */
interface Snapshot {
  /** When ps(1) was started for it, on the monotonic clock, in milliseconds. */
  readonly begunAt: number;
  /** When it stops to be recent, on the monotonic clock, in milliseconds. */
  readonly recentUntil: number;
  readonly entries: Map<number, ProcessEntry>;
  /** Start times by pid. */
  readonly starts: ReadonlyMap<number, number>;
  /** Tags by pid. While a process executes a program, the kernel shows no environment: the tag from before, if any. */
  readonly tags: ReadonlyMap<number, string | undefined>;
  /** What is shown, by pid, of processes that show no arguments: threads of the kernel, and what is executing a program. */
  readonly bare: ReadonlyMap<number, string>;
  /** Pids of the processes whose CPU time and memory are measured. */
  readonly measured: ReadonlySet<number>;
  /** Digests of what is shown of the processes that are followed, by pid. */
  readonly programs: ReadonlyMap<number, string>;
  /** Settles when these have been measured, but for those that the list is the first to show; undefined before that is asked for. */
  measuring?: Promise<void> | undefined;
  /** Command lines by pid; read when they are first asked for. */
  lines?: ReadonlyMap<number, string>;
}

/** What ps(1) shows in place of arguments and environment: the name, in brackets or parentheses, or nothing. */
const BARE = /^(?:\[.*\]|\(.*\))?$/;

/** Most runs of ps(1) at a time that nothing is blocked by. */
const MAX_ASIDE = 2;

const NONE: ReadonlyMap<number, never> = new Map<number, never>();
const EMPTY: Snapshot = {
  begunAt: -Infinity,
  recentUntil: -Infinity,
  entries: new Map(),
  starts: NONE,
  tags: NONE,
  bare: NONE,
  measured: new Set(),
  programs: NONE,
};

/** A snapshot that is being taken; undefined when ps(1) has failed. */
interface Taking {
  readonly begunAt: number;
  readonly taken: Promise<Snapshot | undefined>;
}

/**
 * Takes snapshots of all processes by ps(1), which takes about 10 ms of a CPU each. CPU time and memory are measured if someone asks for
 * it: of processes that the last one shows while ps(1) runs, and of new ones after it. Otherwise what was measured last is shown.
 */
export class ProcessSnapshots {
  #last = EMPTY;
  #costMs = FIRST_COST_MS;
  readonly #reserve = new DescriptorReserve();
  readonly #usage = new ProcessUsage(this.#reserve, MEASUREMENT_SLACK_TICKS);
  /** The snapshot from which the questions of `ask` are answered now. */
  #asked: Snapshot | undefined;
  /** Those that are being taken aside, in the order of their beginnings. */
  readonly #running = new Set<Taking>();
  /** The one after them. */
  #next: Promise<Snapshot | undefined> | undefined;
  /** Whether someone who waits for that one needs measurements. */
  #isNextMeasured = false;
  /** Processes whose programs are told, until they have ended, and since when. */
  readonly #followed = new Map<number, number>();

  /** CPU time of a list with a measurement, in milliseconds, at most: the least time that each has taken, since others wait for a CPU. */
  get costMs(): number {
    return this.#costMs + this.#usage.costMs;
  }

  /** The last one, however old. */
  get last(): Snapshot {
    return this.#last;
  }

  /** A snapshot that is recent enough for single processes. */
  get recent(): Snapshot {
    return this.#asked ?? (performance.now() < this.#last.recentUntil ? this.#last : this.take());
  }

  /** That of `ask`, else a new one. */
  get current(): Snapshot {
    return this.#asked ?? this.take();
  }

  /**
   * Takes a new one, which blocks.
   * @throws Error when ps(1) cannot be run
   */
  take(): Snapshot {
    const begunAt = performance.now();
    return this.#note(
      begunAt,
      this.#reserve.use(() => runPs(LIST_ARGUMENTS)),
    );
  }

  /** Takes a new one without blocking, and answers questions from it; see `ProcessTable`. */
  async ask<T>(ask: () => T, age: ListAge = 'new', measured?: MeasuredProcesses): Promise<T> {
    const since = typeof age === 'number' ? age : Infinity;
    this.#isNextMeasured ||= measured !== undefined;
    const snapshot = await (this.#last.begunAt >= since ? this.#last : (this.#begun(age) ?? this.#nextAside()));
    if (measured && snapshot) await this.#measure(snapshot, measured);
    this.#asked = snapshot;
    try {
      return ask();
    } finally {
      this.#asked = undefined;
    }
  }

  /** Has later snapshots tell the program of a process, until it has ended. */
  follow(pid: number): void {
    this.#followed.set(pid, performance.now());
  }

  /** Adds CPU time and memory to a snapshot. */
  async #measure(snapshot: Snapshot, which: MeasuredProcesses): Promise<void> {
    const { entries, measured } = snapshot;
    await (snapshot.measuring ??= this.#usage.measure([...measured]));
    if (which === 'all') await this.#usage.measure([...measured].filter((pid) => !this.#usage.has(pid)));
    for (const entry of [...measured].flatMap((pid) => entries.get(pid) ?? [])) {
      entries.set(entry.pid, { ...entry, ...this.#usage.of(entry) });
    }
  }

  /** The newest one that is being taken, if it serves. */
  #begun(age: ListAge): Promise<Snapshot | undefined> | undefined {
    const newest = [...this.#running].at(-1);
    if (newest === undefined || age === 'new') return undefined;
    return age === 'begun' || newest.begunAt >= age ? newest.taken : undefined;
  }

  /** One that begins after the call: all who wait for it share it. Undefined when ps(1) has failed. */
  #nextAside(): Promise<Snapshot | undefined> {
    this.#next ??= this.#whenRoom().then(() => {
      this.#next = undefined;
      const begunAt = performance.now();
      const taking = { begunAt, taken: this.#takeAside(begunAt, this.#isNextMeasured) };
      this.#isNextMeasured = false;
      this.#running.add(taking);
      return taking.taken.finally(() => this.#running.delete(taking));
    });
    return this.#next;
  }

  async #whenRoom(): Promise<void> {
    if (this.#running.size >= MAX_ASIDE) await Promise.race([...this.#running].map(({ taken }) => taken));
  }

  /** Returns the command line of a process of a snapshot; undefined without such a process. */
  lineOf(pid: number, snapshot: Snapshot): string | undefined {
    // One that has executed a program since would be shown with arguments that do not belong to its tag.
    const shown = snapshot.bare.get(pid);
    if (shown !== undefined || !snapshot.entries.has(pid)) return shown;
    return (snapshot.lines ??= parseLines(this.#reserve.use(() => runPs(LINE_ARGUMENTS)).text)).get(pid);
  }

  async #takeAside(begunAt: number, isMeasured: boolean): Promise<Snapshot | undefined> {
    try {
      const listing = this.#reserve.use(() => runPsAside(LIST_ARGUMENTS));
      const measuring = isMeasured ? this.#usage.measure([...this.#last.measured]) : undefined;
      const snapshot = this.#note(begunAt, await listing);
      snapshot.measuring = measuring;
      return snapshot;
    } catch {
      // The questions run ps(1) themselves, and report what is wrong.
      return undefined;
    } finally {
      this.#reserve.fill();
    }
  }

  #note(begunAt: number, { text, pid: own }: Listing): Snapshot {
    const processes = parseProcessList(text)
      .filter(({ pid }) => pid !== own)
      .map((found) => ({ ...found, startTicks: this.#startOf(found) }));
    const sessions = sessionsOf(processes);
    const { measured: before, starts: startsBefore } = this.#last;
    const measured = findMeasured(processes, sessions, ({ pid, startTicks, text: shown }) => {
      const wasMeasured = before.has(pid) && startsBefore.get(pid) === startTicks;
      return wasMeasured || variableIn(shown, TAG_VARIABLE) !== undefined;
    });
    const entries = new Map<number, ProcessEntry>();
    const tags = new Map<number, string | undefined>();
    const bare = new Map<number, string>();
    const programs = new Map<number, string>();
    for (const { text: shown, ...columns } of processes) {
      // Environments have secrets: they are kept nowhere.
      const { pid, startTicks } = columns;
      const session = sessions.get(pid) ?? 0;
      entries.set(pid, { ...columns, ...this.#usage.of(columns), name: nameOf(shown), threads: 1, session });
      if (this.#followed.has(pid)) programs.set(pid, digestOf(shown));
      if (BARE.test(shown)) bare.set(pid, copied(shown));
      tags.set(pid, bare.has(pid) ? this.#tagBefore(pid, startTicks) : copied(variableIn(shown, TAG_VARIABLE)));
    }
    this.#usage.keepOnly(entries);
    const starts = new Map([...entries.values()].map(({ pid, startTicks }) => [pid, startTicks]));
    for (const [pid, since] of this.#followed) if (since <= begunAt && !entries.has(pid)) this.#followed.delete(pid);
    const now = performance.now();
    this.#costMs = Math.min(this.#costMs, now - begunAt);
    const recentUntil = now + Math.max(RECENT_MS, (now - begunAt) * RECENT_SHARE);
    const snapshot: Snapshot = { begunAt, recentUntil, entries, starts, tags, bare, measured, programs };
    // What has begun earlier may end later.
    if (begunAt >= this.#last.begunAt) this.#last = snapshot;
    return snapshot;
  }

  #tagBefore(pid: number, startTicks: number): string | undefined {
    return this.#last.starts.get(pid) === startTicks ? this.#last.tags.get(pid) : undefined;
  }

  #startOf({ pid, startTicks }: ListedProcess): number {
    const known = this.#last.starts.get(pid);
    return known !== undefined && Math.abs(known - startTicks) <= START_SLACK_TICKS ? known : startTicks;
  }
}

/** The name of a program from its command line. */
function nameOf(line: string): string {
  const [program = ''] = line.split(' ', 1);
  return copied(program.slice(program.lastIndexOf('/') + 1).replace(/^-/, '')) || 'unknown';
}

/** Distinguishes what is shown of two programs, and keeps nothing of it. */
const digestOf = (shown: string): string => createHash('sha256').update(shown).digest('base64');

/** The same text on its own: a part of another one keeps all of that in memory. */
function copied<T extends string | undefined>(text: T): T {
  return text && (Buffer.from(text).toString() as T);
}

/**
 * Returns the session of each process by pid, as far as it can be told: its own for a leader, else that of the leader on
 * its terminal, else that of the nearest ancestor without a terminal that leads one.
 */
function sessionsOf(listed: readonly ListedProcess[]): ReadonlyMap<number, number> {
  const byPid = new Map(listed.map((each) => [each.pid, each]));
  const leaders = listed.filter(({ isSessionLeader }) => isSessionLeader);
  const onTerminal = new Map(leaders.map(({ terminal, pid }) => [terminal, pid]));
  const sessionOf = (each: ListedProcess): number => {
    if (each.isSessionLeader) return each.pid;
    if (each.terminal !== undefined) return onTerminal.get(each.terminal) ?? 0;
    const parent = byPid.get(each.parent);
    if (!parent || parent.terminal !== undefined || parent.pid === each.pid) return 0;
    return sessionOf(parent);
  };
  return new Map(listed.map((each) => [each.pid, sessionOf(each)]));
}

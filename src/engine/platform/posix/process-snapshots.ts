import { execFile, spawnSync } from 'node:child_process';

import { type ProcessEntry, TAG_VARIABLE, TICKS_PER_SECOND } from '../contract/process-entry.js';
import {
  LINE_ARGUMENTS,
  LIST_ARGUMENTS,
  type ListedProcess,
  parseLines,
  parseProcessList,
  variableIn,
} from './process-list.js';

/** Path of ps(1) on Linux, macOS and the BSDs. */
const PS = '/bin/ps';
const MAX_LIST_BYTES = 64 * 1024 * 1024;
/** Dates in the locale C and in UTC; other text as it is. */
const ENVIRONMENT = { TZ: 'UTC0', LC_TIME: 'C', LC_CTYPE: 'C.UTF-8' };
const OPTIONS = { env: ENVIRONMENT, encoding: 'utf8', maxBuffer: MAX_LIST_BYTES } as const;
/** Age up to which a snapshot serves for single processes, in milliseconds: a poll then does not run ps(1) each time. */
const RECENT_MS = 20;
/** The same as a multiple of the time that it took: on a loaded machine, questions about many processes share one too. */
const RECENT_SHARE = 4;
/** Start times have a resolution of one second, and vary by a second between two runs of ps(1) on Linux. */
export const START_SLACK_TICKS = 2 * TICKS_PER_SECOND;

/** All processes at one moment. */
export interface Snapshot {
  /** When it stops to be recent, on the monotonic clock, in milliseconds. */
  readonly recentUntil: number;
  readonly entries: ReadonlyMap<number, ProcessEntry>;
  /** Start times by pid. */
  readonly starts: ReadonlyMap<number, number>;
  /** Tags by pid. While a process executes a program, the kernel shows no environment: the tag from before, if any. */
  readonly tags: ReadonlyMap<number, string | undefined>;
  /** What is shown, by pid, of processes that show no arguments: threads of the kernel, and what is executing a program. */
  readonly bare: ReadonlyMap<number, string>;
  /** Command lines by pid; read when they are first asked for. */
  lines?: ReadonlyMap<number, string>;
}

/** What ps(1) shows in place of arguments and environment: the name, in brackets or parentheses, or nothing. */
const BARE = /^(?:\[.*\]|\(.*\))?$/;

/** Most runs of ps(1) at a time that nothing is blocked by. */
const MAX_ASIDE = 2;

const NONE: ReadonlyMap<number, never> = new Map<number, never>();
const EMPTY: Snapshot = { recentUntil: -Infinity, entries: NONE, starts: NONE, tags: NONE, bare: NONE };

/** Whether a process with this pid exists: a zombie counts. */
export function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists, and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Takes snapshots of all processes by ps(1), which takes about 10 ms of a CPU each. */
export class ProcessSnapshots {
  #last = EMPTY;
  /** That of the questions that are asked now. */
  #asked: Snapshot | undefined;
  /** Those that are being taken aside. */
  readonly #running = new Set<Promise<Snapshot | undefined>>();
  /** The one after them. */
  #next: Promise<Snapshot | undefined> | undefined;

  /** The last one, however old. */
  get last(): Snapshot {
    return this.#last;
  }

  /** One that is as good as new. */
  get recent(): Snapshot {
    return this.#asked ?? (performance.now() < this.#last.recentUntil ? this.#last : this.take());
  }

  /** That of `askAside`, else a new one. */
  get current(): Snapshot {
    return this.#asked ?? this.take();
  }

  /**
   * Takes a new one, which blocks.
   * @throws Error when ps(1) cannot be run
   */
  take(): Snapshot {
    const startedAt = performance.now();
    return this.#note(startedAt, run(LIST_ARGUMENTS));
  }

  /** Takes a new one without blocking, and answers questions from it; see `ProcessTable`. */
  async askAside<T>(ask: () => T, mayHaveBegun = false): Promise<T> {
    const snapshot = await ((mayHaveBegun ? [...this.#running].at(-1) : undefined) ?? this.#nextAside());
    this.#asked = snapshot;
    try {
      return ask();
    } finally {
      this.#asked = undefined;
    }
  }

  /** One that begins after the call: all who wait for it share it. Undefined when ps(1) has failed. */
  #nextAside(): Promise<Snapshot | undefined> {
    this.#next ??= this.#whenRoom().then(() => {
      this.#next = undefined;
      const taking = this.#takeAside();
      this.#running.add(taking);
      return taking.finally(() => this.#running.delete(taking));
    });
    return this.#next;
  }

  async #whenRoom(): Promise<void> {
    if (this.#running.size >= MAX_ASIDE) await Promise.race(this.#running);
  }

  /** Returns the command line of a process of a snapshot; undefined without such a process. */
  lineOf(pid: number, snapshot: Snapshot): string | undefined {
    // One that has executed a program since would be shown with arguments that do not belong to its tag.
    const shown = snapshot.bare.get(pid);
    if (shown !== undefined || !snapshot.entries.has(pid)) return shown;
    return (snapshot.lines ??= parseLines(run(LINE_ARGUMENTS).text)).get(pid);
  }

  async #takeAside(): Promise<Snapshot | undefined> {
    const startedAt = performance.now();
    try {
      return this.#note(startedAt, await runAside(LIST_ARGUMENTS));
    } catch {
      // The questions run ps(1) themselves, and report what is wrong.
      return undefined;
    }
  }

  #note(startedAt: number, { text, pid: own }: Listing): Snapshot {
    const listed = parseProcessList(text).filter(({ pid }) => pid !== own);
    const sessions = sessionsOf(listed);
    const entries = new Map<number, ProcessEntry>();
    const tags = new Map<number, string | undefined>();
    const bare = new Map<number, string>();
    for (const found of listed) {
      // Environments have secrets: they are kept nowhere.
      const { text: shown, ...columns } = found;
      const { pid } = columns;
      const [startTicks, session] = [this.#startOf(found), sessions.get(pid) ?? 0];
      entries.set(pid, { ...columns, name: nameOf(shown), startTicks, threads: 1, session });
      if (BARE.test(shown)) bare.set(pid, copied(shown));
      tags.set(pid, bare.has(pid) ? this.#tagBefore(pid, startTicks) : copied(variableIn(shown, TAG_VARIABLE)));
    }
    const starts = new Map([...entries.values()].map(({ pid, startTicks }) => [pid, startTicks]));
    const now = performance.now();
    const recentUntil = now + Math.max(RECENT_MS, (now - startedAt) * RECENT_SHARE);
    this.#last = { recentUntil, entries, starts, tags, bare };
    return this.#last;
  }

  #tagBefore(pid: number, startTicks: number): string | undefined {
    return this.#last.starts.get(pid) === startTicks ? this.#last.tags.get(pid) : undefined;
  }

  #startOf({ pid, startTicks }: ListedProcess): number {
    const known = this.#last.starts.get(pid);
    return known !== undefined && Math.abs(known - startTicks) <= START_SLACK_TICKS ? known : startTicks;
  }
}

/** What ps(1) has printed, and its own pid. */
interface Listing {
  readonly text: string;
  readonly pid: number | undefined;
}

/** What says why ps(1) could not be run, with the errno: that of exhaustion has an error code of its own. */
const notListed = (cause: Error): Error =>
  Object.assign(new Error(`processes cannot be listed: ${cause.message}`, { cause }), {
    code: (cause as NodeJS.ErrnoException).code,
  });

/** @throws Error when it cannot be run */
function run(args: readonly string[]): Listing {
  const { error, stdout, stderr, status, pid } = spawnSync(PS, args, { ...OPTIONS, stdio: ['ignore', 'pipe', 'pipe'] });
  if (error) throw notListed(error);
  if (status !== 0 && stdout === '' && stderr !== '') throw new Error(`processes cannot be listed: ${stderr.trim()}`);
  return { text: stdout, pid };
}

/** The same, without blocking. */
function runAside(args: readonly string[]): Promise<Listing> {
  return new Promise((resolve, reject) => {
    const child = execFile(PS, args, OPTIONS, (error, text) => {
      // It ends with 1 where none of the processes is left.
      if (error && error.code !== 1) reject(notListed(error));
      else resolve({ text, pid: child.pid });
    });
  });
}

/** The name of a program from its command line. */
function nameOf(line: string): string {
  const [program = ''] = line.split(' ', 1);
  return copied(program.slice(program.lastIndexOf('/') + 1).replace(/^-/, '')) || 'unknown';
}

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

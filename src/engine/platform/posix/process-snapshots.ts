import { execFile, spawnSync } from 'node:child_process';

import { type ProcessEntry, TAG_VARIABLE, TICKS_PER_SECOND } from '../contract/process-entry.js';
import { LIST_ARGUMENTS, type ListedProcess, parseProcessList, parseVariable } from './process-list.js';

/** Path of ps(1) on Linux, macOS and the BSDs. */
const PS = '/bin/ps';
/** Shows the environment behind the command line: an option of macOS, and of BSD's syntax elsewhere. */
const WITH_ENVIRONMENT = process.platform === 'darwin' ? ['-E', '-ww'] : ['eww'];
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
/** Age below which a process may still exec another program with another environment, in clock ticks. */
const YOUNG_TICKS = 2 * TICKS_PER_SECOND;

/** All processes at one moment. */
export interface Snapshot {
  /** When it stops to be recent, on the monotonic clock, in milliseconds. */
  readonly recentUntil: number;
  readonly entries: ReadonlyMap<number, ProcessEntry>;
  /** Command lines by pid. */
  readonly lines: ReadonlyMap<number, string>;
  /** Start times by pid. */
  readonly starts: ReadonlyMap<number, number>;
  /** Tags by pid; read when they are first asked for. */
  tags?: ReadonlyMap<number, string | undefined>;
}

/** The tag of a process that can have no other one until it execs another program. */
interface KnownTag {
  readonly startTicks: number;
  readonly line: string;
  readonly tag: string | undefined;
}

/** Most runs of ps(1) at a time that nothing is blocked by. */
const MAX_ASIDE = 2;

const EMPTY: Snapshot = { recentUntil: -Infinity, entries: new Map(), lines: new Map(), starts: new Map() };

/** Whether a process with this pid exists: a zombie counts. */
export function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists, and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Takes snapshots of all processes by ps(1): about 5 ms each. */
export class ProcessSnapshots {
  #last = EMPTY;
  #known = new Map<number, KnownTag>();
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

  /** Takes a new one without blocking, with its tags, and answers questions from it; see `ProcessTable`. */
  async askAside<T>(ask: () => T): Promise<T> {
    const snapshot = await this.#nextAside();
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

  /** Returns the tags of all processes of a snapshot. */
  tagsOf(snapshot: Snapshot): ReadonlyMap<number, string | undefined> {
    if (snapshot.tags) return snapshot.tags;
    const unknown = this.#untaggedIn(snapshot);
    return this.#noteTags(snapshot, unknown.length === 0 ? NO_TAGS : tagsIn(run(tagArguments(unknown))));
  }

  async #takeAside(): Promise<Snapshot | undefined> {
    const startedAt = performance.now();
    try {
      const snapshot = this.#note(startedAt, await runAside(LIST_ARGUMENTS));
      const unknown = this.#untaggedIn(snapshot);
      this.#noteTags(snapshot, unknown.length === 0 ? NO_TAGS : tagsIn(await runAside(tagArguments(unknown))));
      return snapshot;
    } catch {
      // The questions run ps(1) themselves, and report what is wrong.
      return undefined;
    }
  }

  #note(startedAt: number, { text, pid: own }: Listing): Snapshot {
    const listed = parseProcessList(text).filter(({ pid }) => pid !== own);
    const sessions = sessionsOf(listed);
    const entries = new Map<number, ProcessEntry>();
    for (const found of listed) {
      const { pid, line } = found;
      const startTicks = this.#startOf(found);
      entries.set(pid, { ...found, name: nameOf(line), startTicks, threads: 1, session: sessions.get(pid) ?? 0 });
    }
    const lines = new Map(listed.map(({ pid, line }) => [pid, line]));
    const starts = new Map([...entries.values()].map(({ pid, startTicks }) => [pid, startTicks]));
    const now = performance.now();
    const recentUntil = now + Math.max(RECENT_MS, (now - startedAt) * RECENT_SHARE);
    this.#last = { recentUntil, entries, lines, starts };
    return this.#last;
  }

  #isKnown({ lines }: Snapshot, { pid, startTicks }: ProcessEntry): boolean {
    const known = this.#known.get(pid);
    return known?.startTicks === startTicks && known.line === lines.get(pid);
  }

  /** Pids of processes whose tags have to be read. */
  #untaggedIn(snapshot: Snapshot): readonly number[] {
    return [...snapshot.entries.values()].filter((entry) => !this.#isKnown(snapshot, entry)).map(({ pid }) => pid);
  }

  #noteTags(snapshot: Snapshot, read: ReadonlyMap<number, string>): ReadonlyMap<number, string | undefined> {
    const tags = new Map<number, string | undefined>();
    const known = new Map<number, KnownTag>();
    for (const entry of snapshot.entries.values()) {
      const { pid, startTicks } = entry;
      const tag = this.#isKnown(snapshot, entry) ? this.#known.get(pid)?.tag : read.get(pid);
      tags.set(pid, tag);
      const isYoung = Date.now() / 10 - startTicks < YOUNG_TICKS;
      // While a program is being executed, the kernel shows no environment.
      if (tag !== undefined || !isYoung) known.set(pid, { startTicks, line: snapshot.lines.get(pid) ?? '', tag });
    }
    this.#known = known;
    snapshot.tags = tags;
    return tags;
  }

  #startOf({ pid, startTicks }: ListedProcess): number {
    const known = this.#last.starts.get(pid);
    return known !== undefined && Math.abs(known - startTicks) <= START_SLACK_TICKS ? known : startTicks;
  }
}

const NO_TAGS: ReadonlyMap<number, string> = new Map();

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

const tagArguments = (pids: readonly number[]): readonly string[] => [
  ...WITH_ENVIRONMENT,
  ...['-o', 'pid=', '-o', 'args=', '-p', pids.join(',')],
];

const tagsIn = ({ text }: Listing): ReadonlyMap<number, string> => parseVariable(text, TAG_VARIABLE);

/** The name of a program from its command line. */
function nameOf(line: string): string {
  const [program = ''] = line.split(' ', 1);
  return program.slice(program.lastIndexOf('/') + 1).replace(/^-/, '') || 'unknown';
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

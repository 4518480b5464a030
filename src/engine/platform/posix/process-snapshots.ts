import { spawnSync } from 'node:child_process';

import { type ProcessEntry, TAG_VARIABLE, TICKS_PER_SECOND } from '../contract/process-entry.js';
import { LIST_ARGUMENTS, type ListedProcess, parseProcessList, parseVariable } from './process-list.js';

/** Path of ps(1) on Linux, macOS and the BSDs. */
const PS = '/bin/ps';
/** Shows the environment behind the command line: an option of macOS, and of BSD's syntax elsewhere. */
const WITH_ENVIRONMENT = process.platform === 'darwin' ? ['-E', '-ww'] : ['eww'];
const MAX_LIST_BYTES = 64 * 1024 * 1024;
/** Dates in the locale C and in UTC; other text as it is. */
const ENVIRONMENT = { TZ: 'UTC0', LC_TIME: 'C', LC_CTYPE: 'C.UTF-8' };
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

/** Takes snapshots of all processes by ps(1): about 5 ms each, which block. */
export class ProcessSnapshots {
  #last = EMPTY;
  #known = new Map<number, KnownTag>();

  /** The last one, however old. */
  get last(): Snapshot {
    return this.#last;
  }

  /** One that is as good as new. */
  get recent(): Snapshot {
    return performance.now() < this.#last.recentUntil ? this.#last : this.take();
  }

  /**
   * Takes a new one.
   * @throws Error when ps(1) cannot be run
   */
  take(): Snapshot {
    const startedAt = performance.now();
    const { text, pid: own } = run(LIST_ARGUMENTS);
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

  /** Returns the tags of all processes of a snapshot. */
  tagsOf(snapshot: Snapshot): ReadonlyMap<number, string | undefined> {
    return (snapshot.tags ??= this.#readTags(snapshot));
  }

  #readTags({ entries, lines }: Snapshot): ReadonlyMap<number, string | undefined> {
    const before = this.#known;
    const isKnown = ({ pid, startTicks }: ProcessEntry) => {
      const known = before.get(pid);
      return known?.startTicks === startTicks && known.line === lines.get(pid);
    };
    const unknown = [...entries.values()].filter((entry) => !isKnown(entry)).map(({ pid }) => pid);
    const read = unknown.length === 0 ? new Map<number, string>() : readVariable(unknown);
    const tags = new Map<number, string | undefined>();
    this.#known = new Map();
    for (const entry of entries.values()) {
      const { pid, startTicks } = entry;
      const tag = isKnown(entry) ? before.get(pid)?.tag : read.get(pid);
      tags.set(pid, tag);
      const isYoung = Date.now() / 10 - startTicks < YOUNG_TICKS;
      // While a program is being executed, the kernel shows no environment.
      if (tag !== undefined || !isYoung) this.#known.set(pid, { startTicks, line: lines.get(pid) ?? '', tag });
    }
    return tags;
  }

  #startOf({ pid, startTicks }: ListedProcess): number {
    const known = this.#last.starts.get(pid);
    return known !== undefined && Math.abs(known - startTicks) <= START_SLACK_TICKS ? known : startTicks;
  }
}

function run(args: readonly string[]): { readonly text: string; readonly pid: number } {
  const { error, stdout, stderr, status, pid } = spawnSync(PS, args, {
    env: ENVIRONMENT,
    encoding: 'utf8',
    maxBuffer: MAX_LIST_BYTES,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (error) throw new Error(`processes cannot be listed: ${error.message}`, { cause: error });
  if (status !== 0 && stdout === '' && stderr !== '') throw new Error(`processes cannot be listed: ${stderr.trim()}`);
  return { text: stdout, pid };
}

const readVariable = (pids: readonly number[]): ReadonlyMap<number, string> =>
  parseVariable(run([...WITH_ENVIRONMENT, '-o', 'pid=', '-o', 'args=', '-p', pids.join(',')]).text, TAG_VARIABLE);

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

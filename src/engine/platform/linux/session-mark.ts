import { readSmallFile } from '../../system/small-file.js';
import { type ProcessEntry, TICKS_PER_SECOND } from '../contract/process-entry.js';
import { ticksNow } from './process-state.js';
import { readProcess, readTag } from './process-table.js';

/** The line in /proc/PID/limits: its name, blanks, the soft limit, blanks, and more. */
const LINE = 'Max file locks';
const LINE_LENGTH = 60;
/** Age below which a process may still be about to exec a program with another environment. */
const YOUNG_TICKS = TICKS_PER_SECOND;
/** Processes that are remembered, of each kind. */
const MAX_REMEMBERED = 10_000;

/** Reads the mark of a process; undefined when it has none. About 6 µs. */
export function readMark(pid: number): string | undefined {
  const limits = readSmallFile(`/proc/${pid}/limits`);
  const start = limits?.indexOf(LINE) ?? -1;
  if (limits === undefined || start === -1) return undefined;
  return /^ *(\d+) /.exec(limits.slice(start + LINE.length, start + LINE_LENGTH))?.[1];
}

/** What is asked about for its origin. */
type Asked = Pick<ProcessEntry, 'pid' | 'startTicks' | 'parent' | 'session'>;

/**
 * Reads where processes come from, and remembers it for most of them, because reading environments and limits takes most of the time of a
 * search. A tag and a mark are inherited, so a foreign process stays foreign, unless it descends from the daemon. The shell of a session, and
 * whatever else leads a session of the kernel, keeps its origin too; other processes may still get the tag of a command with their program.
 */
export class Origins {
  readonly #foreign = new Map<number, { readonly startTicks: number; readonly isSure: boolean }>();
  readonly #leaders = new Map<number, { readonly startTicks: number; readonly origin: string }>();

  /** Returns the origin of a process: its tag, or without one its mark. Undefined for a foreign process. */
  readonly read = (entry: Asked): string | undefined => {
    const { pid, startTicks } = entry;
    const known = this.#foreign.get(pid);
    const isKnown = known?.startTicks === startTicks;
    if (isKnown && known.isSure) return undefined;
    const leader = this.#leaders.get(pid);
    if (leader?.startTicks === startTicks) return leader.origin;
    const origin = readTag(pid) ?? readMark(pid);
    if (origin !== undefined) this.#noteLeader(entry, origin);
    // The environment is empty for a moment while a program is loaded: it counts when it was so twice.
    else if (isSettled(entry)) remember(this.#foreign, pid, { startTicks, isSure: isKnown });
    return origin;
  };

  #noteLeader(entry: Asked, origin: string): void {
    const { pid, session, startTicks } = entry;
    if (session === pid && !isYoung(entry)) remember(this.#leaders, pid, { startTicks, origin });
  }
}

function remember<T>(known: Map<number, T>, pid: number, process: T): void {
  if (known.size >= MAX_REMEMBERED) known.clear();
  known.set(pid, process);
}

const isYoung = ({ startTicks }: Asked): boolean => ticksNow() - startTicks <= YOUNG_TICKS;

/** Whether a process that is foreign now cannot be one that is just being started for a session. */
const isSettled = (entry: Asked): boolean => !isYoung(entry) && !descendsFromDaemon(entry);

function descendsFromDaemon({ parent }: Asked): boolean {
  let pid: number | undefined = parent;
  while (pid !== undefined && pid > 1 && pid !== process.pid) pid = readProcess(pid)?.parent;
  return pid === process.pid;
}

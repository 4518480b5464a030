import type { Status } from 'pidusage';

import { settledWithin } from '../../../core/time.js';
import { MS_PER_TICK, PAGE_BYTES, type ProcessEntry, type ProcessId, TICKS_PER_SECOND } from '../platform.js';
import type { DescriptorReserve, ListedProcess } from './process-list.js';

/** Longest wait for a measurement, in milliseconds: pidusage waits for its ps(1) without end. */
const TIMEOUT_MS = 1000;
/** Pids for one run of ps(1), whose list is one argument: at most 128 KiB on Linux (MAX_ARG_STRLEN). */
const MAX_PIDS = 10_000;
/** Most runs of ps(1) at a time. One that hangs is not followed by others without end. */
const MAX_RUNS = 4;
/**
 * pidusage runs ps(1) on every system then. On Linux it would read /proc, and keep a descriptor of each process open. It keeps no history,
 * which only percentages need: that has a timer, and takes a process for an earlier one with the same pid.
 */
const OPTIONS = { usePs: true, maxage: 0 };

/** CPU time and memory of a process. */
type Usage = Pick<ProcessEntry, 'cpuTicks' | 'residentPages'>;

/** A measurement. Two of them are about one process if its start is the same within some ticks. */
interface Measurement extends Usage {
  readonly startTicks: number;
}

const NOTHING_USED: Usage = { cpuTicks: 0, residentPages: 0 };

/** Measures CPU time and memory of processes by pidusage, and remembers what each has used. */
export class ProcessUsage {
  readonly #reserve: DescriptorReserve;
  readonly #slackTicks: number;
  readonly #last = new Map<number, Measurement>();
  #runs = 0;
  #costMs = Infinity;

  /** @param slackTicks by which the start times of one process differ at most, in clock ticks */
  constructor(reserve: DescriptorReserve, slackTicks: number) {
    this.#reserve = reserve;
    this.#slackTicks = slackTicks;
  }

  /** CPU time of a measurement, in milliseconds, at most: the least time that one has taken; 0 before the first. */
  get costMs(): number {
    return this.#costMs === Infinity ? 0 : this.#costMs;
  }

  /** Measures processes. Never rejects: where ps(1) cannot be run, or hangs, the last measurement stands. */
  async measure(pids: readonly number[]): Promise<void> {
    try {
      for (let index = 0; index < pids.length; index += MAX_PIDS) {
        await this.#measureSome(pids.slice(index, index + MAX_PIDS));
      }
    } catch {
      // ENFILE, for example, when pidusage is loaded, or runs ps(1).
    }
  }

  /** What a process has used when it was last measured: nothing if it never was. */
  of({ pid, startTicks }: ProcessId): Usage {
    const last = this.#last.get(pid);
    if (!last || Math.abs(last.startTicks - startTicks) > this.#slackTicks) return NOTHING_USED;
    return { cpuTicks: last.cpuTicks, residentPages: last.residentPages };
  }

  has(pid: number): boolean {
    return this.#last.has(pid);
  }

  /** Forgets the processes that are not in a list. */
  keepOnly(listed: ReadonlyMap<number, unknown>): void {
    for (const pid of this.#last.keys()) if (!listed.has(pid)) this.#last.delete(pid);
  }

  async #measureSome(pids: number[]): Promise<void> {
    // Loaded where it is needed: no other platform is.
    const { default: pidusage } = await import('pidusage');
    // Without descriptors it would throw, and emit an error for which there is no listener yet.
    if (this.#runs >= MAX_RUNS || !this.#reserve.isEnough) return;
    this.#runs += 1;
    const begunAt = performance.now();
    const measured = this.#reserve
      .use(() => pidusage(pids, OPTIONS))
      .then(
        (found) => {
          this.#costMs = Math.min(this.#costMs, performance.now() - begunAt);
          this.#note(found);
        },
        // ENOENT: none of them runs any more. Otherwise ps(1) cannot be run, as the list of processes tells.
        () => undefined,
      )
      .finally(() => {
        this.#runs -= 1;
        this.#reserve.fill();
      });
    await settledWithin(measured, TIMEOUT_MS);
  }

  #note(found: Readonly<Record<string, Status>>): void {
    for (const { pid, ctime, memory, elapsed, timestamp } of Object.values(found)) {
      const startTicks = (timestamp - elapsed) / MS_PER_TICK;
      this.#last.set(pid, { startTicks, cpuTicks: cpuTicksOf(ctime), residentPages: memory / PAGE_BYTES });
    }
  }
}

/** The systems whose ps(1) prints CPU time as MM:SS.hh, which pidusage reads so on macOS alone, and as HH:MM:SS elsewhere. */
const WITH_HUNDREDTHS: readonly NodeJS.Platform[] = ['freebsd', 'netbsd', 'openbsd'];
const MS_PER_MINUTE = 60_000;

/**
 * Returns the CPU time of a process in clock ticks.
 * @param readMs as pidusage has read it, in milliseconds. Where it has taken seconds for minutes, whole seconds are left: up to 0.4 s early,
 * since hundredths were taken for seconds.
 */
export function cpuTicksOf(readMs: number, system = process.platform): number {
  if (!WITH_HUNDREDTHS.includes(system)) return readMs / MS_PER_TICK;
  return Math.floor(readMs / MS_PER_MINUTE) * TICKS_PER_SECOND;
}

/**
 * Finds the processes whose use is measured: what leads a session that the daemon has started, what has a tag or was measured before, all that is
 * in a session that one of these leads, and their descendants. The daemon's own programs, such as ps(1), are left out.
 */
export function findMeasured(
  listed: readonly ListedProcess[],
  sessions: ReadonlyMap<number, number>,
  isKnown: (process: ListedProcess) => boolean,
): ReadonlySet<number> {
  const found = new Set<number>();
  const following = new Map<number, number[]>();
  const follow = (pid: number, later: number) => {
    const others = following.get(pid);
    if (others) others.push(later);
    else following.set(pid, [later]);
  };
  for (const each of listed) {
    const { pid, parent, isSessionLeader } = each;
    const isStarted = parent === process.pid;
    if (pid === process.pid || (isStarted && !isSessionLeader)) continue;
    follow(parent, pid);
    follow(sessions.get(pid) ?? 0, pid);
    if (isStarted || isKnown(each)) found.add(pid);
  }
  // A Set iterates over entries that are added during the iteration.
  for (const pid of found) for (const later of following.get(pid) ?? []) found.add(later);
  return found;
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import pidusage from 'pidusage';

import { parseProcessList } from '../../core/limits/process-list.js';
import { type ProcessEntry, TICKS_PER_SECOND, type Writes } from '../process/process-table.js';
import { PAGE_BYTES } from './memory-of.js';
import type { ProcessSnapshot, UsageReader } from './process-snapshot.js';

const run = promisify(execFile);

/** Path of ps(1) on Linux, macOS and the BSDs. */
const PS = '/bin/ps';
/**
 * The columns of `parseProcessList`, without a heading (POSIX ps, and `lstart` as Linux, macOS and the BSDs have it).
 */
const LIST = ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart=,comm='];
/** The start time has a resolution of one second, and varies by a second on some systems. */
const START_SLACK_TICKS = 2 * TICKS_PER_SECOND;
const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** No history is kept for CPU percentages, which are not used. */
const OPTIONS = { usePs: true, maxage: 0 };

/**
 * Reads processes through ps(1), and their resource use through pidusage: for systems without /proc. Each sample runs
 * two programs. Bytes written to disks and environments are not available; CPU time has a resolution of one second on
 * some systems.
 */
export class PidusageReader implements UsageReader {
  readonly name = 'pidusage';
  #last = new Map<number, ProcessEntry>();

  async sample(): Promise<ProcessSnapshot> {
    const { stdout } = await run(PS, LIST, { env: { LC_ALL: 'C' }, maxBuffer: MAX_LIST_BYTES });
    const listed = parseProcessList(stdout);
    const pids = listed.map(({ pid }) => pid);
    const usage = await pidusage(pids, OPTIONS);
    const entries = listed.flatMap(({ pid, startedAt, ...process }): ProcessEntry[] => {
      const used = usage[pid];
      // The process has ended between the two.
      if (!used) return [];
      return [
        {
          ...process,
          pid,
          startTicks: this.#startOf(pid, (startedAt / 1000) * TICKS_PER_SECOND),
          session: -1,
          foregroundGroup: -1,
          cpuTicks: (used.ctime / 1000) * TICKS_PER_SECOND,
          threads: 1,
          residentPages: used.memory / PAGE_BYTES,
        },
      ];
    });
    this.#last = new Map(entries.map((entry) => [entry.pid, entry]));
    return new PsSnapshot(this.#last);
  }

  sampleNow(): undefined {
    return undefined;
  }

  family(): readonly ProcessEntry[] {
    return [];
  }

  cpuTicksOf(): undefined {
    return undefined;
  }

  /** A zombie that its parent has not waited for yet counts as alive: kill(2) does not distinguish it. */
  isAlive({ pid }: ProcessEntry): boolean {
    try {
      return process.kill(pid, 0);
    } catch (error) {
      // EPERM: the process exists, and belongs to another user.
      return (error as NodeJS.ErrnoException).code === 'EPERM';
    }
  }

  #startOf(pid: number, startTicks: number): number {
    const known = this.#last.get(pid)?.startTicks;
    return known !== undefined && Math.abs(known - startTicks) <= START_SLACK_TICKS ? known : startTicks;
  }
}

class PsSnapshot implements ProcessSnapshot {
  readonly isExact = true;
  readonly #entries: ReadonlyMap<number, ProcessEntry>;

  constructor(entries: ReadonlyMap<number, ProcessEntry>) {
    this.#entries = entries;
  }

  all(): Iterable<ProcessEntry> {
    return this.#entries.values();
  }

  childrenOf(pid: number): ProcessEntry[] {
    return [...this.#entries.values()].filter(({ parent }) => parent === pid);
  }

  of(pids: Iterable<number>): ProcessEntry[] {
    return [...pids].flatMap((pid) => this.#entries.get(pid) ?? []);
  }

  writesOf(): Writes {
    return { diskBytes: 0, allBytes: 0 };
  }

  heldBytes(entries: readonly ProcessEntry[]): number {
    return entries.reduce((sum, { residentPages }) => sum + residentPages, 0) * PAGE_BYTES;
  }

  originOf(): undefined {
    return undefined;
  }
}

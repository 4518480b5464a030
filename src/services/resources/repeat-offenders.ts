import { KILLED_BY, type Resource } from '../../core/limits/limits.js';
import { descendantsIn, type ProcessSnapshot } from '../../engine/limits/process-snapshot.js';
import type { ProcessEntry } from '../../engine/process/process-table.js';

/** What a process had used when a command was ended for a limit. */
interface Figures {
  readonly startTicks: number;
  readonly cpuTicks: number;
  readonly writtenBytes: number;
}

/** Where a limit is exceeded again. */
export interface Recurrence {
  readonly snapshot: ProcessSnapshot;
  /** All processes of the session, and those of them that are its shell. */
  readonly pids: readonly number[];
  readonly own: readonly number[];
  readonly resource: Resource;
}

/**
 * Remembers who was there when a command was ended for a limit. When it is exceeded again during another command, those
 * tell who is to blame: what has outlived the first one, or the second.
 */
export class RepeatOffenders {
  #seen = new Map<number, Figures>();

  /** A command is ended for a limit; these were there then, its shell included. */
  note(snapshot: ProcessSnapshot, pids: readonly number[]): void {
    const figures = snapshot.of(pids).map(({ pid, startTicks, cpuTicks }) => {
      return [pid, { startTicks, cpuTicks, writtenBytes: snapshot.writtenBy(pid) }] as const;
    });
    this.#seen = new Map(figures);
  }

  forget(): void {
    this.#seen.clear();
  }

  /** Whether more of it is theirs who were there already, and what they have started since, than all others'. */
  areToBlame({ snapshot, pids, own, resource }: Recurrence): boolean {
    if (this.#seen.size === 0) return false;
    const isOffender = (entry: ProcessEntry) => !own.includes(entry.pid) && this.#sameAs(entry) !== undefined;
    const present = snapshot.of(pids);
    const offenders = present.filter(isOffender).map(({ pid }) => pid);
    if (offenders.length === 0) return false;
    const theirs = descendantsIn(snapshot, offenders);
    const measure = MEASURES[KILLED_BY[resource]];
    let balance = 0;
    for (const entry of present) {
      // What the shell holds itself is no command's; what it has used since, it has mostly taken over from the command.
      if (own.includes(entry.pid) && measure.isHeld) continue;
      const use = measure.use(entry, snapshot, this.#sameAs(entry));
      balance += theirs.has(entry.pid) ? use : -use;
    }
    return balance > 0;
  }

  #sameAs({ pid, startTicks }: ProcessEntry): Figures | undefined {
    const seen = this.#seen.get(pid);
    return seen?.startTicks === startTicks ? seen : undefined;
  }
}

/** How much of a resource a process has: what it holds now, or what it has used since it was seen. */
interface Measure {
  readonly isHeld: boolean;
  use(entry: ProcessEntry, snapshot: ProcessSnapshot, before: Figures | undefined): number;
}

const MEASURES: Record<(typeof KILLED_BY)[Resource], Measure> = {
  cpu: { isHeld: false, use: ({ cpuTicks }, _, before) => cpuTicks - (before?.cpuTicks ?? 0) },
  disk: {
    isHeld: false,
    use: ({ pid }, snapshot, before) => snapshot.writtenBy(pid, true) - (before?.writtenBytes ?? 0),
  },
  memory: { isHeld: true, use: ({ residentPages }) => residentPages },
  processes: { isHeld: true, use: ({ threads }) => threads },
};

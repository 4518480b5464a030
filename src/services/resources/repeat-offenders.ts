import { KILLED_BY, type Resource } from '../../core/limits/limits.js';
import { descendantsIn, type ProcessSnapshot } from '../../engine/limits/process-snapshot.js';
import type { ProcessEntry } from '../../engine/process/process-table.js';

/** Usage of a process when a command was ended for a limit. */
interface Figures {
  readonly startTicks: number;
  readonly cpuTicks: number;
  readonly writtenBytes: number;
}

/** A limit that is exceeded again. */
export interface Recurrence {
  readonly snapshot: ProcessSnapshot;
  /** All processes of the session, and the subset that is its shell. */
  readonly pids: readonly number[];
  readonly own: readonly number[];
  readonly resource: Resource;
}

/**
 * Remembers the processes present when a command was ended for a limit. When the limit is exceeded again during another
 * command, they show the cause: the survivors of the first command, or the second.
 */
export class RepeatOffenders {
  #seen = new Map<number, Figures>();

  /** Remembers the processes present when a command is ended for a limit, including the shell. */
  note(snapshot: ProcessSnapshot, pids: readonly number[]): void {
    const figures = snapshot.of(pids).map(({ pid, startTicks, cpuTicks }) => {
      return [pid, { startTicks, cpuTicks, writtenBytes: snapshot.writtenBy(pid) }] as const;
    });
    this.#seen = new Map(figures);
  }

  forget(): void {
    this.#seen.clear();
  }

  /** True when the remembered processes and their descendants use more of the resource than all others. */
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
      // What the shell itself holds belongs to no command; usage since then is mostly inherited from the ended command.
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

/** How the use of a resource is measured: what a process holds now, or what it has used since it was remembered. */
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

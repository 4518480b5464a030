import { MB, type Resource } from '../core/limits/limits.js';
import type { GroupSample, ProcessGroup } from './limits/mechanism.js';

/** What a command has used, with all that ran in its session meanwhile. Null is what was not measured. */
export interface ResourceUse {
  readonly cpuMs: number | null;
  /** The most that was seen. Null for a command that had ended before the first look. */
  readonly peakMemoryBytes: number | null;
  /** Processes and threads, the shell included; likewise. */
  readonly peakTasks: number | null;
  /** Likewise. */
  readonly writtenBytes: number | null;
}

/** Of a command that has not begun. */
export const NOTHING_USED: ResourceUse = { cpuMs: 0, peakMemoryBytes: null, peakTasks: null, writtenBytes: null };

/** A limit that was exceeded, in the unit of its name. */
export interface Breach {
  readonly resource: Resource;
  readonly limit: number;
  /** What was seen when it was decided. */
  readonly observed: number;
}

/** What was ended for a limit. */
export interface Kill {
  readonly breach: Breach;
  /** The most that was used, in the unit of the limit's name. */
  readonly peak: number;
  /** Processes that were killed for it; those that the kernel killed by itself as far as they are known. */
  readonly killedPids: readonly number[];
}

/** The most that a command has used of what its limit was exceeded of: never less than what was observed then. */
export function peakOf({ resource, observed }: Breach, use: ResourceUse): number {
  const used: Partial<Record<Resource, number>> = {
    cpu_seconds: (use.cpuMs ?? 0) / 1000,
    memory_mb: (use.peakMemoryBytes ?? 0) / MB,
    processes: use.peakTasks ?? 0,
    disk_mb: (use.writtenBytes ?? 0) / MB,
  };
  return Math.max(observed, used[resource] ?? 0);
}

/** Measures what a command uses: CPU time from its start, the rest from the first look at it. */
export class UseMeter {
  #group: ProcessGroup | undefined;
  #cpuAtStart: number | undefined;
  #cpuMs: number | null = null;
  #peakMemoryBytes: number | null = null;
  #peakTasks: number | null = null;
  #writtenAtStart: number | undefined;
  #writtenBytes: number | null = null;
  #lastPids: readonly number[] = [];
  #earlierPids: readonly number[] = [];

  /** What was used so far. */
  get use(): ResourceUse {
    return {
      cpuMs: this.#cpuMs,
      peakMemoryBytes: this.#peakMemoryBytes,
      peakTasks: this.#peakTasks,
      writtenBytes: this.#writtenBytes,
    };
  }

  /** CPU time of its group when it began, in milliseconds. */
  get cpuAtStart(): number | undefined {
    return this.#cpuAtStart;
  }

  /** Processes that were there at the last look. */
  get lastPids(): readonly number[] {
    return this.#lastPids;
  }

  /** Processes that were there at the look before that. */
  get earlierPids(): readonly number[] {
    return this.#earlierPids;
  }

  /**
   * The command begins, in this group.
   * @param cpuAtStart what the group has used before
   */
  begin(group: ProcessGroup, cpuAtStart = group.cpuMs()): void {
    this.#group = group;
    this.#cpuAtStart = cpuAtStart;
  }

  /**
   * Takes what was seen of its group.
   * @param writtenAtStart bytes that the group had written when the command began
   */
  note({ cpuMs, memoryBytes, tasks, writtenBytes, pids }: GroupSample, writtenAtStart: number): void {
    this.#writtenAtStart ??= writtenAtStart;
    // A look that others have waited for may have begun before the command.
    this.#cpuMs = Math.max(0, cpuMs - (this.#cpuAtStart ?? cpuMs));
    this.#peakMemoryBytes = Math.max(this.#peakMemoryBytes ?? 0, memoryBytes);
    this.#peakTasks = Math.max(this.#peakTasks ?? 0, tasks);
    this.#writtenBytes = Math.max(0, writtenBytes - this.#writtenAtStart);
    this.#earlierPids = this.#lastPids;
    this.#lastPids = pids;
  }

  /** The kernel has enforced a limit on memory: that much was held. */
  notePeakMemory(bytes: number): void {
    this.#peakMemoryBytes = Math.max(this.#peakMemoryBytes ?? 0, bytes);
  }

  /** The command has ended. */
  end(): void {
    // What was looked at before is looked at once more: the last look may be a while ago.
    if (this.#group && this.#writtenAtStart !== undefined) {
      const sample = this.#group.sampleNow();
      if (sample) this.note(sample, this.#writtenAtStart);
    }
    const now = this.#group?.cpuMs();
    if (now !== undefined && this.#cpuAtStart !== undefined) this.#cpuMs = Math.max(0, now - this.#cpuAtStart);
    this.#group = undefined;
  }
}

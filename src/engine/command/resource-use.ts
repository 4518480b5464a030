import { judgeUsage } from '../../core/limits/judge.js';
import { type Limits, MB, type Resource } from '../../core/limits/limits.js';
import type { GroupSample, ProcessGroup } from '../limits/mechanism.js';

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

/** What a command is measured with. */
export interface Measured {
  readonly group: ProcessGroup;
  /** CPU time that the group has used before, in milliseconds; undefined when it does not tell. */
  readonly cpuAtStart: number | undefined;
  /** What holds for the command. */
  readonly limits: Limits;
  /** Bytes written by its shell or program and the children that has waited for: a cheap look, where it is worth one. */
  readonly written?: Writer | undefined;
}

/** The process that waits for what a command starts, and takes over what that has written. */
export interface Writer {
  /** The shell, or the program without a session; undefined before that runs. */
  readonly pid: number | undefined;
  readonly atStart: number;
  now(): number | undefined;
}

/** Measures what a command uses: CPU time from its start, the rest from the first look at it. */
export class UseMeter {
  #group: ProcessGroup | undefined;
  #limits: Limits = {};
  #cpuAtStart: number | undefined;
  #written: Measured['written'];
  #seenAtStart = 0;
  #knownBytes = 0;
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

  /** Its shell or program, and what that had written before; undefined where that is not asked for. */
  get writer(): Pick<Writer, 'pid' | 'atStart'> | undefined {
    return this.#written;
  }

  /** The limits that it has exceeded, as far as is known at its end. */
  get exceeded(): readonly Breach[] {
    const { cpuMs, peakMemoryBytes, peakTasks, writtenBytes } = this.use;
    const usage = {
      cpuMs: cpuMs ?? undefined,
      cpuPercent: undefined,
      memoryBytes: peakMemoryBytes ?? undefined,
      processes: peakTasks ?? undefined,
      writtenBytes: writtenBytes ?? undefined,
    };
    return judgeUsage(this.#limits, usage).filter(({ share }) => share > 1);
  }

  /** The command begins. */
  begin({ group, cpuAtStart, limits, written }: Measured): void {
    this.#group = group;
    this.#cpuAtStart = cpuAtStart;
    this.#limits = limits;
    this.#written = written;
    this.#seenAtStart = group.seenWrittenBytes;
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
    this.#writtenBytes = Math.max(this.#knownBytes, writtenBytes - this.#writtenAtStart);
    this.#earlierPids = this.#lastPids;
    this.#lastPids = pids;
  }

  /** The kernel has enforced a limit on memory: that much was held. */
  notePeakMemory(bytes: number): void {
    this.#peakMemoryBytes = Math.max(this.#peakMemoryBytes ?? 0, bytes);
  }

  /** It is known that so many bytes were written at least; undefined when it is not. */
  noteWritten(bytes: number | undefined): void {
    if (bytes === undefined) return;
    this.#knownBytes = Math.max(0, bytes);
    this.#writtenBytes = Math.max(this.#writtenBytes ?? 0, bytes);
  }

  /** The command has ended. */
  end(): void {
    // What was looked at before is looked at once more: the last look may be a while ago.
    if (this.#group && this.#writtenAtStart !== undefined) {
      const sample = this.#group.sampleNow();
      if (sample) this.note(sample, this.#writtenAtStart);
    } else this.#noteOwnBytes();
    const now = this.#group?.cpuMs();
    if (now !== undefined && this.#cpuAtStart !== undefined) this.#cpuMs = Math.max(0, now - this.#cpuAtStart);
    this.#group = undefined;
  }

  /** Of a command that nobody has looked at. */
  #noteOwnBytes(): void {
    const now = this.#written?.now();
    if (!this.#group || !this.#written || now === undefined) return;
    const bytes = now - this.#written.atStart;
    const { disk_mb: limitMb = Infinity } = this.#limits;
    // The shell may have waited for a background process meanwhile, whose bytes were seen before.
    const sample = bytes > limitMb * MB ? this.#group.sampleNow() : undefined;
    this.noteWritten(sample ? Math.min(bytes, sample.writtenBytes - this.#seenAtStart) : bytes);
  }
}

import { judgeUsage } from '../../core/limits/judge.js';
import { type Limits, MB, type Resource } from '../../core/limits/limits.js';
import type { GroupSample, ProcessGroup } from '../limits/mechanism.js';

/** Resource use of a command, including everything else that ran in its session meanwhile. Null: not measured. */
export interface ResourceUse {
  readonly cpuMs: number | null;
  /** Highest sampled value, in bytes. Null for a command that had ended before the first sample. */
  readonly peakMemoryBytes: number | null;
  /** Highest sampled number of processes and threads, including the shell. Null as above. */
  readonly peakTasks: number | null;
  /** Bytes written. Null as above. */
  readonly writtenBytes: number | null;
}

/** Use of a command that has not started. */
export const NOTHING_USED: ResourceUse = { cpuMs: 0, peakMemoryBytes: null, peakTasks: null, writtenBytes: null };

/** A limit that was exceeded, in the unit of its name. */
export interface Breach {
  readonly resource: Resource;
  readonly limit: number;
  /** The value on which the decision was based. */
  readonly observed: number;
}

/** The processes ended for a limit. */
export interface Kill {
  readonly breach: Breach;
  /** Highest use, in the unit of the limit's name. */
  readonly peak: number;
  /** Processes that were killed for the limit; processes killed by the kernel are included as far as they are known. */
  readonly killedPids: readonly number[];
}

/** Returns a command's highest use of the resource whose limit was exceeded; never less than the observed value. */
export function peakOf({ resource, observed }: Breach, use: ResourceUse): number {
  const used: Partial<Record<Resource, number>> = {
    cpu_seconds: (use.cpuMs ?? 0) / 1000,
    memory_mb: (use.peakMemoryBytes ?? 0) / MB,
    processes: use.peakTasks ?? 0,
    disk_mb: (use.writtenBytes ?? 0) / MB,
  };
  return Math.max(observed, used[resource] ?? 0);
}

/** What `UseMeter` measures. */
export interface Measured {
  readonly group: ProcessGroup;
  /** CPU time that the group had used before, in milliseconds; undefined when it is not available. */
  readonly cpuAtStart: number | undefined;
  /** Limits of the command. */
  readonly limits: Limits;
  /**
   * Counter of bytes written by the shell or program and by the children that it has waited for; cheap, and only set
   * where it is worth reading.
   */
  readonly written?: Writer | undefined;
}

/** The process that waits for the command's children, and accumulates the bytes that they have written. */
export interface Writer {
  /** The shell, or the program of a one-shot; undefined before that runs. */
  readonly pid: number | undefined;
  readonly atStart: number;
  now(): number | undefined;
}

/** Measures the resource use of a command: CPU time from the start, everything else from the first sample. */
export class UseMeter {
  #group: ProcessGroup | undefined;
  #limits: Limits = {};
  #cpuAtStart: number | undefined;
  #written: Measured['written'];
  #seenAtStart = 0;
  #minWrittenBytes = 0;
  #cpuMs: number | null = null;
  #peakMemoryBytes: number | null = null;
  #peakTasks: number | null = null;
  #writtenAtStart: number | undefined;
  #writtenBytes: number | null = null;
  #lastPids: readonly number[] = [];
  #earlierPids: readonly number[] = [];

  /** Use so far. */
  get use(): ResourceUse {
    return {
      cpuMs: this.#cpuMs,
      peakMemoryBytes: this.#peakMemoryBytes,
      peakTasks: this.#peakTasks,
      writtenBytes: this.#writtenBytes,
    };
  }

  /** CPU time of the group at the start of the command, in milliseconds. */
  get cpuAtStart(): number | undefined {
    return this.#cpuAtStart;
  }

  /** Processes in the last sample. */
  get lastPids(): readonly number[] {
    return this.#lastPids;
  }

  /** Processes in the sample before the last. */
  get earlierPids(): readonly number[] {
    return this.#earlierPids;
  }

  /** The shell or program, and its bytes written before the start; undefined where that is not measured. */
  get writer(): Pick<Writer, 'pid' | 'atStart'> | undefined {
    return this.#written;
  }

  /** Limits that the command has exceeded, as far as known at its end. */
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

  /** Starts measuring. */
  begin({ group, cpuAtStart, limits, written }: Measured): void {
    this.#group = group;
    this.#cpuAtStart = cpuAtStart;
    this.#limits = limits;
    this.#written = written;
    this.#seenAtStart = group.seenWrittenBytes;
  }

  /**
   * Takes a sample of the group.
   * @param writtenAtStart bytes that the group had written when the command started
   */
  note({ cpuMs, memoryBytes, tasks, writtenBytes, pids }: GroupSample, writtenAtStart: number): void {
    this.#writtenAtStart ??= writtenAtStart;
    // A shared sample may have been started before the command.
    this.#cpuMs = Math.max(0, cpuMs - (this.#cpuAtStart ?? cpuMs));
    this.#peakMemoryBytes = Math.max(this.#peakMemoryBytes ?? 0, memoryBytes);
    this.#peakTasks = Math.max(this.#peakTasks ?? 0, tasks);
    this.#writtenBytes = Math.max(this.#minWrittenBytes, writtenBytes - this.#writtenAtStart);
    this.#earlierPids = this.#lastPids;
    this.#lastPids = pids;
  }

  /** Records that the kernel has enforced a memory limit at this use. */
  notePeakMemory(bytes: number): void {
    this.#peakMemoryBytes = Math.max(this.#peakMemoryBytes ?? 0, bytes);
  }

  /** Records a lower bound of the bytes written; undefined when it is not known. */
  noteWritten(bytes: number | undefined): void {
    if (bytes === undefined) return;
    this.#minWrittenBytes = Math.max(0, bytes);
    this.#writtenBytes = Math.max(this.#writtenBytes ?? 0, bytes);
  }

  /** Stops measuring. */
  end(): void {
    // A command that was sampled before is sampled once more: the last sample may be old.
    if (this.#group && this.#writtenAtStart !== undefined) {
      const sample = this.#group.sampleNow();
      if (sample) this.note(sample, this.#writtenAtStart);
    } else this.#noteOwnBytes();
    const now = this.#group?.cpuMs();
    if (now !== undefined && this.#cpuAtStart !== undefined) this.#cpuMs = Math.max(0, now - this.#cpuAtStart);
    this.#group = undefined;
  }

  /** For a command without any sample. */
  #noteOwnBytes(): void {
    const now = this.#written?.now();
    if (!this.#group || !this.#written || now === undefined) return;
    const bytes = now - this.#written.atStart;
    const { disk_mb: limitMb = Infinity } = this.#limits;
    // The shell may have waited meanwhile for a background process whose bytes were counted before.
    const sample = bytes > limitMb * MB ? this.#group.sampleNow() : undefined;
    this.noteWritten(sample ? Math.min(bytes, sample.writtenBytes - this.#seenAtStart) : bytes);
  }
}

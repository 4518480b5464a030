import { CpuWindow } from '../../core/usage-counters.js';
import type { KernelActions, Usage } from '../../core/limit-judge.js';
import { MB } from '../../core/limits.js';
import type { Command } from '../../engine/command/command.js';
import type { Counts, LimitTarget } from '../../engine/command/resource-use.js';
import type { GroupSample } from '../../engine/limits/mechanism.js';
import type { ProcessSnapshot } from '../../engine/process/process-snapshot.js';

/** Bytes written between two samples up to which a process is not considered the cause of a full disk. */
const WRITER_BYTES = MB;

/** A sample of the processes of a target, and what it says about their resource usage. */
export interface Observation {
  readonly sample: GroupSample;
  readonly running: Command | undefined;
  /** Usage since something began to run, or since processes were last ended for a limit. */
  readonly usage: Usage & Counts;
  /** Usage since the start of the running command. */
  readonly commandUsage: Usage;
  /** Percent of one core since the last sample. */
  readonly cpuPercent: number;
  /** Since the last sample. */
  readonly kernel: KernelActions;
  /** Whether the processes have written more than a little since the last sample. */
  readonly isWriting: boolean;
  /** Whether they have used nothing since the last sample. */
  readonly isStill: boolean;
}

/** Samples the processes of a target, and keeps the counts from which on CPU time and bytes written count. */
export class LimitSampler {
  readonly #target: LimitTarget;
  readonly #window: CpuWindow;
  #group: LimitTarget['group'];
  /** Start of the counts: that of the next command to be sampled, or the next sample. */
  #since: Counts | 'command' | 'sample' = 'command';
  #last: GroupSample | undefined;

  constructor(target: LimitTarget, cpuWindowMs: number) {
    this.#target = target;
    this.#group = target.group;
    this.#window = new CpuWindow(cpuWindowMs);
  }

  observe(snapshot: ProcessSnapshot): Observation {
    if (this.#group !== this.#target.group) this.#changeGroup();
    const sample = this.#group.sample(snapshot);
    const { numbers, running } = this.#target;
    numbers.note(sample.pids);
    const commandSince = running?.meter.note(sample) ?? sample;
    const since = this.#startOfPeriod(sample, commandSince);
    // Usage of a command that ends before it is sampled must not count against the next command.
    this.#since = running || this.hasOthers(sample.pids) ? since : 'command';
    this.#window.push(performance.now(), sample.cpuMs);
    const isWriting = sample.writtenBytes - (this.#last ?? since).writtenBytes > WRITER_BYTES;
    const isStill = this.#last !== undefined && isSame(sample, this.#last);
    this.#last = sample;
    const kernel = this.#group.takeKernelActions();
    running?.meter.noteKernel(kernel);
    return {
      sample,
      running,
      usage: this.#usageSince(since, sample),
      commandUsage: this.#usageSince(commandSince, sample),
      cpuPercent: this.#window.latest ?? 0,
      kernel,
      isWriting,
      isStill,
    };
  }

  #startOfPeriod(sample: GroupSample, commandSince: Counts): Counts {
    // Usage of a command between its breach and its end does not count against background jobs.
    if (this.#since === 'sample' || this.#target.running?.endReason?.breach) return sample;
    if (this.#since === 'command') return commandSince;
    // Only the shell runs: usage of processes that ended before the command does not count.
    return this.hasOthers(sample.pids) ? this.#since : laterOf(this.#since, commandSince);
  }

  /** Whether any of these processes is not the shell. */
  hasOthers(pids = this.#group.members()): boolean {
    return pids.some((pid) => !this.#target.own.includes(pid));
  }

  /** Current memory of the processes without files in memory, in MB; 0 where the kernel enforces the limit. */
  memoryNowMb(): number {
    if (this.#target.group.isKeptByKernel) return 0;
    const { memoryBytes, fileBytes = 0 } = this.#target.group.sample();
    return (memoryBytes - fileBytes) / MB;
  }

  /** Starts the counts with the next command, even if it ends before it is sampled. */
  startPeriod(): void {
    this.#since = 'command';
    this.#last = undefined;
  }

  /** Restarts the counts after processes were ended: what they have used does not count against the remaining ones. */
  restart(since: Counts | 'sample'): void {
    if (since !== 'sample') this.#window.clear();
    // What begins to run next has its own counts.
    if (this.#since !== 'command') this.#since = since;
  }

  /** The shell was replaced: its processes are different ones. */
  #changeGroup(): void {
    this.#group = this.#target.group;
    this.#window.clear();
    this.startPeriod();
  }

  #usageSince(since: Counts, { cpuMs, memoryBytes, tasks, writtenBytes }: GroupSample): Usage & Counts {
    return {
      cpuMs: cpuMs - since.cpuMs,
      cpuPercent: this.#window.percent,
      memoryBytes,
      processes: tasks,
      writtenBytes: writtenBytes - since.writtenBytes,
    };
  }
}

const isSame = (a: GroupSample, b: GroupSample): boolean =>
  a.cpuMs === b.cpuMs && a.memoryBytes === b.memoryBytes && a.tasks === b.tasks && a.writtenBytes === b.writtenBytes;

const laterOf = (some: Counts, others: Counts): Counts => ({
  cpuMs: Math.max(some.cpuMs, others.cpuMs),
  writtenBytes: Math.max(some.writtenBytes, others.writtenBytes),
});

import type { WarnedResource } from '../../core/limits/limits.js';
import type { Breach } from '../../engine/command/resource-use.js';

/** Current resource usage of a session or one-shot. */
export interface LiveUsage {
  /** Percent of one core, since the last sample. */
  readonly cpuPercent: number;
  /** CPU time since the first process started, in milliseconds. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
  /** Bytes written since the first process started. */
  readonly writtenBytes: number;
  readonly commandId: string | null;
}

/** Receives the results of a limit monitor. */
export interface LimitListener {
  /**
   * Called when a limit or a time-out is nearly reached (`warning`), or a limit was exceeded and processes were ended for it (`exceeded`).
   */
  onNear?(breach: Breach<WarnedResource>, level: 'warning' | 'exceeded', commandId: string | null): void;
  /** Called for every sample. */
  onUsage?(usage: LiveUsage): void;
  /** Called when nothing runs any more that has to be sampled. */
  onIdle?(): void;
  /**
   * Longest interval between two samples that a follower accepts, in milliseconds; undefined without followers.
   * @default () => undefined
   */
  wantedIntervalMs?(): number | undefined;
}

import type { Limits } from '../../core/limits/limits.js';
import type { Command } from './command.js';
import type { EndReason } from './outcome.js';
import type { Breach } from './resource-use.js';
import type { Processes } from '../platform/contract/processes.js';
import type { NamespacePids } from '../process/namespace-pids.js';
import type { ProcessGroup } from '../limits/mechanism.js';

/** What limits apply to: a session, or a one-shot. */
export interface LimitTarget {
  /** The current process group; replaced when the shell is replaced. */
  readonly group: ProcessGroup;
  /** Limits of the whole target. */
  readonly limits: Limits;
  /** Process ids of the shell or program, including its sandbox; empty before the start and after the end. */
  readonly own: readonly number[];
  /** The running command. */
  readonly running: Command | undefined;
  /** Since when no command runs, on the monotonic clock, in milliseconds; Infinity or undefined where that is not known. */
  readonly idleSince?: number;
  /** Namespace pids, as reported to clients. */
  readonly numbers: NamespacePids;
  readonly isEnding: Processes['isEnding'];
  /** Whether its processes are sampled: set by its monitor. */
  isMonitored?: boolean;
  /** Ends a command with all processes that it has started. */
  cancel(command: Command, reason: EndReason): void;
  /** Whether processes other than those of the shell and of the running command run. */
  hasRest(): boolean;
  /** Ends these processes; resolves when they have ended. */
  endRest(breach: Breach): Promise<void>;
  /** Ends the shell; a session starts another one. */
  endShell(breach: Breach): void;
  /** Ends the whole target. */
  endSession(breach: Breach): void;
  /** Records a breach that was enforced while no command ran whose result could report it. */
  noteBreach(breach: Breach): void;
}

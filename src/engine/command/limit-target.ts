import type { Limits } from '../../core/limits/limits.js';
import type { Command, EndReason } from './command.js';
import type { Breach } from './resource-use.js';
import type { NamespacePids } from '../process/namespace-pids.js';
import type { ProcessGroup } from '../limits/mechanism.js';

/** What limits are kept for: a session, or a one-shot command. */
export interface LimitTarget {
  /** Its processes; another group once its shell was replaced. */
  readonly group: ProcessGroup;
  /** What holds for all of it. */
  readonly limits: Limits;
  /** Process ids of its shell or program, its sandbox included; empty when that has not begun yet, or has ended. */
  readonly own: readonly number[];
  /** The command that runs in it. */
  readonly running: Command | undefined;
  /** What clients are told for process ids. */
  readonly numbers: NamespacePids;
  /** Ends a command with what it has started. */
  cancel(command: Command, reason: EndReason): void;
  /** Ends everything but the shell and what the running command has started; gives the processes that were killed. */
  endRest(breach: Breach): Promise<readonly number[]>;
  /** Ends the shell; a session gets another one. */
  endShell(breach: Breach): void;
  /** Ends all of it. */
  endSession(breach: Breach): void;
  /** A limit was kept while no command ran that could tell. */
  noteBreach(breach: Breach): void;
}

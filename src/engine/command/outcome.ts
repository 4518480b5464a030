import { constants } from 'node:os';

import type { Refusal } from '../../core/egress.js';
import type { WarningCode } from '../../core/warnings.js';
import type { ReportedProcess } from '../process/background-processes.js';
import { ENDING_MS } from '../process/ladder.js';
import { type Breach, type Kill, peakOf, type ResourceUse } from './resource-use.js';

/** Reason for ending a command early. */
export interface EndReason {
  readonly status: 'timed_out' | 'interrupted' | 'killed';
  readonly killedBy: 'timeout' | 'signal' | 'client' | 'shutdown' | 'cpu' | 'memory' | 'processes' | 'disk';
  /** The exceeded limit, if that is the reason. */
  readonly breach?: Breach;
}

/** A note on a result: a stable code and a sentence. */
export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
}

/** The warning of a result whose background processes are not known, because the search has failed. */
export const unlisted = (error: unknown): Warning => ({
  code: 'PROCESSES_UNKNOWN',
  message: `What the command has left running is not known: ${(error as Error).message}`,
});

/** Result of an ended command. */
export interface CommandOutcome {
  readonly exitCode: number;
  /** Name of the signal that the exit code stands for. */
  readonly signal: string | null;
  readonly status: 'completed' | 'timed_out' | 'interrupted' | 'killed';
  readonly killedBy: EndReason['killedBy'] | null;
  readonly durationMs: number;
  /** The limit for which the command was killed. */
  readonly breach: Breach | null;
  /** Processes that were killed for the limit; processes killed by the kernel are included as far as they are known. */
  readonly killedPids: readonly number[];
  readonly use: ResourceUse;
  readonly sessionState: 'alive' | 'restarted' | 'closed' | null;
  readonly workingDirectory: string | null;
  readonly backgroundProcesses: readonly ReportedProcess[];
  readonly survivors: readonly ReportedProcess[];
  readonly warnings: readonly Warning[];
}

/** Returns the kill of a command; undefined when it was not killed for a limit. */
export const killOf = ({
  breach,
  killedPids,
  use,
}: Pick<CommandOutcome, 'breach' | 'killedPids' | 'use'>): Kill | undefined =>
  breach ? { breach, killedPids, peak: peakOf(breach, use) } : undefined;

/** Facts that the engine has when a command's shell or process has ended. */
export interface CommandEnd {
  /** Exit code in shell notation: 128+n for signal n. */
  readonly exitCode: number;
  readonly sessionState: CommandOutcome['sessionState'];
  readonly workingDirectory: string | null;
  readonly backgroundProcesses?: readonly ReportedProcess[];
  readonly survivors?: readonly ReportedProcess[];
  readonly warnings?: readonly Warning[];
}

/** Exit code of a command that has timed out, as in timeout(1). */
const TIMED_OUT_EXIT_CODE = 124;
/** Exit code of a command that was ended for another limit, whatever its own code is: that of SIGKILL. */
const LIMIT_EXIT_CODE = 137;
const SIGNAL_EXIT_BASE = 128;

/**
 * Returns the grace period between SIGTERM and SIGKILL for a reason, in milliseconds; 0 for an exceeded limit, because
 * the command harms others meanwhile.
 */
export function graceFor({ killedBy, breach }: EndReason, killGraceMs: number): number {
  if (breach) return 0;
  return killedBy === 'shutdown' ? Math.min(killGraceMs, ENDING_MS.shutdownGrace) : killGraceMs;
}

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** Returns the name of the signal for an exit code above 128 in shell notation. */
export const signalOfExitCode = (exitCode: number): string | null =>
  SIGNAL_NAMES.get(exitCode - SIGNAL_EXIT_BASE) ?? null;

/** Returns the exit code that shells report for a program ended by a signal. */
export const exitCodeOfSignal = (signal: NodeJS.Signals): number => SIGNAL_EXIT_BASE + constants.signals[signal];

/** How a command has ended, by the reason for which it was ended. */
type HowEnded = Pick<CommandOutcome, 'status' | 'killedBy' | 'breach'>;

/** Returns how a command has ended; without a reason it has completed. */
export const howEnded = (reason: EndReason | undefined): HowEnded =>
  reason
    ? { status: reason.status, killedBy: reason.killedBy, breach: reason.breach ?? null }
    : { status: 'completed', killedBy: null, breach: null };

/** Returns the exit code of a result: its own one, unless the command was ended for a time-out or a limit. */
export function reportedExitCode({ status, breach }: HowEnded, exitCode: number): number {
  if (status === 'timed_out') return TIMED_OUT_EXIT_CODE;
  return breach ? LIMIT_EXIT_CODE : exitCode;
}

/** Most different refusals that a result shows. */
const MAX_SHOWN = 20;

/** The connections of a command that the allow-list of its sandbox has refused. */
export class RefusedConnections {
  readonly #counts = new Map<string, number>();
  #others = 0;

  /** Counts a refusal; returns how often it has occurred now, or undefined when there are too many different ones. */
  add({ message }: Refusal): number | undefined {
    const count = (this.#counts.get(message) ?? 0) + 1;
    if (count === 1 && this.#counts.size === MAX_SHOWN) {
      this.#others += 1;
      return undefined;
    }
    this.#counts.set(message, count);
    return count;
  }

  /** A warning for each, with how often it has occurred. */
  get warnings(): Warning[] {
    const shown = [...this.#counts].map(([message, count]) =>
      refusalWarning(count === 1 ? message : `${message} This happened ${count} times.`),
    );
    return this.#others === 0
      ? shown
      : [...shown, refusalWarning(`${this.#others} more connections to other destinations were refused.`)];
  }
}

/** The warning of a refused connection. */
export const refusalWarning = (message: string): Warning => ({ code: 'EGRESS_REFUSED', message });

import { constants } from 'node:os';

import { NO_METRICS, type OutputMeters } from '../../core/metrics/metrics.js';
import type { OutputLimits } from '../../core/output/output-window.js';
import type { SignalName } from '../../core/signals.js';
import type { Limits } from '../../core/limits/limits.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import { CommandLifecycle, type EndStep } from './lifecycle.js';
import type { Refusal } from '../../core/egress/refusal.js';
import { exceededWarning } from './limit-warnings.js';
import { RefusedConnections } from './refused-connections.js';
import { OutputStream, type OutputStreamOptions } from '../output/output-stream.js';
import type { ReportedProcess } from '../process/reported-process.js';
import { type Breach, type Kill, peakOf, type ResourceUse, UseMeter } from './resource-use.js';
import type { Shell } from '../shells/shell.js';
import type { StdinPipe } from '../output/stdin-pipe.js';

/** A command to run, after all checks. */
export interface CommandSpec {
  readonly id: string;
  /** Shell text; with `args`, the name of a program. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string | undefined;
  /** Standard input that is fed while the command runs; replaces `stdin`. */
  readonly stdinPipe?: StdinPipe | undefined;
  readonly timeoutMs: number;
  readonly noOutputTimeoutMs?: number | undefined;
  /**
   * One-shots only: how long the command may go on after the last reader of its stdout is gone, in milliseconds.
   * @default unlimited
   */
  readonly closedOutputTimeoutMs?: number | undefined;
  readonly tty: boolean;
  /**
   * Whether stderr is written to the pipe of stdout.
   * @default false
   */
  readonly isMerged?: boolean | undefined;
  /**
   * Sandbox profile of a one-shot.
   * @default the configured profile
   */
  readonly sandbox?: SandboxProfile | undefined;
  readonly limits: OutputLimits;
  /** Limits of this command, stricter than those of the session. */
  readonly resourceLimits?: Limits | undefined;
}

/** Reason for ending a command early. */
export interface EndReason {
  readonly status: 'timed_out' | 'interrupted' | 'killed';
  readonly killedBy: 'timeout' | 'signal' | 'client' | 'shutdown' | 'cpu' | 'memory' | 'processes' | 'disk';
  /** The exceeded limit, if that is the reason. */
  readonly breach?: Breach;
}

/** A note on a result: a stable code and a sentence. */
export interface Warning {
  readonly code: string;
  readonly message: string;
}

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

/** Signals that a client sends to end a command. */
export const ENDING_SIGNALS: ReadonlySet<SignalName> = new Set(['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGHUP', 'SIGQUIT']);

/** Longest grace period when the daemon shuts down, in milliseconds. */
const SHUTDOWN_GRACE_MS = 1000;

/**
 * Returns the grace period between SIGTERM and SIGKILL for a reason, in milliseconds; 0 for an exceeded limit, because
 * the command harms others meanwhile.
 */
export function graceFor({ killedBy, breach }: EndReason, killGraceMs: number): number {
  if (breach) return 0;
  return killedBy === 'shutdown' ? Math.min(killGraceMs, SHUTDOWN_GRACE_MS) : killGraceMs;
}

/** Words of commands that may end the shell without notice to its driver. */
const MAY_END_SHELL = /exec|kill|-e|errexit|source|\. /;

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** Returns the name of the signal for an exit code above 128 in shell notation. */
const signalOfExitCode = (exitCode: number): string | null => SIGNAL_NAMES.get(exitCode - SIGNAL_EXIT_BASE) ?? null;

/** Returns the exit code that shells report for a program ended by a signal. */
export const exitCodeOfSignal = (signal: NodeJS.Signals): number => SIGNAL_EXIT_BASE + constants.signals[signal];

/** Where the outputs of a command are kept, counted and masked. */
export interface CommandOutputOptions extends OutputStreamOptions {
  /**
   * Count the bytes of the outputs.
   * @default not counted
   */
  readonly meters?: OutputMeters;
}

type HowEnded = Pick<CommandOutcome, 'status' | 'killedBy' | 'breach'>;

const howEnded = (reason: EndReason | undefined): HowEnded =>
  reason
    ? { status: reason.status, killedBy: reason.killedBy, breach: reason.breach ?? null }
    : { status: 'completed', killedBy: null, breach: null };

/** Returns the exit code of a result: its own one, unless the command was ended for a time-out or a limit. */
function reportedExitCode({ status, breach }: HowEnded, exitCode: number): number {
  if (status === 'timed_out') return TIMED_OUT_EXIT_CODE;
  return breach ? LIMIT_EXIT_CODE : exitCode;
}

/** One command with its outputs and its result, from admission on. */
export class Command {
  readonly spec: CommandSpec;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly lifecycle = new CommandLifecycle<CommandOutcome>();
  /** Calendar time of the admission. */
  readonly acceptedAt = new Date();
  readonly meter = new UseMeter();
  /** Called for each connection of the command that the allow-list of its sandbox has refused. */
  onRefused: (refusal: Refusal) => void = () => undefined;
  /** Number of these connections. */
  refusedConnections = 0;
  readonly #refused = new RefusedConnections();
  readonly #killed = new Set<number>();
  #startedAt: number | undefined;
  #startDate: Date | undefined;
  #endDate: Date | undefined;
  #outcome: CommandOutcome | undefined;
  #endReason: EndReason | undefined;
  #sentSignal: SignalName | undefined;

  constructor(spec: CommandSpec, options: CommandOutputOptions) {
    const { meters = NO_METRICS.output } = options;
    this.spec = spec;
    this.stdout = new OutputStream(spec.limits, options, meters.stdout);
    this.stderr = new OutputStream(spec.limits, options, meters.stderr);
  }

  /** Where the adapter itself writes why the command does not run. */
  get errors(): OutputStream {
    return this.spec.isMerged ? this.stdout : this.stderr;
  }

  /** Resolves when the command has ended and its result is final; never rejects. */
  get finished(): Promise<CommandOutcome> {
    return this.lifecycle.finished;
  }

  /** Adds what happens at the end of the command. */
  atEnd(step: EndStep, run: (outcome: CommandOutcome) => void): void {
    this.lifecycle.atEnd(step, run);
  }

  /** Id that the client has chosen, or that was made for it. */
  get id(): string {
    return this.spec.id;
  }

  /**
   * Returns the text for a shell: a program with arguments is quoted word by word.
   * @param quote quotes a word for the shell
   */
  textFor({ quote, run = (words) => words.map(quote).join(' ') }: Pick<Shell, 'quote' | 'run'>): string {
    const { command, args } = this.spec;
    return args ? run([command, ...args]) : command;
  }

  /** Whether the shell's state must be saved before the command runs; otherwise it is saved during pauses. */
  get mayEndShell(): boolean {
    return MAY_END_SHELL.test(this.spec.command);
  }

  /** Whether the command is likely to change the terminal's modes. */
  get mayDisturbTerminal(): boolean {
    return /\bstty\b|\breset\b/.test(this.spec.command);
  }

  /** The result; undefined while the command is queued or runs. */
  get outcome(): CommandOutcome | undefined {
    return this.#outcome;
  }

  /** Whether the command has left the queue. */
  get hasStarted(): boolean {
    return this.lifecycle.has('started');
  }

  /** The reason for ending the command, once that is decided. */
  get endReason(): EndReason | undefined {
    return this.#endReason;
  }

  /** Calendar time of the start; undefined before, and when it never ran. */
  get startedAt(): Date | undefined {
    return this.#startDate;
  }

  /** Calendar time of the end; undefined before. */
  get endedAt(): Date | undefined {
    return this.#endDate;
  }

  /** Time since the start, in milliseconds; 0 before. */
  get ageMs(): number {
    return this.#startedAt === undefined ? 0 : performance.now() - this.#startedAt;
  }

  /** Marks the start: the command has left the queue. */
  start(): void {
    this.lifecycle.enter('started');
    this.#startedAt = performance.now();
    this.#startDate = new Date();
  }

  /**
   * Records why the command is to end. Only the first reason counts; returns false when there is one already, or the
   * command has ended.
   */
  requestEnd(reason: EndReason): boolean {
    if (this.#endReason || this.#outcome) return false;
    this.#endReason = reason;
    return true;
  }

  /** Records processes that were killed to enforce a limit. */
  noteKilled(pids: Iterable<number>): void {
    for (const pid of pids) this.#killed.add(pid);
  }

  /**
   * Records a signal that a client sent, to distinguish an interrupted command from one that ended with the same signal
   * on its own.
   */
  noteSignal(signal: SignalName): void {
    this.#sentSignal = signal;
  }

  /** Records a connection that the allow-list of its sandbox has refused. */
  readonly noteRefused = (refusal: Refusal): void => {
    this.refusedConnections += 1;
    this.#refused.add(refusal);
    this.onRefused(refusal);
  };

  /** Settles the command; idempotent. */
  finish(end: CommandEnd): void {
    if (this.#outcome) return;
    this.#endDate = new Date();
    this.stdout.end();
    this.stderr.end();
    this.spec.stdinPipe?.close();
    const exceeded = this.meter.end();
    const how = howEnded(this.#endReason ?? this.#reasonBySignal(end.exitCode));
    const exitCode = reportedExitCode(how, end.exitCode);
    const { backgroundProcesses = [], survivors = [], warnings = [] } = end;
    this.#outcome = {
      exitCode,
      signal: how.status === 'timed_out' ? null : signalOfExitCode(exitCode),
      status: how.status,
      killedBy: how.killedBy,
      durationMs: this.ageMs,
      breach: how.breach,
      killedPids: how.breach ? [...this.#killed] : [],
      use: this.meter.use,
      sessionState: end.sessionState,
      workingDirectory: end.workingDirectory,
      backgroundProcesses,
      survivors,
      // A limit for which the command was ended is reported as such.
      warnings: [...warnings, ...this.#refused.warnings, ...(how.breach ? [] : exceeded.map(exceededWarning))],
    };
    this.lifecycle.settle(this.#outcome);
  }

  #reasonBySignal(exitCode: number): EndReason | undefined {
    if (!this.#sentSignal || signalOfExitCode(exitCode) !== this.#sentSignal) return undefined;
    return { status: this.#sentSignal === 'SIGINT' ? 'interrupted' : 'killed', killedBy: 'signal' };
  }
}

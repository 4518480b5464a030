import { constants } from 'node:os';

import { NO_METRICS, type OutputMeters } from '../../core/metrics/metrics.js';
import type { OutputLimits } from '../../core/output/output-window.js';
import type { SignalName } from '../../core/signals.js';
import type { Limits } from '../../core/limits/limits.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import { exceededWarning } from './limit-warnings.js';
import { OutputStream } from '../output/output-stream.js';
import type { ReportedProcess } from '../process/process-tree.js';
import { type Breach, type Kill, peakOf, type ResourceUse, UseMeter } from './resource-use.js';
import { quote } from '../shells/shell.js';
import type { SpoolBudget } from '../output/spool.js';
import type { StdinPipe } from '../output/stdin-pipe.js';

/** What is to be run, after every check. */
export interface CommandSpec {
  readonly id: string;
  /** Shell text, or with `args` a program. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string | undefined;
  /** Standard input that is fed while the command runs, in place of `stdin`. */
  readonly stdinPipe?: StdinPipe | undefined;
  readonly timeoutMs: number;
  readonly noOutputTimeoutMs?: number | undefined;
  /** Of a one-shot: how long it may go on when nobody can write to its stdout any more; undefined for as long as it likes. */
  readonly closedOutputTimeoutMs?: number | undefined;
  readonly tty: boolean;
  /** Of a command without a session; by default what the configuration says. */
  readonly sandbox?: SandboxProfile | undefined;
  readonly limits: OutputLimits;
  /** Stricter than those of the session. */
  readonly resourceLimits?: Limits | undefined;
}

/** Why a command is ended before its time. */
export interface EndReason {
  readonly status: 'timed_out' | 'interrupted' | 'killed';
  readonly killedBy: 'timeout' | 'signal' | 'client' | 'shutdown' | 'cpu' | 'memory' | 'processes' | 'disk';
  /** The limit, if it was one. */
  readonly breach?: Breach;
}

/** A note on a result: a stable code and a sentence. */
export interface Warning {
  readonly code: string;
  readonly message: string;
}

/** How a command ended. */
export interface CommandOutcome {
  readonly exitCode: number;
  /** Name of the signal that the exit code stands for. */
  readonly signal: string | null;
  readonly status: 'completed' | 'timed_out' | 'interrupted' | 'killed';
  readonly killedBy: EndReason['killedBy'] | null;
  readonly durationMs: number;
  /** The limit that it was killed for. */
  readonly breach: Breach | null;
  /** Processes that were killed for it; those that the kernel killed by itself as far as they are known. */
  readonly killedPids: readonly number[];
  readonly use: ResourceUse;
  readonly sessionState: 'alive' | 'restarted' | 'closed' | null;
  readonly workingDirectory: string | null;
  readonly backgroundProcesses: readonly ReportedProcess[];
  readonly survivors: readonly ReportedProcess[];
  readonly warnings: readonly Warning[];
}

/** What a command was killed for; undefined when it was not killed for a limit. */
export const killOf = ({ breach, killedPids, use }: CommandOutcome): Kill | undefined =>
  breach ? { breach, killedPids, peak: peakOf(breach, use) } : undefined;

/** What the engine knows when a command's shell or process has ended. */
export interface CommandEnd {
  /** As the shell counts: 128+n for signal n. */
  readonly exitCode: number;
  readonly sessionState: CommandOutcome['sessionState'];
  readonly workingDirectory: string | null;
  readonly backgroundProcesses?: readonly ReportedProcess[];
  readonly survivors?: readonly ReportedProcess[];
  readonly warnings?: readonly Warning[];
}

/** Exit code of a command that was ended for its time, as timeout(1) gives. */
const TIMED_OUT_EXIT_CODE = 124;
/** Exit code of a command that was ended for another limit, whatever it has made of that: that of SIGKILL. */
const LIMIT_EXIT_CODE = 137;
const SIGNAL_EXIT_BASE = 128;

/** Signals that a client sends to end a command. */
export const ENDING_SIGNALS: ReadonlySet<SignalName> = new Set(['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGHUP', 'SIGQUIT']);

/** Time between SIGTERM and SIGKILL when the daemon itself has to be gone soon. */
const SHUTDOWN_GRACE_MS = 1000;

/** Time between SIGTERM and SIGKILL for what is ended for this reason, in milliseconds: none for what harms others meanwhile. */
export function graceFor({ killedBy, breach }: EndReason, killGraceMs: number): number {
  if (breach) return 0;
  return killedBy === 'shutdown' ? Math.min(killGraceMs, SHUTDOWN_GRACE_MS) : killGraceMs;
}

/** Words of commands that may end the shell without its driver's knowing. */
const MAY_END_SHELL = /exec|kill|-e|errexit|source|\. /;

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** Name of the signal that an exit code above 128 stands for, as shells count. */
const signalOfExitCode = (exitCode: number): string | null => SIGNAL_NAMES.get(exitCode - SIGNAL_EXIT_BASE) ?? null;

/** Exit code that shells give for a program ended by a signal. */
export const exitCodeOfSignal = (signal: NodeJS.Signals): number => SIGNAL_EXIT_BASE + constants.signals[signal];

/** One command, from the moment it is accepted: its outputs, its end. */
export class Command {
  readonly spec: CommandSpec;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Resolves when the command has ended; never rejects. */
  readonly finished: Promise<CommandOutcome>;
  /** When it was accepted, on the monotonic clock and by the calendar. */
  readonly acceptedAt = new Date();
  readonly meter = new UseMeter();
  readonly #killed = new Set<number>();
  #startedAt: number | undefined;
  #outcome: CommandOutcome | undefined;
  #endReason: EndReason | undefined;
  #sentSignal: SignalName | undefined;
  #resolve!: (outcome: CommandOutcome) => void;

  /**
   * @param meters count the bytes of its outputs; by default nobody does
   * @param secrets are masked in its outputs, see `patternsOf`; by default none
   */
  constructor(
    spec: CommandSpec,
    spoolDirectory: string,
    budget: SpoolBudget,
    meters: OutputMeters = NO_METRICS.output,
    secrets: readonly string[] = [],
  ) {
    this.spec = spec;
    this.stdout = new OutputStream(spec.limits, spoolDirectory, budget, meters.stdout, secrets);
    this.stderr = new OutputStream(spec.limits, spoolDirectory, budget, meters.stderr, secrets);
    this.finished = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get id(): string {
    return this.spec.id;
  }

  /** What a shell is to read: a program with arguments is quoted word by word. */
  get shellText(): string {
    const { command, args } = this.spec;
    return args ? [command, ...args].map(quote).join(' ') : command;
  }

  /** Whether the shell's state is to be saved before it runs; at other times that is done in pauses. */
  get mayEndShell(): boolean {
    return MAY_END_SHELL.test(this.spec.command);
  }

  /** Whether it is likely to leave the terminal in other modes. */
  get mayDisturbTerminal(): boolean {
    return /\bstty\b|\breset\b/.test(this.spec.command);
  }

  /** Undefined while it runs or waits. */
  get outcome(): CommandOutcome | undefined {
    return this.#outcome;
  }

  /** Whether it has left the queue. */
  get hasStarted(): boolean {
    return this.#startedAt !== undefined;
  }

  /** Why it is being ended, once that is decided. */
  get endReason(): EndReason | undefined {
    return this.#endReason;
  }

  /** Time since its start, in milliseconds. */
  get ageMs(): number {
    return this.#startedAt === undefined ? 0 : performance.now() - this.#startedAt;
  }

  start(): void {
    this.#startedAt = performance.now();
  }

  /** Notes why it is to end. The first reason wins; false when there is one already, or it has ended. */
  requestEnd(reason: EndReason): boolean {
    if (this.#endReason || this.#outcome) return false;
    this.#endReason = reason;
    return true;
  }

  /** Notes processes that were killed to keep a limit. */
  noteKilled(pids: Iterable<number>): void {
    for (const pid of pids) this.#killed.add(pid);
  }

  /** Notes a signal that a client sent, to tell an interrupted command from one that ended so by itself. */
  noteSignal(signal: SignalName): void {
    this.#sentSignal = signal;
  }

  /** Settles the command; later calls are ignored. */
  finish(end: CommandEnd): void {
    if (this.#outcome) return;
    this.stdout.end();
    this.stderr.end();
    this.spec.stdinPipe?.close();
    this.meter.end();
    const reason = this.#endReason ?? this.#reasonBySignal(end.exitCode);
    const isTimedOut = reason?.status === 'timed_out';
    const exitCode = isTimedOut ? TIMED_OUT_EXIT_CODE : reason?.breach ? LIMIT_EXIT_CODE : end.exitCode;
    this.#outcome = {
      exitCode,
      signal: isTimedOut ? null : signalOfExitCode(exitCode),
      status: reason?.status ?? 'completed',
      killedBy: reason?.killedBy ?? null,
      durationMs: this.ageMs,
      breach: reason?.breach ?? null,
      killedPids: reason?.breach ? [...this.#killed] : [],
      use: this.meter.use,
      sessionState: end.sessionState,
      workingDirectory: end.workingDirectory,
      backgroundProcesses: end.backgroundProcesses ?? [],
      survivors: end.survivors ?? [],
      warnings: [...(end.warnings ?? []), ...(reason?.breach ? [] : this.meter.exceeded.map(exceededWarning))],
    };
    this.#resolve(this.#outcome);
  }

  #reasonBySignal(exitCode: number): EndReason | undefined {
    if (!this.#sentSignal || signalOfExitCode(exitCode) !== this.#sentSignal) return undefined;
    return { status: this.#sentSignal === 'SIGINT' ? 'interrupted' : 'killed', killedBy: 'signal' };
  }
}

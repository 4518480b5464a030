import type { Refusal } from '../../core/egress/refusal.js';
import { NO_METRICS, type OutputMeters } from '../../core/metrics/metrics.js';
import type { SignalName } from '../../core/signals.js';
import { OutputStream, type OutputStreamOptions } from '../output/output-stream.js';
import type { Shell } from '../shells/shell.js';
import type { CommandSpec } from './command-spec.js';
import { CommandLifecycle, type EndStep } from './lifecycle.js';
import { exceededWarning } from './limit-warnings.js';
import {
  type CommandEnd,
  type CommandOutcome,
  type EndReason,
  howEnded,
  reportedExitCode,
  signalOfExitCode,
} from './outcome.js';
import { RefusedConnections } from './refused-connections.js';
import { UseMeter } from './resource-use.js';

/** Signals that a client sends to end a command. */
export const ENDING_SIGNALS: ReadonlySet<SignalName> = new Set(['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGHUP', 'SIGQUIT']);

/** Words of commands that may end the shell without notice to its driver. */
const MAY_END_SHELL = /exec|kill|-e|errexit|source|\. /;

/** Where the outputs of a command are kept, counted and masked. */
export interface CommandOutputOptions extends OutputStreamOptions {
  /**
   * Count the bytes of the outputs.
   * @default not counted
   */
  readonly meters?: OutputMeters;
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
  atEnd(step: EndStep, run: (outcome: CommandOutcome) => void): () => void {
    return this.lifecycle.atEnd(step, run);
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

  /** The unfinished last line of its output, as a question is one. */
  get prompt(): string {
    return this.stderr.prompt() || this.stdout.prompt();
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

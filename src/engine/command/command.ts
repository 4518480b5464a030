import type { Refusal } from '../../core/egress.js';
import type { Limits } from '../../core/limits.js';
import type { Metrics } from '../../core/metrics.js';
import type { OutputLimits } from '../../core/output/output-window.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import type { SignalName } from '../../core/signals.js';
import { OutputStream, type OutputStreamOptions } from '../output/output-stream.js';
import type { StdinPipe } from '../output/stdin-pipe.js';
import type { Shell } from '../shells/shell.js';
import { exceededWarning, UseMeter } from './resource-use.js';
import {
  type CommandEnd,
  type CommandOutcome,
  type EndReason,
  howEnded,
  RefusedConnections,
  reportedExitCode,
  signalOfExitCode,
} from './outcome.js';

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
  /**
   * Whether it is the daemon's own, and not counted among the commands that run.
   * @default false
   */
  readonly isInternal?: boolean | undefined;
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

/**
 * Phases of a command, in order:
 * - accepted: it has an id, and is counted
 * - started: it has left the queue of its session, or its process is being started
 * - reported: its shell has reported the exit code, or its shell or process has ended
 * - settled: its output is read and its result is final
 * - published: everything that follows from the result is done
 */
export const PHASES = ['accepted', 'started', 'reported', 'settled', 'published'] as const;
/** The name of a phase. */
type CommandPhase = (typeof PHASES)[number];

/**
 * Everything that happens when a command has settled, in this order. A request that waits for the command is answered
 * at `answer`. No caller waits for later steps: they run in the next turn of the event loop, before further requests.
 */
export const END_STEPS = [
  // Resource limits: the next command starts with new counts.
  'limits',
  // Output that is paused for a slow client goes on.
  'backpressure',
  // A streamed standard input closes, and a one-shot no longer counts against its quota.
  'release',
  // Followers of the session get `command_finished`.
  'event',
  'answer',
  'metrics',
  'audit',
  // The session's idle time starts, and its health is examined.
  'session',
  // A session whose time is up is closed.
  'deadline',
  // Output of background jobs is sent as events: no result contains it any more.
  'late_output',
  // Old results make room.
  'retention',
] as const;
/** The name of a step. */
type EndStep = (typeof END_STEPS)[number];

const ANSWER = END_STEPS.indexOf('answer');

type EndHandler<Outcome> = (outcome: Outcome) => void;

/** The phase of one command, and what happens at its end. `Outcome` is the result of a command. */
export class CommandLifecycle<Outcome> {
  /** Resolves at the step `answer`; never rejects. */
  readonly finished: Promise<Outcome>;
  #phase = 0;
  /** By step. */
  readonly #handlers: (EndHandler<Outcome>[] | undefined)[] = [];
  #resolve!: (outcome: Outcome) => void;

  constructor() {
    this.finished = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** The current phase. */
  get phase(): CommandPhase {
    return PHASES[this.#phase] ?? 'published';
  }

  /** Whether the command has reached a phase, or a later one. */
  has(phase: CommandPhase): boolean {
    return this.#phase >= PHASES.indexOf(phase);
  }

  /** Enters a phase; one that was reached already is not entered again. */
  enter(phase: CommandPhase): void {
    this.#phase = Math.max(this.#phase, PHASES.indexOf(phase));
  }

  /**
   * Adds what happens at the end of the command; handlers of one step run in the order in which they were added.
   * @returns a function that takes it back
   */
  atEnd(step: EndStep, run: EndHandler<Outcome>): () => void {
    const index = END_STEPS.indexOf(step);
    const handlers = (this.#handlers[index] ??= []);
    handlers.push(run);
    return () => {
      const at = handlers.indexOf(run);
      if (at !== -1) handlers.splice(at, 1);
    };
  }

  /** Settles the command: runs the steps up to the answer, and the others in the next turn of the event loop. */
  settle(outcome: Outcome): void {
    this.enter('settled');
    this.#run(outcome, 0, ANSWER);
    this.#resolve(outcome);
    setImmediate(() => {
      this.#run(outcome, 0, END_STEPS.length);
      this.enter('published');
    });
  }

  #run(outcome: Outcome, from: number, to: number): void {
    for (let step = from; step < to; step += 1) {
      const handlers = this.#handlers[step];
      this.#handlers[step] = undefined;
      // A handler may take another one back.
      for (const run of [...(handlers ?? [])]) {
        try {
          run(outcome);
        } catch (error) {
          // The command is still answered. The daemon logs and counts the error as an uncaught one.
          setImmediate(() => {
            throw error;
          });
        }
      }
    }
  }
}

/** Signals that a client sends to end a command. */
export const ENDING_SIGNALS: ReadonlySet<SignalName> = new Set(['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGHUP', 'SIGQUIT']);

/** Words of commands that may end the shell without notice to its driver. */
const MAY_END_SHELL = /exec|kill|-e|errexit|source|\. /;

/** Where the outputs of a command are kept, counted and masked. */
export interface CommandOutputOptions extends OutputStreamOptions {
  /**
   * Counts the bytes of the outputs.
   * @default not counted
   */
  readonly metrics?: Metrics;
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
  /** How often it was sent to a shell: again where the first one ended before it had begun the command. */
  starts = 0;
  #startedAt: number | undefined;
  #startDate: Date | undefined;
  #endDate: Date | undefined;
  #outcome: CommandOutcome | undefined;
  #endReason: EndReason | undefined;
  #sentSignal: SignalName | undefined;

  constructor(spec: CommandSpec, options: CommandOutputOptions) {
    const { metrics } = options;
    this.spec = spec;
    this.stdout = new OutputStream(spec.limits, options, (bytes) => {
      metrics?.count('output_bytes_total', { stream: 'stdout' }, bytes);
    });
    this.stderr = new OutputStream(spec.limits, options, (bytes) => {
      metrics?.count('output_bytes_total', { stream: 'stderr' }, bytes);
    });
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
    this.starts += 1;
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

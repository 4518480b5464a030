import { CONFIRMATION_MODES, type ConfirmationMode } from '../../../core/confirmation/modes.js';
import { CONFIRMATION_OUTCOMES, type ConfirmationOutcome } from '../../../core/confirmation/record.js';
import { type Resource, RESOURCES } from '../../../core/limits/limits.js';
import {
  COMMAND_ENDS,
  COMMAND_KINDS,
  type CommandEndStatus,
  type CommandKind,
  type OutputMeters,
} from '../../../core/metrics/metrics.js';
import { type Count, each, type Instruments, type TakeTime } from './instruments.js';

/** In seconds: from shell builtins to the longest default run time of a command. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600];

/** Metrics of commands: how they end, what they use and print, and their confirmations. */
export class CommandMetrics {
  readonly output: OutputMeters;
  readonly #finished: Readonly<Record<CommandKind, Readonly<Record<CommandEndStatus, Count>>>>;
  readonly #times: Readonly<Record<CommandKind, TakeTime>>;
  readonly #cpuSeconds: Count;
  readonly #exceeded: Readonly<Record<Resource, Count>>;
  readonly #confirmed: Readonly<Record<ConfirmationMode, Readonly<Record<ConfirmationOutcome, Count>>>>;

  constructor(instruments: Instruments) {
    const finished = instruments.counter(
      'commands_finished_total',
      'Commands that have ended, by the status of their result.',
      ['kind', 'status'],
    );
    this.#finished = each(COMMAND_KINDS, (kind) =>
      each(COMMAND_ENDS, (status) => instruments.bind(finished, { kind, status })),
    );
    const seconds = instruments.histogram('command_duration_seconds', 'Run time of commands.', ['kind'], BUCKETS);
    this.#times = each(COMMAND_KINDS, (kind) => instruments.bindTime(seconds, { kind }));
    const cpu = instruments.counter('commands_cpu_seconds_total', 'CPU time that commands have used.', []);
    this.#cpuSeconds = instruments.bind(cpu, {});
    const exceeded = instruments.counter(
      'limits_exceeded_total',
      'Commands that were killed because they exceeded a limit.',
      ['limit'],
    );
    this.#exceeded = each(RESOURCES, (limit) => instruments.bind(exceeded, { limit }));
    const output = instruments.counter('output_bytes_total', 'Bytes that commands have printed.', ['stream']);
    this.output = each(['stdout', 'stderr'], (stream) => instruments.bind(output, { stream }));
    const confirmed = instruments.counter(
      'confirmations_total',
      'Commands that needed confirmation, by who decides and by outcome.',
      ['requires', 'outcome'],
    );
    this.#confirmed = each(CONFIRMATION_MODES, (requires) =>
      each(CONFIRMATION_OUTCOMES, (outcome) => instruments.bind(confirmed, { requires, outcome })),
    );
  }

  /** Counts the end of a command; the duration is in milliseconds. */
  ended(kind: CommandKind, status: CommandEndStatus, durationMs: number): void {
    this.#finished[kind][status]();
    this.#times[kind](durationMs);
  }

  /** Adds CPU time, in milliseconds. */
  used(cpuMs: number): void {
    this.#cpuSeconds(Math.max(0, cpuMs) / 1000);
  }

  /** Counts a command that was killed because it exceeded a limit. */
  exceeded(resource: Resource): void {
    this.#exceeded[resource]();
  }

  /** Counts the end of a confirmation. */
  confirmed(mode: ConfirmationMode, outcome: ConfirmationOutcome): void {
    this.#confirmed[mode][outcome]();
  }
}

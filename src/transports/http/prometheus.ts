import { Counter, Histogram, Registry } from 'prom-client';

import { CONFIRMATION_MODES, type ConfirmationMode } from '../../core/confirmation/modes.js';
import { CONFIRMATION_OUTCOMES, type ConfirmationOutcome } from '../../core/confirmation/record.js';
import type { ErrorCode } from '../../core/errors.js';
import type { Candidate } from '../../core/llm/resolution.js';
import type { LlmUsage } from '../../core/llm/usage.js';
import { type Resource, RESOURCES } from '../../core/limits/limits.js';
import {
  COMMAND_ENDS,
  COMMAND_KINDS,
  type CommandEndStatus,
  type CommandKind,
  type Metrics,
  type OutputMeters,
  SHELL_REPLACEMENTS,
  type ShellReplacement,
} from '../../core/metrics/metrics.js';
import { type RequestName, requests } from '../../core/protocol/requests.js';
import { events, type SessionEndReason } from '../../core/protocol/results.js';
import { registerGauges, type Sample } from './gauges.js';
import { LlmMetrics } from './llm-metrics.js';
import { registerProcessMetrics } from './process-metrics.js';
import type { Exposition } from './routes.js';

/** In seconds: from shell builtins to the longest default run time of a command. */
const COMMAND_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600];
/** In seconds: some requests are answered from memory, others wait for the end of a command. */
const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600];

const REQUEST_NAMES: readonly (RequestName | 'unknown')[] = [...(Object.keys(requests) as RequestName[]), 'unknown'];

/** A counter with its labels bound. */
type Count = (by?: number) => void;
/** A histogram with its labels bound. */
type TakeTime = (ms: number) => void;

/**
 * Metrics for [Prometheus](https://prometheus.io): the only class that uses prom-client. Label sets are looked up once,
 * not for every event. Times are passed in milliseconds and exported in seconds.
 */
export class PrometheusMetrics implements Metrics, Exposition {
  /** `Content-Type` of `render`. */
  readonly contentType: string;
  readonly output: OutputMeters;
  readonly #registry: Registry;
  readonly #opened: Counter<'shell'>;
  readonly #closed: Readonly<Record<SessionEndReason, Count>>;
  readonly #replaced: Readonly<Record<ShellReplacement, Count>>;
  readonly #finished: Readonly<Record<CommandKind, Readonly<Record<CommandEndStatus, Count>>>>;
  readonly #commandTimes: Readonly<Record<CommandKind, TakeTime>>;
  readonly #cpuSeconds: Count;
  readonly #exceeded: Readonly<Record<Resource, Count>>;
  readonly #confirmed: Readonly<Record<ConfirmationMode, Readonly<Record<ConfirmationOutcome, Count>>>>;
  readonly #requests: Counter<'request' | 'outcome'>;
  /** By request and outcome; outcomes other than `ok` are added when they first occur. */
  readonly #answered = new Map<string, Count>();
  readonly #llm: LlmMetrics;
  readonly #requestTimes: Readonly<Record<RequestName | 'unknown', TakeTime>>;

  /**
   * @param registry where the metrics are registered
   * @default a registry of its own
   */
  constructor(registry: Registry = new Registry()) {
    this.#registry = registry;
    this.contentType = registry.contentType;
    registerProcessMetrics(this.#registry);
    this.#opened = this.#counter(
      'sessions_opened_total',
      'Sessions that were opened, those of commands with a terminal of their own included.',
      ['shell'],
    );
    const closed = this.#counter('sessions_closed_total', 'Sessions that have ended.', ['reason']);
    this.#closed = each(events.session_closed.schema.shape.reason.options, (reason) => bind(closed, { reason }));
    const replaced = this.#counter(
      'shell_restarts_total',
      'New shells in a continuing session: the old one ended, or a client requested a reset.',
      ['cause'],
    );
    this.#replaced = each(SHELL_REPLACEMENTS, (cause) => bind(replaced, { cause }));
    const finished = this.#counter(
      'commands_finished_total',
      'Commands that have ended, by the status of their result.',
      ['kind', 'status'],
    );
    this.#finished = each(COMMAND_KINDS, (kind) => each(COMMAND_ENDS, (status) => bind(finished, { kind, status })));
    const seconds = this.#histogram('command_duration_seconds', 'Run time of commands.', 'kind', COMMAND_BUCKETS);
    this.#commandTimes = each(COMMAND_KINDS, (kind) => bindTime(seconds, { kind }));
    this.#cpuSeconds = bind(this.#counter('commands_cpu_seconds_total', 'CPU time that commands have used.', []), {});
    const exceeded = this.#counter(
      'limits_exceeded_total',
      'Commands that were killed because they exceeded a limit.',
      ['limit'],
    );
    this.#exceeded = each(RESOURCES, (limit) => bind(exceeded, { limit }));
    const output = this.#counter('output_bytes_total', 'Bytes that commands have printed.', ['stream']);
    this.output = each(['stdout', 'stderr'], (stream) => bind(output, { stream }));
    const confirmed = this.#counter(
      'confirmations_total',
      'Commands that needed confirmation, by who decides and by outcome.',
      ['requires', 'outcome'],
    );
    this.#confirmed = each(CONFIRMATION_MODES, (requires) =>
      each(CONFIRMATION_OUTCOMES, (outcome) => bind(confirmed, { requires, outcome })),
    );
    this.#requests = this.#counter(
      'requests_total',
      'Answered requests, by `ok` or error code. Invalid names count as `unknown`.',
      ['request', 'outcome'],
    );
    for (const request of REQUEST_NAMES) this.#answeredWith(request, request === 'unknown' ? 'UNKNOWN_REQUEST' : 'ok');
    const latency = this.#histogram(
      'request_duration_seconds',
      'Time from a request to its answer, including the command that it waits for.',
      'request',
      REQUEST_BUCKETS,
    );
    this.#llm = new LlmMetrics(this.#registry);
    this.#requestTimes = each(REQUEST_NAMES, (request) => bindTime(latency, { request }));
  }

  sessionOpened(shell: string): void {
    this.#opened.inc({ shell });
  }

  sessionClosed(reason: SessionEndReason): void {
    this.#closed[reason]();
  }

  shellReplaced(why: ShellReplacement): void {
    this.#replaced[why]();
  }

  commandEnded(kind: CommandKind, status: CommandEndStatus, durationMs: number): void {
    this.#finished[kind][status]();
    this.#commandTimes[kind](durationMs);
  }

  commandUsed(cpuMs: number): void {
    this.#cpuSeconds(Math.max(0, cpuMs) / 1000);
  }

  limitExceeded(resource: Resource): void {
    this.#exceeded[resource]();
  }

  confirmationEnded(mode: ConfirmationMode, outcome: ConfirmationOutcome): void {
    this.#confirmed[mode][outcome]();
  }

  requestAnswered(request: RequestName | 'unknown', outcome: 'ok' | ErrorCode, durationMs: number): void {
    this.#answeredWith(request, outcome)();
    this.#requestTimes[request](durationMs);
  }

  llmAnswered(provider: Candidate, outcome: 'ok' | ErrorCode, durationMs: number): void {
    this.#llm.answered(provider, outcome, durationMs);
  }

  llmUsed(provider: Candidate, usage: LlmUsage): void {
    this.#llm.used(provider, usage);
  }

  /**
   * Registers the gauges: `take` is called on each `render`. Has to be called once.
   * @param shells names of all supported shells
   */
  watch(shells: readonly string[], take: () => Promise<Sample>): void {
    for (const shell of shells) this.#opened.inc({ shell }, 0);
    registerGauges(this.#registry, take);
  }

  /** Renders all metrics as text, in the format of `contentType`. */
  async render(): Promise<string> {
    return this.#registry.metrics();
  }

  #answeredWith(request: RequestName | 'unknown', outcome: 'ok' | ErrorCode): Count {
    const key = `${request} ${outcome}`;
    const known = this.#answered.get(key);
    if (known) return known;
    const count = bind(this.#requests, { request, outcome });
    this.#answered.set(key, count);
    return count;
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name: `shell_adapter_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #histogram<L extends string>(name: string, help: string, label: L, buckets: number[]): Histogram<L> {
    const registers = [this.#registry];
    return new Histogram({ name: `shell_adapter_${name}`, help, labelNames: [label], buckets, registers });
  }
}

/** Binds the labels of a counter and exports it as 0: rates need a start value. */
function bind<L extends string>(counter: Counter<L>, labels: Record<L, string>): Count {
  const bound = counter.labels(labels);
  bound.inc(0);
  return (by) => {
    bound.inc(by);
  };
}

/** Binds the label of a histogram of seconds; it is exported after its first value. */
function bindTime<L extends string>(histogram: Histogram<L>, labels: Record<L, string>): TakeTime {
  const bound = histogram.labels(labels);
  return (ms) => {
    bound.observe(ms / 1000);
  };
}

/** Creates a table with an entry for each name. */
function each<N extends string, T>(names: readonly N[], make: (name: N) => T): Record<N, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, T>;
}

import { Counter, Histogram, type Registry } from 'prom-client';

import {
  CONFIRMATION_MODES,
  CONFIRMATION_OUTCOMES,
  type ConfirmationMode,
  type ConfirmationOutcome,
} from '../../core/confirmation.js';
import type { ErrorCode } from '../../core/errors.js';
import { type Resource, RESOURCES } from '../../core/limits.js';
import type { Candidate } from '../../core/llm/resolution.js';
import type { LlmUsage } from '../../core/llm/answer.js';
import {
  COMMAND_ENDS,
  COMMAND_KINDS,
  type CommandEndStatus,
  type CommandKind,
  EGRESS_OUTCOMES,
  type EgressOutcome,
  NOTIFICATION_OUTCOMES,
  type NotificationOutcome,
  type OutputMeters,
  SHELL_REPLACEMENTS,
  type ShellReplacement,
} from '../../core/metrics.js';
import { NOTIFICATION_EVENTS, type NotificationEvent } from '../../core/notifications.js';
import { type RequestName, requests } from '../../core/protocol/requests.js';
import type { NodeInfo } from '../../core/protocol/requests/nodes.js';
import { events, type SessionEndReason } from '../../core/protocol/results.js';
import { type Count, each, type Instruments, type TakeTime } from './instruments.js';

/** In seconds: some requests are answered from memory, others wait for the end of a command. */
const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600];

const REQUEST_NAMES: readonly (RequestName | 'unknown')[] = [...(Object.keys(requests) as RequestName[]), 'unknown'];

/** Reasons for which a connection is refused before it becomes a client. */
const REFUSALS = ['FORBIDDEN', 'RATE_LIMITED', 'RESOURCE_EXHAUSTED', 'UNAUTHORIZED'] as const satisfies ErrorCode[];

/** Metrics of connections and requests. */
export class RequestMetrics {
  readonly #instruments: Instruments;
  readonly #requests: Counter<'request' | 'outcome'>;
  /** By request and outcome; outcomes other than `ok` are added when they first occur. */
  readonly #answered = new Map<string, Count>();
  readonly #refused: Counter<'code'>;
  readonly #times: Readonly<Record<RequestName | 'unknown', TakeTime>>;

  constructor(instruments: Instruments) {
    this.#instruments = instruments;
    this.#requests = instruments.counter(
      'requests_total',
      'Answered requests, by `ok` or error code. Invalid names count as `unknown`.',
      ['request', 'outcome'],
    );
    for (const request of REQUEST_NAMES) this.#answeredWith(request, request === 'unknown' ? 'UNKNOWN_REQUEST' : 'ok');
    this.#refused = instruments.counter('connections_refused_total', 'Refused connections, by error code.', ['code']);
    for (const code of REFUSALS) this.#refused.inc({ code }, 0);
    const latency = instruments.histogram(
      'request_duration_seconds',
      'Time from a request to its answer, including the command that it waits for.',
      ['request'],
      REQUEST_BUCKETS,
    );
    this.#times = each(REQUEST_NAMES, (request) => instruments.bindTime(latency, { request }));
  }

  /** Counts a refused connection. */
  refused(code: ErrorCode): void {
    this.#refused.inc({ code });
  }

  /** Counts an answer; the duration is in milliseconds. */
  answered(request: RequestName | 'unknown', outcome: 'ok' | ErrorCode, durationMs: number): void {
    this.#answeredWith(request, outcome)();
    this.#times[request](durationMs);
  }

  #answeredWith(request: RequestName | 'unknown', outcome: 'ok' | ErrorCode): Count {
    const key = `${request} ${outcome}`;
    const known = this.#answered.get(key);
    if (known) return known;
    const count = this.#instruments.bind(this.#requests, { request, outcome });
    this.#answered.set(key, count);
    return count;
  }
}

/** States of a worker. */
const NODE_STATES = ['live', 'draining', 'suspect', 'lost'] as const satisfies NodeInfo['state'][];

/** States of a link. */
const LINK_STATES = ['connected', 'broken'] as const;

/** Metrics of a gateway, and of the workers that are registered at it. */
export class ClusterCounters {
  readonly #relayed: Counter<'outcome'>;
  readonly #takeTime: TakeTime;
  readonly #countLoss: Count;

  /** @param workers the registered workers, as they are at the moment */
  constructor(instruments: Instruments, workers: () => readonly NodeInfo[]) {
    instruments.gauge(
      'cluster_links',
      'Links of a gateway to its workers, by state. One that is closed since it is not needed counts as connected.',
      ['state'],
      (gauge) => {
        const states = workers().map(({ problem }) => (problem === null ? 'connected' : 'broken'));
        for (const state of LINK_STATES) gauge.set({ state }, states.filter((own) => own === state).length);
      },
    );
    instruments.gauge('cluster_nodes', 'Workers that are registered at a gateway, by state.', ['state'], (gauge) => {
      const states = workers().map(({ state }) => state);
      for (const state of NODE_STATES) gauge.set({ state }, states.filter((own) => own === state).length);
    });
    this.#relayed = instruments.counter(
      'cluster_relayed_requests_total',
      'Requests that a gateway has sent on to a worker, by `ok` or error code.',
      ['outcome'],
    );
    this.#relayed.inc({ outcome: 'ok' }, 0);
    const seconds = instruments.histogram(
      'cluster_relay_seconds',
      'Time from sending a request on to the answer of the worker, including the command that it waits for.',
      [],
      REQUEST_BUCKETS,
    );
    this.#takeTime = instruments.bindTime(seconds, {});
    const losses = instruments.counter('cluster_node_losses_total', 'Workers that a gateway has lost.', []);
    this.#countLoss = instruments.bind(losses, {});
  }

  /** Counts a request that was sent on; the duration is in milliseconds. */
  relayed(outcome: 'ok' | ErrorCode, durationMs: number): void {
    this.#relayed.inc({ outcome });
    this.#takeTime(durationMs);
  }

  /** Counts a worker that was lost. */
  lost(): void {
    this.#countLoss();
  }
}

/** Metrics of a node whose cluster has a registry. */
export class RegistryCounters {
  /** Counts a request to the registry that has failed. */
  readonly failed: Count;

  /** @param leaseAgeMs time since the lease was renewed, in milliseconds; undefined before the first time */
  constructor(instruments: Instruments, leaseAgeMs: () => number | undefined) {
    const name = 'cluster_lease_age_seconds';
    instruments.gauge(name, 'Time since a node has renewed its lease in the registry of the cluster.', [], (gauge) => {
      const age = leaseAgeMs();
      if (age !== undefined) gauge.set(age / 1000);
    });
    const errors = instruments.counter(
      'cluster_registry_errors_total',
      'Requests to the registry of the cluster, Redis, that have failed.',
      [],
    );
    this.failed = instruments.bind(errors, {});
  }
}

/** In seconds: from shell builtins to the longest default run time of a command. */
const COMMAND_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600];

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
    const seconds = instruments.histogram(
      'command_duration_seconds',
      'Run time of commands.',
      ['kind'],
      COMMAND_BUCKETS,
    );
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

/** Metrics of connections out of sandboxes with an allow-list. */
export class EgressCounters {
  readonly #connections: Readonly<Record<EgressOutcome, Count>>;
  readonly #bytes: Readonly<Record<'sent' | 'received', Count>>;

  constructor(instruments: Instruments) {
    const connections = instruments.counter(
      'egress_connections_total',
      'Connections that programs in a sandbox with an allow-list wanted, by outcome.',
      ['outcome'],
    );
    this.#connections = each(EGRESS_OUTCOMES, (outcome) => instruments.bind(connections, { outcome }));
    const bytes = instruments.counter(
      'egress_bytes_total',
      'Bytes of ended connections out of sandboxes, by direction as the sandbox sees it.',
      ['direction'],
    );
    this.#bytes = each(['sent', 'received'], (direction) => instruments.bind(bytes, { direction }));
  }

  /** Counts a connection. */
  connected(outcome: EgressOutcome): void {
    this.#connections[outcome]();
  }

  /** Adds the bytes of an ended connection. */
  transferred(sentBytes: number, receivedBytes: number): void {
    this.#bytes.sent(sentBytes);
    this.#bytes.received(receivedBytes);
  }
}

/** In seconds: from an immediate refusal to the longest default duration of a call. */
const LLM_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800];

/** Labels of a provider: names from the configuration. */
export const LLM_LABELS = ['provider', 'shell_provider'] as const;

type LlmLabel = (typeof LLM_LABELS)[number];

/** The labels of a provider. A service has no shell provider; Prometheus treats an empty label as absent. */
export const llmLabels = ({ provider, shellProvider }: Candidate): Record<LlmLabel, string> => ({
  provider,
  shell_provider: shellProvider ?? '',
});

/** Metrics of LLM calls: of `llm_call` and `llm_stream`, of chat completions, and of reviews. */
export class LlmMetrics {
  readonly #answered: Counter<LlmLabel | 'outcome'>;
  readonly #times: Histogram<LlmLabel>;
  readonly #tokens: Counter<LlmLabel | 'kind'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#answered = new Counter({
      name: 'shell_adapter_llm_calls_total',
      help: 'Ended LLM calls, by `ok` or error code. With fallbacks, each provider counts.',
      labelNames: [...LLM_LABELS, 'outcome'],
      registers,
    });
    this.#times = new Histogram({
      name: 'shell_adapter_llm_call_duration_seconds',
      help: 'Time from a call to its answer, including the time in the queue of a tool.',
      labelNames: LLM_LABELS,
      buckets: LLM_BUCKETS,
      registers,
    });
    this.#tokens = new Counter({
      name: 'shell_adapter_llm_tokens_total',
      help: 'Tokens, as far as providers report them.',
      labelNames: [...LLM_LABELS, 'kind'],
      registers,
    });
  }

  /** Counts the end of a call; the duration is in milliseconds. */
  answered(provider: Candidate, outcome: 'ok' | ErrorCode, durationMs: number): void {
    const labels = llmLabels(provider);
    this.#answered.inc({ ...labels, outcome });
    this.#times.observe(labels, durationMs / 1000);
  }

  /** Counts the tokens of an answer, as reported by the provider. */
  used(provider: Candidate, { prompt_tokens: prompt = 0, completion_tokens: completion = 0 }: LlmUsage): void {
    const labels = llmLabels(provider);
    this.#tokens.inc({ ...labels, kind: 'prompt' }, amountOf(prompt));
    this.#tokens.inc({ ...labels, kind: 'completion' }, amountOf(completion));
  }
}

/**
 * Sanitises a reported count: tools report arbitrary values, and counters accept only finite numbers that are not
 * negative.
 */
const amountOf = (tokens: number): number => (Number.isFinite(tokens) && tokens > 0 ? tokens : 0);

/** Metrics of notifications to webhooks. */
export class NotificationMetrics {
  readonly #ended: Readonly<Record<NotificationEvent, Readonly<Record<NotificationOutcome, Count>>>>;

  constructor(instruments: Instruments) {
    const ended = instruments.counter(
      'notifications_total',
      'Notifications to webhooks, by event and outcome; each webhook counts.',
      ['event', 'outcome'],
    );
    this.#ended = each(NOTIFICATION_EVENTS, (event) =>
      each(NOTIFICATION_OUTCOMES, (outcome) => instruments.bind(ended, { event, outcome })),
    );
  }

  /** Counts a notification that was delivered or given up. */
  ended(event: NotificationEvent, outcome: NotificationOutcome): void {
    this.#ended[event][outcome]();
  }
}

/** Metrics of sessions and their shells. */
export class SessionMetrics {
  readonly #opened: Counter<'shell'>;
  readonly #closed: Readonly<Record<SessionEndReason, Count>>;
  readonly #replaced: Readonly<Record<ShellReplacement, Count>>;

  constructor(instruments: Instruments) {
    this.#opened = instruments.counter(
      'sessions_opened_total',
      'Sessions that were opened, those of commands with a terminal of their own included.',
      ['shell'],
    );
    const closed = instruments.counter('sessions_closed_total', 'Sessions that have ended.', ['reason']);
    this.#closed = each(events.session_closed.schema.shape.reason.options, (reason) =>
      instruments.bind(closed, { reason }),
    );
    const replaced = instruments.counter(
      'shell_restarts_total',
      'New shells in a continuing session: the old one ended, or a client requested a reset.',
      ['cause'],
    );
    this.#replaced = each(SHELL_REPLACEMENTS, (cause) => instruments.bind(replaced, { cause }));
  }

  /** Exports the sessions of a shell as 0 until the first one is opened. */
  expect(shell: string): void {
    this.#opened.inc({ shell }, 0);
  }

  /** Counts an opened session. */
  opened(shell: string): void {
    this.#opened.inc({ shell });
  }

  /** Counts the end of a session. */
  closed(reason: SessionEndReason): void {
    this.#closed[reason]();
  }

  /** Counts a new shell in a continuing session. */
  replaced(why: ShellReplacement): void {
    this.#replaced[why]();
  }
}

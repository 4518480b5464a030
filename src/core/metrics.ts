import { CONFIRMATION_MODES, CONFIRMATION_OUTCOMES } from './confirmation.js';
import type { ErrorCode } from './errors.js';
import { RESOURCES } from './limits.js';
import type { Candidate } from './llm/resolution.js';
import { NOTIFICATION_EVENTS } from './notifications.js';
import { type RequestName, requests } from './protocol/requests.js';
import { events } from './protocol/results.js';

export const METRIC_PREFIX = 'shell_adapter_';

export type Labels = Readonly<Record<string, string>>;

/** Daemons that have a metric: all, gateways of a cluster, or nodes of a cluster with a registry. */
export type MetricScope = 'daemon' | 'gateway' | 'registry';

/** A metric. Gauges are read when metrics are rendered; the others are counted as it happens. */
export type Metric = {
  readonly help: string;
  /**
   * The values of each label that are exported from the beginning, as 0, because rates need a start value. Further values
   * of the list's type are exported once they occur. All values come from fixed lists or the configuration, never from
   * clients, so that the number of series stays bounded.
   */
  readonly labels: Readonly<Record<string, readonly string[]>>;
  /** @default 'daemon' */
  readonly scope?: Exclude<MetricScope, 'daemon'>;
} & (
  | {
      readonly kind: 'counter';
      /** Series that are exported from the beginning, beside the combinations of `labels`. */
      readonly series?: readonly Labels[];
    }
  | {
      readonly kind: 'gauge';
      /** Whether it is a setting: the value of several processes together is the largest one, not their sum. */
      readonly isSetting?: true;
    }
  | {
      /** Exported after its first value. */
      readonly kind: 'histogram';
      /** Upper bounds. */
      readonly buckets: readonly number[];
    }
);

/** Values from the configuration. */
const CONFIGURED: readonly string[] = [];
const REQUESTS: readonly (RequestName | 'unknown')[] = Object.keys(requests) as RequestName[];
const OUTCOMES: readonly ('ok' | ErrorCode)[] = ['ok'];
const REFUSALS: readonly ErrorCode[] = ['FORBIDDEN', 'RATE_LIMITED', 'RESOURCE_EXHAUSTED', 'UNAUTHORIZED'];
const COMMAND_KINDS = ['session', 'one_shot'] as const;
const PROVIDER = { provider: CONFIGURED, shell_provider: CONFIGURED };

/** In seconds: some requests are answered from memory, others wait for the end of a command. */
const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600];
/** In seconds: from shell builtins to the longest default run time of a command. */
const COMMAND_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600];
/** In seconds: from an immediate refusal to the longest default duration of a call. */
const LLM_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800];

/** All metrics by their names without the prefix, in the order in which they are exported and documented. */
export const METRICS = {
  event_loop_seconds_total: {
    kind: 'counter',
    help: 'Time that the event loop was active or idle.',
    labels: { state: ['active', 'idle'] },
  },
  sessions_opened_total: {
    kind: 'counter',
    help: 'Sessions that were opened, those of commands with a terminal of their own included.',
    labels: { shell: CONFIGURED },
  },
  sessions_closed_total: {
    kind: 'counter',
    help: 'Sessions that have ended.',
    labels: { reason: events.session_closed.schema.shape.reason.options },
  },
  shell_restarts_total: {
    kind: 'counter',
    help: 'New shells in a continuing session: the old one ended, or a client requested a reset.',
    labels: { cause: ['ended', 'reset'] },
  },
  commands_finished_total: {
    kind: 'counter',
    help: 'Commands that have ended, by the status of their result.',
    labels: { kind: COMMAND_KINDS, status: ['completed', 'timed_out', 'interrupted', 'killed'] },
  },
  command_duration_seconds: {
    kind: 'histogram',
    help: 'Run time of commands.',
    labels: { kind: COMMAND_KINDS },
    buckets: COMMAND_BUCKETS,
  },
  commands_cpu_seconds_total: { kind: 'counter', help: 'CPU time that commands have used.', labels: {} },
  limits_exceeded_total: {
    kind: 'counter',
    help: 'Commands that were killed because they exceeded a limit.',
    labels: { limit: RESOURCES },
  },
  output_bytes_total: {
    kind: 'counter',
    help: 'Bytes that commands have printed.',
    labels: { stream: ['stdout', 'stderr'] },
  },
  confirmations_total: {
    kind: 'counter',
    help: 'Commands that needed confirmation, by who decides and by outcome.',
    labels: { requires: CONFIRMATION_MODES, outcome: CONFIRMATION_OUTCOMES },
  },
  requests_total: {
    kind: 'counter',
    help: 'Answered requests, by `ok` or error code. Invalid names count as `unknown`.',
    labels: { request: REQUESTS, outcome: OUTCOMES },
    series: [{ request: 'unknown', outcome: 'UNKNOWN_REQUEST' }],
  },
  connections_refused_total: {
    kind: 'counter',
    help: 'Refused connections, by error code.',
    labels: { code: REFUSALS },
  },
  request_duration_seconds: {
    kind: 'histogram',
    help: 'Time from a request to its answer, including the command that it waits for.',
    labels: { request: REQUESTS },
    buckets: REQUEST_BUCKETS,
  },
  llm_calls_total: {
    kind: 'counter',
    help: 'Ended LLM calls, by `ok` or error code. With fallbacks, each provider counts.',
    labels: { ...PROVIDER, outcome: OUTCOMES },
  },
  llm_call_duration_seconds: {
    kind: 'histogram',
    help: 'Time from a call to its answer, including the time in the queue of a tool.',
    labels: PROVIDER,
    buckets: LLM_BUCKETS,
  },
  llm_tokens_total: {
    kind: 'counter',
    help: 'Tokens, as far as providers report them.',
    labels: { ...PROVIDER, kind: ['prompt', 'completion'] },
  },
  egress_connections_total: {
    kind: 'counter',
    help: 'Connections that programs in a sandbox with an allow-list wanted, by outcome.',
    labels: { outcome: ['allowed', 'refused', 'failed'] },
  },
  egress_bytes_total: {
    kind: 'counter',
    help: 'Bytes of ended connections out of sandboxes, by direction as the sandbox sees it.',
    labels: { direction: ['sent', 'received'] },
  },
  notifications_total: {
    kind: 'counter',
    help: 'Notifications to webhooks, by event and outcome; each webhook counts.',
    labels: { event: NOTIFICATION_EVENTS, outcome: ['delivered', 'failed', 'dropped'] },
  },
  uncaught_errors_total: {
    kind: 'counter',
    help: 'Errors that nothing has caught, promises that were rejected included. The daemon goes on; its log has them.',
    labels: {},
  },
  sessions_open: { kind: 'gauge', help: 'Open sessions.', labels: { shell: CONFIGURED } },
  commands_running: { kind: 'gauge', help: 'Running commands.', labels: { kind: COMMAND_KINDS } },
  commands_queued: { kind: 'gauge', help: 'Commands that wait for an earlier one of their session.', labels: {} },
  llm_calls_running: { kind: 'gauge', help: 'LLM calls that run or wait.', labels: PROVIDER },
  clients_connected: { kind: 'gauge', help: 'Clients connected over Socket.IO.', labels: {} },
  memory_bytes: { kind: 'gauge', help: 'Memory of commands and shells.', labels: {} },
  processes: { kind: 'gauge', help: 'Processes and threads of commands and shells.', labels: {} },
  limit: {
    kind: 'gauge',
    help: 'Configured limits of a session, each in the unit of its name.',
    labels: { limit: CONFIGURED },
    isSetting: true,
  },
  spool_bytes: {
    kind: 'gauge',
    help: 'Bytes of output that are kept for `read_output`, in memory and on disk.',
    labels: {},
  },
  cluster_links: {
    kind: 'gauge',
    help: 'Links of a gateway to its workers, by state. One that is closed since it is not needed counts as connected.',
    labels: { state: ['connected', 'broken'] },
    scope: 'gateway',
  },
  cluster_nodes: {
    kind: 'gauge',
    help: 'Workers that are registered at a gateway, by state.',
    labels: { state: ['live', 'draining', 'suspect', 'lost'] },
    scope: 'gateway',
  },
  cluster_relayed_requests_total: {
    kind: 'counter',
    help: 'Requests that a gateway has sent on to a worker, by `ok` or error code.',
    labels: { outcome: OUTCOMES },
    scope: 'gateway',
  },
  cluster_relay_seconds: {
    kind: 'histogram',
    help: 'Time from sending a request on to the answer of the worker, including the command that it waits for.',
    labels: {},
    buckets: REQUEST_BUCKETS,
    scope: 'gateway',
  },
  cluster_node_losses_total: {
    kind: 'counter',
    help: 'Workers that a gateway has lost.',
    labels: {},
    scope: 'gateway',
  },
  cluster_lease_age_seconds: {
    kind: 'gauge',
    help: 'Time since a node has renewed its lease in the registry of the cluster.',
    labels: {},
    scope: 'registry',
  },
  cluster_registry_errors_total: {
    kind: 'counter',
    help: 'Requests to the registry of the cluster, Redis, that have failed.',
    labels: {},
    scope: 'registry',
  },
} as const satisfies Readonly<Record<string, Metric>>;

type Table = typeof METRICS;
type NameOf<K extends Metric['kind']> = {
  [N in keyof Table]: Table[N]['kind'] extends K ? N : never;
}[keyof Table];
type ValueOf<L> = L extends readonly (infer V extends string)[] ? V : never;

/** The labels of a metric. */
export type LabelsOf<N extends keyof Table> = keyof Table[N]['labels'] extends never
  ? Readonly<Record<string, never>>
  : { readonly [L in keyof Table[N]['labels']]: ValueOf<Table[N]['labels'][L]> };

/** Counts for the layers below the transports. Every method returns at once and never throws. */
export interface Metrics {
  /**
   * Adds to a counter. An amount that is negative or not a finite number counts as 0.
   * @default 1
   */
  count<N extends NameOf<'counter'>>(name: N, labels: LabelsOf<N>, by?: number): void;
  /** Adds a value to a histogram, in the unit of its name. */
  observe<N extends NameOf<'histogram'>>(name: N, value: number, labels: LabelsOf<N>): void;
}

export const NO_METRICS: Metrics = { count: () => undefined, observe: () => undefined };

/** What a gauge is: one value, undefined where it has not changed, or a value for each set of labels. */
type Reading<N extends keyof Table> = keyof Table[N]['labels'] extends never
  ? number | undefined
  : readonly (readonly [LabelsOf<N>, number])[];
type ScopeOf<N extends keyof Table> = Table[N] extends { readonly scope: infer S } ? S : 'daemon';

/** The values of all gauges of a scope at one moment. */
export type Readings<S extends MetricScope> = {
  readonly [N in NameOf<'gauge'> as ScopeOf<N> extends S ? N : never]: Reading<N>;
};

/** The series of a metric that exist from the beginning, in their order. */
export function seriesOf(metric: Metric): readonly Labels[] {
  const combinations = Object.entries(metric.labels).reduce<readonly Labels[]>(
    (all, [label, values]) => all.flatMap((labels) => values.map((value) => ({ ...labels, [label]: value }))),
    [{}],
  );
  return metric.kind === 'counter' && metric.series ? [...combinations, ...metric.series] : combinations;
}

/** The labels of an LLM provider. A service has no shell provider; Prometheus treats an empty label as absent. */
export const providerLabels = ({ provider, shellProvider }: Candidate): LabelsOf<'llm_calls_running'> => ({
  provider,
  shell_provider: shellProvider ?? '',
});

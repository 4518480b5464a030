import { performance } from 'node:perf_hooks';

import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

import type { ConfirmationMode, ConfirmationOutcome } from '../../core/confirmation.js';
import type { ErrorCode } from '../../core/errors.js';
import type { Resource } from '../../core/limits.js';
import type { Candidate } from '../../core/llm/resolution.js';
import type { LlmUsage } from '../../core/llm/answer.js';
import type {
  CommandEndStatus,
  CommandKind,
  EgressOutcome,
  Metrics,
  NotificationOutcome,
  OutputMeters,
  ShellReplacement,
} from '../../core/metrics.js';
import type { NotificationEvent } from '../../core/notifications.js';
import type { RequestName } from '../../core/protocol/requests.js';
import type { NodeInfo } from '../../core/protocol/requests/nodes.js';
import type { SessionEndReason } from '../../core/protocol/results.js';
import type { WorkloadSample } from '../../services/machine/machine.js';
import {
  ClusterCounters,
  CommandMetrics,
  EgressCounters,
  LLM_LABELS,
  llmLabels,
  LlmMetrics,
  NotificationMetrics,
  RegistryCounters,
  RequestMetrics,
  SessionMetrics,
} from './metrics.js';
import { type Count, Instruments } from './instruments.js';
import type { Exposition } from './routes.js';

/** Values of all gauges at one moment. */
export interface Sample extends WorkloadSample {
  /** Clients connected over Socket.IO. */
  readonly clients: number;
}

/** Adds a gauge whose values are read from a sample. */
type AddGauge = <L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[],
  read: (gauge: Gauge<L>, sample: Sample) => void,
) => void;

/** Gauges of a registry that are collected together: one sample serves them all. */
function sampledGauges(registry: Registry, take: () => Promise<Sample>): AddGauge {
  let taking: Promise<Sample> | undefined;
  const takeOnce = () =>
    (taking ??= take().finally(() => {
      taking = undefined;
    }));
  return (name, help, labelNames, read) => {
    const gauge = new Gauge({
      name: `shell_adapter_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect: async () => {
        read(gauge, await takeOnce());
      },
    });
  };
}

/** Registers gauges that call `take` on each collection: sampled gauges cannot drift, as incremented ones can. */
function registerGauges(registry: Registry, take: () => Promise<Sample>): void {
  const add = sampledGauges(registry, take);
  add('sessions_open', 'Open sessions.', ['shell'], (gauge, { sessionsByShell }) => {
    for (const [shell, sessions] of Object.entries(sessionsByShell)) gauge.set({ shell }, sessions);
  });
  add('commands_running', 'Running commands.', ['kind'], (gauge, { runningCommands }) => {
    for (const [kind, commands] of Object.entries(runningCommands)) gauge.set({ kind }, commands);
  });
  add('commands_queued', 'Commands that wait for an earlier one of their session.', [], (gauge, sample) => {
    gauge.set(sample.queuedCommands);
  });
  add('llm_calls_running', 'LLM calls that run or wait.', LLM_LABELS, (gauge, { llmCalls }) => {
    for (const { candidate, calls } of llmCalls) gauge.set(llmLabels(candidate), calls);
  });
  add('clients_connected', 'Clients connected over Socket.IO.', [], (gauge, { clients }) => {
    gauge.set(clients);
  });
  add('memory_bytes', 'Memory of commands and shells.', [], (gauge, { memoryBytes }) => {
    gauge.set(memoryBytes);
  });
  add('processes', 'Processes and threads of commands and shells.', [], (gauge, { processes }) => {
    gauge.set(processes);
  });
  add('limit', 'Configured limits of a session, each in the unit of its name.', ['limit'], (gauge, { limits }) => {
    gauge.reset();
    for (const [limit, value] of Object.entries(limits)) if (value !== undefined) gauge.set({ limit }, value);
  });
  add('spool_bytes', 'Bytes of output that are kept for `read_output`, in memory and on disk.', [], (gauge, sample) => {
    gauge.set(sample.spoolBytes);
  });
}

/** Metrics that say how something is set, and are no amounts: the largest value counts. */
const SETTINGS = /^(?:shell_adapter_limit|process_start_time_seconds|process_max_fds|nodejs_version_info)\b/;

/**
 * Makes one exposition of those of several processes: values of the same metric and labels are added. Source:
 * https://prometheus.io/docs/instrumenting/exposition_formats/, as prom-client writes it.
 */
export function mergeExpositions(texts: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const text of texts) for (const part of text.split(/^(?=# HELP )/m)) addFamily(families, part);
  return [...families.values()].map(render).join('\n');
}

/** A metric with all its samples. */
interface Family {
  readonly head: readonly string[];
  /** Values by name and labels, as they are written. */
  readonly samples: Map<string, number>;
}

function addFamily(families: Map<string, Family>, text: string): void {
  const lines = text.split('\n').filter((line) => line !== '');
  const [first] = lines;
  if (first === undefined) return;
  const name = first.split(' ')[2] ?? '';
  const family = families.get(name) ?? { head: lines.filter(isComment), samples: new Map<string, number>() };
  families.set(name, family);
  for (const line of lines) if (!isComment(line)) addSample(family.samples, line);
}

function addSample(samples: Map<string, number>, line: string): void {
  const at = line.lastIndexOf(' ');
  const key = line.slice(0, at);
  const value = Number(line.slice(at + 1).replace('Inf', 'Infinity'));
  const known = samples.get(key);
  if (known === undefined) samples.set(key, value);
  else samples.set(key, SETTINGS.test(key) ? Math.max(known, value) : known + value);
}

const isComment = (line: string): boolean => line.startsWith('#');

const render = ({ head, samples }: Family): string =>
  [...head, ...[...samples].map(([key, value]) => `${key} ${textOf(value)}`), ''].join('\n');

/** Infinity as Prometheus writes it. */
const textOf = (value: number): string =>
  Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'Nan';

/** In milliseconds, one day: prom-client's event loop monitor cannot be disabled, but its interval can be long. */
const NO_MONITOR_MS = 86_400_000;
/** Metrics that only this monitor provides. */
const MONITORED = /^nodejs_eventloop_lag_\w+_seconds$/;

/**
 * Registers metrics of the process: prom-client's defaults, except the statistics of event loop delay. For these it
 * wakes the process 100 times per second, which costs 1 % of a core while the daemon is idle. Event loop utilisation
 * costs nothing, and shows the load.
 *
 * prom-client's observers in Node.js stay active until the process ends, without keeping it alive.
 */
function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NO_MONITOR_MS });
  for (const { name } of registry.getMetricsAsArray()) if (MONITORED.test(name)) registry.removeSingleMetric(name);
  const time: Counter<'state'> = new Counter({
    name: 'shell_adapter_event_loop_seconds_total',
    help: 'Time that the event loop was active or idle.',
    labelNames: ['state'],
    registers: [registry],
    collect: () => {
      const { active, idle } = performance.eventLoopUtilization();
      time.reset();
      time.inc({ state: 'active' }, active / 1000);
      time.inc({ state: 'idle' }, idle / 1000);
    },
  });
}

/**
 * Metrics for [Prometheus](https://prometheus.io). Label sets are looked up once, not for every event. Times are passed
 * in milliseconds and exported in seconds.
 */
export class PrometheusMetrics implements Metrics, Exposition {
  /** `Content-Type` of `render`. */
  readonly contentType: string;
  readonly output: OutputMeters;
  readonly #registry: Registry;
  readonly #sessions: SessionMetrics;
  readonly #commands: CommandMetrics;
  readonly #requests: RequestMetrics;
  readonly #llm: LlmMetrics;
  readonly #egress: EgressCounters;
  readonly #notifications: NotificationMetrics;
  readonly #countUncaught: Count;
  readonly #instruments: Instruments;
  #cluster: ClusterCounters | undefined;
  #shared: RegistryCounters | undefined;
  #readOthers: (() => Promise<readonly string[]>) | undefined;

  /**
   * @param registry where the metrics are registered; they are exported in the order of their registration
   * @default a registry of its own
   */
  constructor(registry: Registry = new Registry()) {
    this.#registry = registry;
    this.contentType = registry.contentType;
    registerProcessMetrics(registry);
    const instruments = new Instruments(registry);
    this.#instruments = instruments;
    this.#sessions = new SessionMetrics(instruments);
    this.#commands = new CommandMetrics(instruments);
    this.#requests = new RequestMetrics(instruments);
    this.#llm = new LlmMetrics(registry);
    this.#egress = new EgressCounters(instruments);
    this.#notifications = new NotificationMetrics(instruments);
    const uncaught = instruments.counter(
      'uncaught_errors_total',
      'Errors that nothing has caught, promises that were rejected included. The daemon goes on; its log has them.',
      [],
    );
    this.#countUncaught = instruments.bind(uncaught, {});
    this.output = this.#commands.output;
  }

  sessionOpened(shell: string): void {
    this.#sessions.opened(shell);
  }

  sessionClosed(reason: SessionEndReason): void {
    this.#sessions.closed(reason);
  }

  shellReplaced(why: ShellReplacement): void {
    this.#sessions.replaced(why);
  }

  commandEnded(kind: CommandKind, status: CommandEndStatus, durationMs: number): void {
    this.#commands.ended(kind, status, durationMs);
  }

  commandUsed(cpuMs: number): void {
    this.#commands.used(cpuMs);
  }

  limitExceeded(resource: Resource): void {
    this.#commands.exceeded(resource);
  }

  confirmationEnded(mode: ConfirmationMode, outcome: ConfirmationOutcome): void {
    this.#commands.confirmed(mode, outcome);
  }

  requestAnswered(request: RequestName | 'unknown', outcome: 'ok' | ErrorCode, durationMs: number): void {
    this.#requests.answered(request, outcome, durationMs);
  }

  connectionRefused(code: ErrorCode): void {
    this.#requests.refused(code);
  }

  llmAnswered(provider: Candidate, outcome: 'ok' | ErrorCode, durationMs: number): void {
    this.#llm.answered(provider, outcome, durationMs);
  }

  llmUsed(provider: Candidate, usage: LlmUsage): void {
    this.#llm.used(provider, usage);
  }

  notificationEnded(event: NotificationEvent, outcome: NotificationOutcome): void {
    this.#notifications.ended(event, outcome);
  }

  egressConnected(outcome: EgressOutcome): void {
    this.#egress.connected(outcome);
  }

  egressTransferred(sentBytes: number, receivedBytes: number): void {
    this.#egress.transferred(sentBytes, receivedBytes);
  }

  errorUncaught(): void {
    this.#countUncaught();
  }

  requestRelayed(outcome: 'ok' | ErrorCode, durationMs: number): void {
    this.#cluster?.relayed(outcome, durationMs);
  }

  nodeLost(): void {
    this.#cluster?.lost();
  }

  registryFailed(): void {
    this.#shared?.failed();
  }

  /**
   * Registers the gauges: `take` is called on each `render`. Has to be called once.
   * @param shells names of all supported shells
   */
  watch(shells: readonly string[], take: () => Promise<Sample>): void {
    for (const shell of shells) this.#sessions.expect(shell);
    registerGauges(this.#registry, take);
  }

  /** Registers the metrics of a gateway, which other daemons do not have. Has to be called once, before it relays. */
  watchWorkers(workers: () => readonly NodeInfo[]): void {
    this.#cluster = new ClusterCounters(this.#instruments, workers);
  }

  /**
   * Registers the metrics of a node with a registry, which other daemons do not have. Has to be called once.
   * @param leaseAgeMs time since the lease was renewed, in milliseconds; undefined before the first time
   */
  watchRegistry(leaseAgeMs: () => number | undefined): void {
    this.#shared = new RegistryCounters(this.#instruments, leaseAgeMs);
  }

  /**
   * Adds the metrics of other processes to those of this one. Has to be called once.
   * @param read gives what they render
   */
  include(read: () => Promise<readonly string[]>): void {
    this.#readOthers = read;
  }

  /** Renders all metrics as text, in the format of `contentType`. */
  async render(): Promise<string> {
    this.#instruments.enter();
    const own = await this.#registry.metrics();
    return this.#readOthers ? mergeExpositions([own, ...(await this.#readOthers())]) : own;
  }
}

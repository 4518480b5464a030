import { Registry } from 'prom-client';

import type { ConfirmationMode } from '../../../core/confirmation/modes.js';
import type { ConfirmationOutcome } from '../../../core/confirmation/record.js';
import type { ErrorCode } from '../../../core/errors.js';
import type { Candidate } from '../../../core/llm/resolution.js';
import type { LlmUsage } from '../../../core/llm/usage.js';
import type { Resource } from '../../../core/limits/limits.js';
import type {
  CommandEndStatus,
  CommandKind,
  EgressOutcome,
  Metrics,
  NotificationOutcome,
  OutputMeters,
  ShellReplacement,
} from '../../../core/metrics/metrics.js';
import type { NotificationEvent } from '../../../core/notifications/notification.js';
import type { RequestName } from '../../../core/protocol/requests.js';
import type { NodeInfo } from '../../../core/protocol/requests/nodes.js';
import type { SessionEndReason } from '../../../core/protocol/results.js';
import { ClusterCounters, RegistryCounters } from './cluster-metrics.js';
import { CommandMetrics } from './command-metrics.js';
import { EgressCounters } from './egress-metrics.js';
import { registerGauges, type Sample } from './gauges.js';
import { type Count, Instruments } from './instruments.js';
import { LlmMetrics } from './llm-metrics.js';
import { mergeExpositions } from './merge-expositions.js';
import { NotificationMetrics } from './notification-metrics.js';
import { registerProcessMetrics } from './process-metrics.js';
import { RequestMetrics } from './request-metrics.js';
import type { Exposition } from '../routes.js';
import { SessionMetrics } from './session-metrics.js';

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

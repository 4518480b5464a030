import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { drainNode, nameNode } from '../cluster/own-work.js';
import { ensureWorkspace, reload } from '../config/derive.js';
import type { Configuration } from '../config/model/configuration.js';
import type { LogFactory } from '../core/log.js';
import { NO_METRICS } from '../core/metrics.js';
import type { SecretMask } from '../core/secrets.js';
import { choosePlatform } from '../engine/platform/choose-platform.js';
import { SHELLS } from '../engine/shells/list.js';
import { LinkSecret } from '../services/access/dashboard-links.js';
import { sampleWorkers, sampleWorkload } from '../services/machine/machine.js';
import type { Services } from '../services/services.js';
import { PrometheusMetrics } from '../transports/http/prometheus.js';
import type { SocketIoServer } from '../transports/socketio.js';
import { buildAccess } from './access.js';
import { joinCluster } from './cluster.js';
import { Closers, completeContext, type EngineContext, type RuntimeContext } from './context.js';
import { type Detachment, takePart } from './detach.js';
import { buildEngine, type Engine } from './engine.js';
import { buildServices } from './services.js';
import { settingsOf } from './settings.js';
import { buildTransports } from './transports.js';

export interface AppOptions {
  readonly configuration: Configuration;
  readonly version: string;
  readonly log: LogFactory;
  /** Masks the secrets of the configuration. The log uses the same mask. */
  readonly secrets: SecretMask;
  /** What the process is, where sessions outlive the daemon; undefined for a daemon that holds them itself. */
  readonly detachment?: Detachment | undefined;
}

export interface App extends AsyncDisposable {
  /** `http://HOST:PORT`, or `https://` with TLS. */
  readonly url: string;
  /** The dashboard; undefined when it is switched off. */
  readonly dashboard: AppDashboard | undefined;
  /**
   * Applies a new configuration, except for the settings that a running daemon cannot change.
   * @returns the names of the settings that have changed and take effect at the next start
   */
  reconfigure(configuration: Configuration): readonly string[];
  /**
   * Has a node of a cluster that runs sessions take no new work, and resolves when nothing runs on it, or after `cluster.drain_timeout`.
   * Undefined for other daemons.
   */
  readonly drain: ((reason: string) => Promise<void>) | undefined;
  /** Counts an error that nothing has caught, for `/readyz` and the metrics. */
  readonly countUncaught: () => void;
  /** Kills every process at once and removes the files without waiting. Used on a second signal. */
  readonly killAll: () => void;
  /** Notifies the clients, ends all processes and removes the files. Idempotent. */
  close(reason: string): Promise<void>;
}

export interface AppDashboard {
  /** Address for a browser. */
  readonly url: string;
  /**
   * Makes a link that signs a browser in once, within ten minutes. Only for the person who starts the daemon. Undefined
   * where all programs need a token, or no page does.
   */
  readonly createLink: (() => string) | undefined;
}

/** Time between the shutdown notice to clients and the end, in milliseconds. */
const SHUTDOWN_GRACE_MS = 3000;

/** Builds and starts the daemon. Composition root: services are constructed here alone and closed in reverse order. */
export async function startApp(options: AppOptions): Promise<App> {
  const closers = new Closers();
  try {
    return await build(options, closers);
  } catch (error) {
    await closers[Symbol.asyncDispose]();
    throw error;
  }
}

async function build(options: AppOptions, closers: Closers): Promise<App> {
  const { configuration, log, secrets, version, detachment } = options;
  const { cluster, http: served } = configuration;
  let current = settingsOf(configuration);
  let closing: Promise<void> | undefined;
  await ensureWorkspace(configuration);
  const prometheus = served.metrics ? new PrometheusMetrics() : undefined;
  const early: EngineContext = {
    configuration: () => current.configuration,
    limits: () => current.limits,
    gate: () => current.gate,
    platform: choosePlatform(configuration.adapter.platform),
    log,
    metrics: prometheus ?? NO_METRICS,
    secrets,
    version,
    node: cluster.enabled ? nameNode(cluster.name) : undefined,
    detachment,
    closers,
    isClosing: () => closing !== undefined,
  };
  const engine = await buildEngine(early);
  const { instance } = engine;
  const context = await completeContext(early, instance, runOf(detachment, configuration, instance));
  const services = buildServices(engine, await buildAccess(engine, context), context);
  await services.recordings.prepare(configuration.adapter.stateDirectory);
  const { http, server } = buildTransports(services, context);
  // A gateway keeps no shells ready.
  const shells = services.cluster.runsSessions ? [engine.pool.fill(), engine.oneShots.fill()] : [];
  const [listener] = await Promise.all([joinCluster(engine, services, context), ...shells]);
  const readAgain = await takePart(engine, services, listener, context);
  if (prometheus) watchWorkload(prometheus, engine, services, server, context);
  const address = await http.listen();
  engine.forbidOwnPort(address.port);
  announceStart(services, context);
  const close = (reason: string) => (closing ??= shutDown(engine, services, server, closers, reason));
  return {
    url: urlOf(address, configuration),
    dashboard: dashboardOf(address, configuration, services),
    reconfigure: (next) => {
      const { configuration: merged, waiting } = reload(configuration, next);
      current = settingsOf(merged);
      secrets.replace(next.secrets);
      context.notifications.configure(merged.notify.webhooks);
      services.access.refresh();
      readAgain();
      context.audit.record({ event: 'configuration_reloaded', details: { configuration: next.file ?? null } });
      return waiting;
    },
    drain:
      detachment || !context.node || !services.cluster.runsSessions
        ? undefined
        : (reason) => drain(reason, services, context),
    countUncaught: () => {
      services.readiness.countUncaught();
    },
    killAll: engine.abandon,
    close,
    [Symbol.asyncDispose]: () => close('the daemon was stopped'),
  };
}

/**
 * `instance_id` for clients: another one means that everything of theirs has ended. What a cluster runs outlives the node
 * that they are connected to, and so does what another process holds.
 * @param instance id of this process
 */
function runOf(detachment: Detachment | undefined, { cluster }: Configuration, instance: string): string {
  if (detachment) return detachment.as === 'daemon' ? detachment.run : instance;
  const { enabled, role, secretFile } = cluster;
  return enabled && role !== 'worker' && secretFile !== undefined ? new LinkSecret(secretFile).clusterId : instance;
}

/** Tells the audit log and the webhooks that the daemon takes requests, and begins to measure the machine. */
function announceStart({ host }: Services, context: RuntimeContext): void {
  const { audit, notifications, version, configuration, detachment } = context;
  void host.start();
  const { file = null } = configuration();
  audit.record({ event: 'daemon_started', details: { version, pid: process.pid, configuration: file } });
  // Its daemon tells that.
  if (detachment?.as === 'holder') return;
  const message = `the daemon has started (version ${version})`;
  notifications.notify({ event: 'daemon_started', message, details: { version } });
}

/** Has the gauges of Prometheus read from the running daemon, and those of a gateway from its cluster. */
function watchWorkload(
  prometheus: PrometheusMetrics,
  { mechanism, oneShots }: Engine,
  { sessions, commands, llm, cluster }: Services,
  server: SocketIoServer | undefined,
  { configuration, limits }: RuntimeContext,
): void {
  for (const { name: shell } of SHELLS) prometheus.count('sessions_opened_total', { shell }, 0);
  prometheus.watch('daemon', () =>
    sampleWorkload({
      sessions,
      commands,
      oneShots,
      llm,
      mechanism,
      limits: limits().resources,
      clients: server?.clients ?? 0,
    }),
  );
  const { membership } = cluster;
  if (membership) {
    prometheus.watch('registry', () => {
      const ageMs = membership.leaseAgeMs;
      return { cluster_lease_age_seconds: ageMs === undefined ? undefined : ageMs / 1000 };
    });
  }
  const { enabled, role } = configuration().cluster;
  if (enabled && role !== 'worker') prometheus.watch('gateway', () => sampleWorkers(cluster.nodes.list().nodes));
}

function urlOf({ address, family, port }: AddressInfo, { socketio }: Configuration): string {
  return `${socketio.tls ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Browsers cannot open the address that means all of this machine. */
function dashboardOf(
  address: AddressInfo,
  configuration: Configuration,
  { links }: Services,
): AppDashboard | undefined {
  const { http, auth, cluster } = configuration;
  if (!http.dashboard || (cluster.enabled && cluster.role === 'worker')) return undefined;
  const host = address.address.replace(/^0\.0\.0\.0$/, '127.0.0.1').replace(/^::$/, '::1');
  const url = urlOf({ ...address, address: host }, configuration);
  return { url, createLink: auth.mode === 'auto' ? () => url + links.createForStart() : undefined };
}

async function drain(reason: string, services: Services, { configuration, log }: RuntimeContext): Promise<void> {
  const isIdle = await drainNode(services, reason, configuration().cluster.drainTimeoutMs);
  if (!isIdle) log('cluster').warn('the node ends before all that runs there: cluster.drain_timeout is over');
}

async function shutDown(
  { oneShots, checkpointWorkers }: Engine,
  { confirmations, sessions, llm, completions, executions, audit, cluster }: Services,
  server: SocketIoServer | undefined,
  closers: Closers,
  reason: string,
): Promise<void> {
  // What runs on other nodes goes on.
  if (cluster.runsSessions) server?.announceShutdown(reason, SHUTDOWN_GRACE_MS);
  // Work that clients wait for ends first, while they are still connected and can receive the results.
  const work = [confirmations, sessions, llm, completions, oneShots, executions, checkpointWorkers];
  await Promise.all([cluster.membership?.leave(), ...work.map((one) => one[Symbol.asyncDispose]())]);
  // The last commands have settled; what follows from their ends, such as audit records, comes in this turn.
  await nextTurn();
  audit.record({ event: 'daemon_stopped', details: { reason } });
  await closers[Symbol.asyncDispose]();
}

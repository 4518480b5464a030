import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Configuration } from '../config/model/configuration.js';
import { ensureWorkspace } from '../config/derive/workspace.js';
import type { LogFactory } from '../core/logging/log.js';
import { NO_METRICS } from '../core/metrics/metrics.js';
import type { SecretMask } from '../core/secrets/secret-mask.js';
import { choosePlatform } from '../engine/platform/choose-platform.js';
import { SHELLS } from '../engine/shells/list.js';
import { sampleWorkload } from '../services/machine/workload.js';
import type { Notifications } from '../services/notifications/notifications.js';
import type { Services } from '../services/services.js';
import { PrometheusMetrics } from '../transports/http/metrics/prometheus.js';

import type { Disposables } from './disposables.js';
import { buildAccess } from './access.js';
import { buildAudit } from './audit.js';
import type { Detachment } from './detach/detach.js';
import { announceStart, begin } from './begin.js';
import { drainOf } from './nodes/drain.js';
import { CurrentSettings } from './settings/current-settings.js';
import { abandonEngine, buildEngine, type Engine } from './engine.js';
import { buildNotifications } from './notifications.js';
import { nameNode } from './nodes/own-node.js';
import { runOf } from './detach/run.js';
import { buildRegistry } from './nodes/registry.js';
import { reload } from './settings/reload.js';
import type { RuntimeContext } from './runtime-context.js';
import { buildServices } from './services.js';
import { buildTraces } from './traces.js';
import { buildTransports, type ClientServer } from './transports.js';

/** Dependencies of `startApp`. */
export interface AppOptions {
  readonly configuration: Configuration;
  readonly version: string;
  readonly log: LogFactory;
  /** Masks the secrets of the configuration. The log uses the same mask. */
  readonly secrets: SecretMask;
  /** What the process is, where sessions outlive the daemon; undefined for a daemon that holds them itself. */
  readonly detachment?: Detachment | undefined;
}

/** A running daemon. */
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

/** The dashboard of a running daemon. */
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
  const closers: Disposables = [];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    return await build(options, closers, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function build(options: AppOptions, closers: Disposables, closeAll: () => Promise<void>): Promise<App> {
  const { configuration, log, secrets, version, detachment } = options;
  const settings = new CurrentSettings(configuration);
  let closing: Promise<void> | undefined;
  await ensureWorkspace(configuration);
  const prometheus = configuration.http.metrics ? new PrometheusMetrics() : undefined;
  const early = { ...firstParts(settings, configuration), log, closers, metrics: prometheus ?? NO_METRICS };
  const engine = await buildEngine(early);
  const notifications = buildNotifications(early, secrets);
  const context: RuntimeContext = {
    ...early,
    ...(await buildAudit(early, secrets, log('audit'))),
    version,
    run: runOf(detachment, configuration, engine.instance),
    shared: await buildRegistry(early),
    traces: await buildTraces(early, { secrets, version, instance: engine.instance }),
    notifications,
    secrets,
    gate: settings.gate,
    isClosing: () => closing !== undefined,
  };
  const services = buildServices(engine, await buildAccess(engine, context, detachment), context);
  await services.recordings.prepare(configuration.adapter.stateDirectory);
  const { http, server } = buildTransports(services, prometheus, context);
  const readAgain = await begin(detachment, engine, services, context);
  const parts = { engine, services, server, settings, notifications, readAgain };
  if (prometheus) watchWorkload(prometheus, parts);
  const address = await http.listen();
  engine.forbidOwnPort(address.port);
  announceStart(context, services, detachment);
  const close = (reason: string) => (closing ??= shutDown(parts, reason, closeAll));
  return {
    url: urlOf(address, configuration),
    dashboard: dashboardOf(address, configuration, services),
    reconfigure: (next) => reconfigure(options, next, parts),
    close,
    ...controlsOf(engine, services, context, detachment),
    [Symbol.asyncDispose]: () => close('the daemon was stopped'),
  };
}

/** What exists before the engine, besides log and metrics. */
const firstParts = ({ configuration, limits }: CurrentSettings, first: Configuration) => ({
  configuration,
  limits,
  node: nameNode(first),
  platform: choosePlatform(first.adapter.platform),
});

/** What the process does with it beside closing: stops it gently or at once, and counts errors. */
const controlsOf = (
  engine: Engine,
  services: Services,
  context: RuntimeContext,
  detachment: Detachment | undefined,
): Pick<App, 'drain' | 'killAll' | 'countUncaught'> => ({
  drain: detachment ? undefined : drainOf(services, context),
  killAll: () => abandonEngine(engine),
  countUncaught: () => {
    services.readiness.countUncaught();
  },
});

/** The parts of a running daemon. */
interface Parts {
  readonly engine: Engine;
  readonly services: Services;
  readonly server: ClientServer;
  readonly settings: CurrentSettings;
  readonly notifications: Notifications;
  /** Has what holds the sessions read the configuration again. */
  readonly readAgain: () => void;
}

/** Has the gauges of Prometheus read from the running daemon, and those of a gateway from its cluster. */
function watchWorkload(prometheus: PrometheusMetrics, { engine, services, server, settings }: Parts): void {
  const shells = SHELLS.map(({ name }) => name);
  prometheus.watch(shells, async () => {
    const { resources: limits } = settings.limits();
    return { ...(await sampleWorkload({ ...services, ...engine, limits })), clients: server.clients };
  });
  const { cluster } = services;
  const { membership } = cluster;
  if (membership) prometheus.watchRegistry(() => membership.leaseAgeMs);
  const { enabled, role } = settings.configuration().cluster;
  if (enabled && role !== 'worker')
    prometheus.watchWorkers(() => cluster.nodes.list().nodes.filter(({ url }) => url !== null));
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

function reconfigure(
  { configuration: atStart, secrets }: AppOptions,
  next: Configuration,
  { services: { access, audit }, settings, notifications, readAgain }: Parts,
): readonly string[] {
  const reloaded = reload(atStart, next);
  settings.replace(reloaded.configuration);
  secrets.replace(next.secrets);
  notifications.configure(reloaded.configuration.notify.webhooks);
  access.refresh();
  readAgain();
  audit.record({ event: 'configuration_reloaded', details: { configuration: next.file ?? null } });
  return reloaded.waiting;
}

async function shutDown(
  { engine, services, server }: Parts,
  reason: string,
  closeAll: () => Promise<void>,
): Promise<void> {
  const { confirmations, sessions, llm, completions, executions, audit, cluster } = services;
  // What runs on other nodes goes on.
  if (cluster.runsSessions) server.announceShutdown(reason, SHUTDOWN_GRACE_MS);
  // Work that clients wait for ends first, while they are still connected and can receive the results.
  const work = [confirmations, sessions, llm, completions, engine.oneShots, executions, engine.checkpointWorkers];
  await Promise.all([cluster.membership?.leave(), ...work.map((one) => one[Symbol.asyncDispose]())]);
  // The last commands have settled; what follows from their ends, such as audit records, comes in this turn.
  await nextTurn();
  audit.record({ event: 'daemon_stopped', details: { reason } });
  await closeAll();
}

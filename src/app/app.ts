import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import type { FastifyInstance } from 'fastify';

import { ensureWorkspace } from '../config/derive.js';
import type { Configuration } from '../config/model/configuration.js';
import { configurationError, valueAt, withValueAt } from '../config/model/problems.js';
import { listRestartKeys } from '../config/model/settings.js';
import { type AuditTrail, NO_AUDIT } from '../core/audit-events.js';
import { AdapterError } from '../core/errors.js';
import type { LimitsInForce } from '../core/limits.js';
import type { Log, LogFactory } from '../core/log.js';
import { NO_METRICS } from '../core/metrics.js';
import type { SecretMask } from '../core/secrets.js';
import { until } from '../core/time.js';
import { AuditFile } from '../engine/audit/audit-file.js';
import { measureLimits } from '../engine/limits/mechanism.js';
import { choosePlatform } from '../engine/platform/choose-platform.js';
import { SHELLS } from '../engine/shells/list.js';
import { LinkSecret } from '../services/access/dashboard-links.js';
import { AuditLog, RequestAudit } from '../services/audit.js';
import type { GateSettings } from '../services/gate/gate-options.js';
import { sampleWorkers, sampleWorkload } from '../services/machine/machine.js';
import type { Notifications } from '../services/notifications.js';
import type { Services } from '../services/services.js';
import {
  addPages,
  addSession,
  DASHBOARD_DIRECTORY,
  readDashboard,
  type SessionOptions,
} from '../transports/dashboard.js';
import { RequestAuthentication } from '../transports/http/authentication.js';
import { PrometheusMetrics } from '../transports/http/prometheus.js';
import { PatientRequests } from '../transports/http/http-requests.js';
import { HttpServer } from '../transports/http/server.js';
import { toolRoutes } from '../transports/http/routes.js';
import { McpEndpoint } from '../transports/mcp/endpoint.js';
import { OpenAiEndpoint } from '../transports/openai.js';
import { forwardUpgrades, PreviewEndpoint } from '../transports/previews.js';
import { descriptionRoutes, RestEndpoint, type RestEndpointOptions } from '../transports/rest/endpoint.js';
import { FileEndpoint, type FileEndpointOptions } from '../transports/rest/files.js';
import { SocketIoServer } from '../transports/socketio.js';
import { buildAccess } from './access.js';
import type { Detachment } from './detach/detach.js';
import { takePart } from './detach/take-part.js';
import type { Disposables, EngineContext, RuntimeContext, SharedRegistry } from './runtime-context.js';
import { abandonEngine, buildEngine, type Engine } from './engine.js';
import { gateSettings } from './gate.js';
import { joinCluster, nameNode } from './cluster.js';
import { buildNotifications } from './notifications.js';
import { buildServices } from './services.js';
import { buildTraces } from './traces.js';

/** Most daemons that may share a state directory, each with its own audit log. */
const MAX_DAEMONS = 64;

/** What writes and reads the audit log of this daemon. */
type Recording = Pick<RuntimeContext, 'audit' | 'requestAudit' | 'auditLog'>;

/** @param file undefined when nothing is recorded */
const recording = (audit: AuditTrail, file?: AuditFile): Recording => ({
  audit,
  requestAudit: new RequestAudit(audit),
  auditLog: new AuditLog(file?.path, () => file?.lastSeq ?? 0),
});

/**
 * Opens the audit log. It is closed last except for the engine, so that it records every end.
 * @throws AdapterError RESOURCE_EXHAUSTED when another daemon writes the file that the configuration names
 */
async function buildAudit(
  { configuration, closers, platform }: EngineContext,
  mask: SecretMask,
  log: Log,
): Promise<Recording> {
  const { audit } = configuration();
  if (!audit.enabled) return recording(NO_AUDIT);
  const open = (path: string) =>
    AuditFile.open({
      path,
      platform,
      maxBytes: audit.maxSizeBytes,
      backups: audit.backups,
      mask,
      onFailure: (error) => {
        log.error('the audit log cannot be written; what happens meanwhile waits, up to a bound', {
          error: String(error),
        });
      },
    });
  const file = audit.isFileChosen ? await open(audit.file) : await openFirstFree(audit.file, open);
  if (file.path !== audit.file) log.warn('another daemon has the audit log; this one has its own', { file: file.path });
  closers.push(() => file[Symbol.asyncDispose]());
  return recording(file, file);
}

/**
 * Two daemons in one hash chain would break it: opens `audit.jsonl`, or the first unlocked file of `audit-2.jsonl`, …
 */
async function openFirstFree(path: string, open: (path: string) => Promise<AuditFile>): Promise<AuditFile> {
  for (let number = 1; ; number += 1) {
    try {
      return await open(number === 1 ? path : path.replace(/(\.\w+)?$/, `-${number}$1`));
    } catch (error) {
      if (!(error instanceof AdapterError) || number === MAX_DAEMONS) throw error;
    }
  }
}

/** Starts what runs and holds sessions, here or elsewhere; returns how that reads the configuration again. */
async function begin(
  detachment: Detachment | undefined,
  engine: Engine,
  services: Services,
  context: RuntimeContext,
): Promise<() => void> {
  const [listener] = await Promise.all([joinCluster(engine, services, context), startShells(engine, services)]);
  return takePart(detachment, { engine, services, listener, context });
}

/** Starts the shells that are kept ready, except on a gateway. */
async function startShells({ pool, oneShots }: Engine, { cluster }: Services): Promise<void> {
  if (cluster.runsSessions) await Promise.all([pool.fill(), oneShots.fill()]);
}

/** Tells the audit log and the webhooks that the daemon takes requests, and begins to measure the machine. */
function announceStart(
  { audit, notifications, version, configuration }: RuntimeContext,
  { host }: Services,
  detachment: Detachment | undefined,
): void {
  void host.start();
  const { file = null } = configuration();
  audit.record({ event: 'daemon_started', details: { version, pid: process.pid, configuration: file } });
  // Its daemon tells that.
  if (detachment?.as === 'holder') return;
  const message = `the daemon has started (version ${version})`;
  notifications.notify({ event: 'daemon_started', message, details: { version } });
}

/** How often a node that is drained is looked at, in milliseconds. */
const LOOK_MS = 100;

/** How a node that runs sessions is drained before it ends; undefined for other daemons. */
function drainOf(services: Services, { configuration, node, log }: RuntimeContext) {
  const { cluster } = services;
  if (!node || !cluster.runsSessions) return undefined;
  return async (reason: string): Promise<void> => {
    const { drainTimeoutMs } = configuration().cluster;
    cluster.setDraining(true);
    announce(services, reason, drainTimeoutMs);
    const isIdle = await until(() => cluster.isIdle, LOOK_MS, drainTimeoutMs);
    if (!isIdle) log('cluster').warn('the node ends before all that runs there: cluster.drain_timeout is over');
  };
}

/** Tells the clients that follow a session when it ends at the latest. */
function announce({ connections, sessions }: Services, reason: string, graceMs: number): void {
  const channels = sessions.registry.all().map(({ channel }) => channel);
  for (const { sink } of connections.all()) {
    if (!sink || !channels.some((channel) => channel.isFollowedBy(sink))) continue;
    sink.send('server_shutdown', { reason: `the node is being drained (${reason})`, grace_ms: graceMs });
  }
}

/** The configuration in effect, which a reload replaces, and the settings of the gate and the limits that follow from it. */
class CurrentSettings {
  #configuration: Configuration;
  #gate: GateSettings;
  #limits: LimitsInForce;

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
    this.#gate = gateSettings(configuration);
    this.#limits = measureLimits(configuration.adapter);
  }

  readonly configuration = (): Configuration => this.#configuration;

  readonly gate = (): GateSettings => this.#gate;

  readonly limits = (): LimitsInForce => this.#limits;

  /** Puts another configuration into effect. */
  replace(configuration: Configuration): void {
    this.#gate = gateSettings(configuration);
    this.#limits = measureLimits(configuration.adapter);
    this.#configuration = configuration;
  }
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

/**
 * Connects to the registry of the cluster, and loads what that needs only if there is one. A registry that does not
 * answer is tried further. It is closed after what uses it.
 * @returns undefined for a daemon alone, and where workers are registered at each gateway
 * @throws ConfigurationError when the package is missing
 */
async function buildRegistry({
  configuration,
  closers,
  metrics,
  log: logs,
}: EngineContext): Promise<SharedRegistry | undefined> {
  const { enabled, redisUrl, keyPrefix: prefix, leaseMs } = configuration().cluster;
  if (!enabled || redisUrl === undefined) return undefined;
  const { RedisConnection } = await import('../cluster/registry/redis-connection.js');
  const { RedisTokens } = await import('../cluster/registry/redis-tokens.js');
  const { RedisRegistry } = await import('../cluster/registry/redis-registry.js');
  const log = logs('cluster');
  const onError = () => {
    metrics.count('cluster_registry_errors_total', {});
  };
  try {
    const connection = await RedisConnection.open({ url: redisUrl.reveal(), prefix, onError, log });
    closers.push(() => connection[Symbol.asyncDispose]());
    const registry = new RedisRegistry(connection, leaseMs, log);
    return { connection, registry, tokens: new RedisTokens(connection, log) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw configurationError('cluster.redis_url', 'needs ioredis: npm install ioredis', { cause: error });
  }
}

/** Result of reading the configuration again. */
interface Reload {
  readonly configuration: Configuration;
  /** Names of the changed settings that take effect at the next start. */
  readonly waiting: readonly string[];
}

/**
 * Merges a new configuration into the one at the start: everything may change except the values that sockets, shells
 * and files were created with. These are kept, so that no part of the daemon reports or uses a value that is not in
 * effect.
 */
export function reload(started: Configuration, next: Configuration): Reload {
  const keys = listRestartKeys();
  const kept = keys.reduce((merged, { codePath }) => withValueAt(merged, codePath, valueAt(started, codePath)), next);
  return {
    configuration: {
      ...kept,
      childEnvironment: started.childEnvironment,
      logging: { ...next.logging, logFilePath: logPath(started, next) },
    },
    waiting: keys
      .filter(({ codePath }) => !isDeepStrictEqual(valueAt(started, codePath), valueAt(next, codePath)))
      .map(({ path }) => path.join('.')),
  };
}

/**
 * The log file can change while the daemon runs, unless only its default changes, which follows the state directory:
 * that takes effect at the next start.
 */
function logPath(started: Configuration, next: Configuration): string {
  const { logFilePath } = next.logging;
  const isDefault = dirname(logFilePath) === next.adapter.stateDirectory;
  return isDefault ? join(started.adapter.stateDirectory, basename(logFilePath)) : logFilePath;
}

/** Builds the HTTP server and the transports on it. Does not listen yet. */
function buildTransports(
  services: Services,
  metrics: PrometheusMetrics | undefined,
  context: RuntimeContext,
): { readonly http: HttpServer; readonly server: ClientServer } {
  const { configuration, log, closers } = context;
  const { readiness, access, admission, peers, refusals } = services;
  const { socketio } = configuration();
  const settings = servedOf(context);
  const originPolicy = { ...socketio, takesPages: access.takesPages };
  const authentication = new RequestAuthentication(access, admission);
  const common = { services, authentication };
  const patientRequests = new PatientRequests();
  const { extensions, mcp } = buildExtensions({ ...common, patientRequests }, settings, context);
  const http = new HttpServer({
    readiness,
    metrics,
    originPolicy,
    extensions,
    dashboard: settings.dashboard ? buildDashboard({ ...services, authentication }, log('http')) : undefined,
    admission,
    authentication,
    refusals,
    patientRequests,
    onUnixPeer: (peer) => {
      peers.noteUnixPeer(peer);
    },
    log: log('http'),
    ...socketio,
  });
  closers.push(() => http[Symbol.asyncDispose]());
  if (mcp) closers.push(() => mcp[Symbol.asyncDispose]());
  if (!settings.hasClients) return { http, server: NO_CLIENTS };
  const server = new SocketIoServer({ services, http: http.server, originPolicy, log: log('socketio'), ...socketio });
  closers.push(() => server[Symbol.asyncDispose]());
  forwardUpgrades(http.server, { ...common, originPolicy, log: log('previews') });
  return { http, server };
}

/** What is served over HTTP with a token. */
interface Extensions {
  readonly extensions: readonly ((routes: FastifyInstance) => void)[];
  readonly mcp: McpEndpoint | undefined;
}

function buildExtensions(
  common: Pick<FileEndpointOptions, 'patientRequests'> & Pick<RestEndpointOptions, 'services' | 'authentication'>,
  settings: ReturnType<typeof servedOf>,
  { configuration, version, log }: RuntimeContext,
): Extensions {
  const { socketio } = configuration();
  if (!settings.hasClients) {
    const own = new RestEndpoint({ ...common, isOfWorker: true, log: log('rest'), ...socketio });
    return { extensions: [own.register], mcp: undefined };
  }
  const mcp = settings.mcp ? new McpEndpoint({ ...common, version, log: log('mcp'), ...socketio }) : undefined;
  const openai = settings.openai
    ? new OpenAiEndpoint(common.services, common.authentication, log('openai'))
    : undefined;
  const rest = settings.rest ? buildRest({ ...common, version, log: log('rest'), ...socketio }) : [];
  const previews = new PreviewEndpoint({ ...common, log: log('previews') });
  const endpoints = [openai, ...rest, mcp, previews].flatMap((endpoint) => endpoint?.register ?? []);
  return { extensions: [toolRoutes(common.authentication), ...endpoints], mcp };
}

/** The clients over Socket.IO. */
type ClientServer = Pick<SocketIoServer, 'clients' | 'announceShutdown'>;

/** A worker of a cluster has no clients of its own: those of gateways come over links. */
const NO_CLIENTS: ClientServer = { clients: 0, announceShutdown: () => undefined };

/** What is served beside health and metrics. */
function servedOf({ configuration, node }: RuntimeContext) {
  const { http, cluster } = configuration();
  if (!node) return { ...http, hasClients: true };
  if (cluster.role !== 'worker') return { ...http, hasClients: true };
  return { openai: false, rest: false, mcp: false, dashboard: false, hasClients: false };
}

/** Reads the built page; without it the daemon serves everything else. */
function buildDashboard(session: SessionOptions, log: Log): (routes: FastifyInstance) => void {
  const files = readDashboard(DASHBOARD_DIRECTORY);
  if (!files) log.warn('the dashboard is not built, so that / answers 503', { directory: DASHBOARD_DIRECTORY });
  return (routes) => {
    addPages(routes, files);
    addSession(routes, session);
  };
}

/** Builds what belongs to `http.rest`. */
function buildRest(
  options: RestEndpointOptions & Pick<FileEndpointOptions, 'patientRequests'> & { readonly version: string },
) {
  const descriptions = descriptionRoutes(options.authentication, options.version);
  return [new RestEndpoint(options), new FileEndpoint(options), { register: descriptions }];
}

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
  for (const { name: shell } of SHELLS) prometheus.count('sessions_opened_total', { shell }, 0);
  prometheus.watch('daemon', () =>
    sampleWorkload({ ...services, ...engine, server, limits: settings.limits().resources }),
  );
  const { cluster } = services;
  const { membership } = cluster;
  if (membership) {
    prometheus.watch('registry', () => {
      const ageMs = membership.leaseAgeMs;
      return { cluster_lease_age_seconds: ageMs === undefined ? undefined : ageMs / 1000 };
    });
  }
  const { enabled, role } = settings.configuration().cluster;
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

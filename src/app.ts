import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { Configuration } from './config/configuration.js';
import { ConfigurationError } from './config/problems.js';
import { ensureWorkspace } from './config/workspace.js';
import type { Log } from './core/log.js';
import { type Metrics, NO_METRICS } from './core/metrics.js';
import { compileRule } from './core/policy/rules.js';
import type { Answer } from './core/protocol/requests.js';
import { CheckpointWorkers } from './engine/checkpoints/worker-process.js';
import { OneShotRunner } from './engine/one-shot.js';
import {
  findDeadInstances,
  isInstanceAlive,
  makeRuntimeDirectory,
  removeRuntimeDirectory,
  type RuntimeDirectory,
} from './engine/runtime-directory.js';
import { ProcessStarter } from './engine/process-starter.js';
import { endProcesses, findInstanceProcesses, signalProcesses } from './engine/process-tree.js';
import { ShellPool } from './engine/shell-pool.js';
import { findShell } from './engine/shells/list.js';
import { Access } from './services/access/access.js';
import { type QuotaLimits, Quotas } from './services/access/quotas.js';
import { TokenFiles } from './services/access/token-files.js';
import { TokenStore } from './services/access/token-store.js';
import { Checkpoints } from './services/checkpoints.js';
import { CommandRegistry } from './services/command-registry.js';
import type { CommandLimits } from './services/command-limits.js';
import { Commands } from './services/commands.js';
import { CommandGate, type GateSettings, nobodyConfirms } from './services/gate.js';
import { Metadata } from './services/metadata.js';
import { Readiness } from './services/readiness.js';
import { SessionFacts } from './services/session-facts.js';
import { SessionHealth } from './services/session-health.js';
import type { Services } from './services/services.js';
import { type SessionLimits, Sessions } from './services/sessions.js';
import { sampleWorkload } from './services/workload.js';
import { PrometheusMetrics } from './transports/http/prometheus.js';
import { HttpServer } from './transports/http/server.js';
import { SocketIoServer } from './transports/socketio/server.js';

/** What the daemon needs from its surroundings. */
export interface AppOptions {
  readonly configuration: Configuration;
  readonly version: string;
  /** Gives a log for a part of the daemon. */
  readonly log: (component: string) => Log;
}

/** A running daemon. */
export interface App extends AsyncDisposable {
  /** `http://HOST:PORT`, or `https://` with TLS. */
  readonly url: string;
  /** Takes a new configuration: limits, sizes and times apply from now on, the rest from the next start. */
  reconfigure(configuration: Configuration): void;
  /** Ends every process at once and removes the files, without waiting for anything. For a second signal. */
  readonly abandon: () => void;
  /** Ends everything: clients are told, processes ended, files removed. Safe to call twice. */
  close(reason: string): Promise<void>;
}

/** How long clients get to read that the daemon is ending, in milliseconds. */
const SHUTDOWN_GRACE_MS = 3000;

/** Requests that a token may make at once, after a pause: those of so many seconds. */
const BURST_SECONDS = 2;

/** Builds the daemon and starts it. Nothing else constructs services; what was built is closed in reverse order. */
export async function startApp(options: AppOptions): Promise<App> {
  const closers: Closers = [];
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

async function build(options: AppOptions, closers: Closers, closeAll: () => Promise<void>): Promise<App> {
  const { log } = options;
  let { configuration } = options;
  let gate = gateSettings(configuration);
  let closing: Promise<void> | undefined;
  await ensureWorkspace(configuration);
  const engine = await buildEngine(configuration, log, closers);
  const access = buildAccess(configuration, log('access'), closers);
  const prometheus = configuration.http.metrics ? new PrometheusMetrics() : undefined;
  const services = buildServices(engine, access, options.version, log, closers, {
    metrics: prometheus ?? NO_METRICS,
    configuration: () => configuration,
    gate: () => gate,
    isClosing: () => closing !== undefined,
  });
  const { sessions, readiness } = services;
  const { socketio } = configuration;
  const door = { ...socketio, takesPages: access.takesPages };
  const http = new HttpServer({ readiness, metrics: prometheus, door, log: log('http'), ...socketio });
  closers.push(() => http[Symbol.asyncDispose]());
  const server = new SocketIoServer({ services, http: http.server, door, log: log('socketio'), ...socketio });
  closers.push(() => server[Symbol.asyncDispose]());
  prometheus?.watch(() => ({ ...sampleWorkload({ ...services, oneShots: engine.oneShots }), clients: server.clients }));
  await Promise.all([engine.pool.fill(), engine.oneShots.fill()]);
  const { address, family, port } = await http.listen();

  const close = (reason: string) => {
    closing ??= (async () => {
      server.announceShutdown(reason, SHUTDOWN_GRACE_MS);
      // What clients wait for ends first, while they are still connected and get the results.
      await Promise.all(
        [sessions, engine.oneShots, engine.checkpointWorkers].map((work) => work[Symbol.asyncDispose]()),
      );
      await closeAll();
    })();
    return closing;
  };
  return {
    url: `${configuration.socketio.tls ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    reconfigure: (next) => {
      gate = gateSettings(next);
      configuration = next;
      access.refresh();
    },
    close,
    abandon: () => {
      signalProcesses(findInstanceProcesses(engine.instance), 'SIGKILL');
      removeRuntimeDirectory(engine.runtimePath);
      rmSync(engine.spoolDirectory, { recursive: true, force: true });
    },
    [Symbol.asyncDispose]: () => close('the daemon was stopped'),
  };
}

/** What is to be closed, in the order in which it was built. */
type Closers = (() => void | Promise<void>)[];

interface Engine {
  readonly pool: ShellPool;
  readonly oneShots: OneShotRunner;
  readonly checkpointWorkers: CheckpointWorkers;
  readonly spoolDirectory: string;
  readonly instance: string;
  readonly runtimePath: string;
}

async function buildEngine(
  { adapter, childEnvironment: env }: Configuration,
  log: AppOptions['log'],
  closers: Closers,
): Promise<Engine> {
  const shell = findShell(adapter.shell, env['PATH'] ?? '');
  const runtime = makeRuntimeDirectory();
  closers.push(() => {
    removeRuntimeDirectory(runtime.path);
  });
  const spoolRoot = join(adapter.stateDirectory, 'spool');
  await sweep(runtime, spoolRoot, log('recovery'));
  const spoolDirectory = makeSpoolDirectory(spoolRoot, runtime);
  closers.push(() => {
    rmSync(spoolDirectory, { recursive: true, force: true });
  });
  const { killGraceMs, prewarm, workspaceDirectory: cwd } = adapter;
  const starter = new ProcessStarter(`${runtime.instance}.starter`, log('starter'));
  closers.push(() => starter[Symbol.asyncDispose]());
  starter.warmUp();
  const pool = new ShellPool({ runtime, defaultShell: shell, cwd, env, size: prewarm.sessions, log: log('pool') });
  closers.push(() => pool[Symbol.asyncDispose]());
  const common = { runtime, starter, shell, cwd, env, killGraceMs };
  const oneShots = new OneShotRunner({ ...common, prewarm: prewarm.oneShots, log: log('one_shots') });
  closers.push(() => oneShots[Symbol.asyncDispose]());
  const checkpointWorkers = new CheckpointWorkers();
  closers.push(() => checkpointWorkers[Symbol.asyncDispose]());
  return { pool, oneShots, checkpointWorkers, spoolDirectory, instance: runtime.instance, runtimePath: runtime.path };
}

/** What changes while the daemon runs, and where its figures go. */
interface CurrentState {
  readonly metrics: Metrics;
  readonly configuration: () => Configuration;
  readonly gate: () => GateSettings;
  readonly isClosing: () => boolean;
}

function buildServices(
  engine: Engine,
  access: Access,
  version: string,
  log: AppOptions['log'],
  closers: Closers,
  { metrics, configuration, gate, isClosing }: CurrentState,
): Services {
  const { pool, oneShots, spoolDirectory, instance } = engine;
  const registry = new CommandRegistry();
  closers.push(() => registry.clear());
  const workspace = pool.cwd;
  const commandGate = new CommandGate({
    settings: gate,
    facts: new SessionFacts({
      workspace,
      env: pool.env,
      shell: pool.defaultShell.shell.name,
      protectedPaths: () => protectedPaths(configuration()),
    }),
    confirm: nobodyConfirms,
    log: log('gate'),
  });
  const quotas = new Quotas(() => quotaLimits(configuration()));
  const sessions = new Sessions({
    pool,
    gate: commandGate,
    quotas,
    commands: registry,
    limits: () => sessionLimits(configuration()),
    metrics,
    log: log('sessions'),
  });
  closers.push(() => sessions[Symbol.asyncDispose]());
  const limits = () => commandLimits(configuration());
  const health = new SessionHealth({ env: pool.env });
  const commands = new Commands({
    sessions,
    registry,
    oneShots,
    gate: commandGate,
    health,
    limits,
    workspace,
    spoolDirectory,
    metrics,
  });
  const metadata = new Metadata({
    workspace,
    env: pool.env,
    defaultShell: pool.defaultShell,
    instanceId: instance,
    adapterVersion: version,
    limits: () => reportedLimits(configuration()),
  });
  const checkpoints = buildCheckpoints(engine, log, configuration);
  const readiness = new Readiness({ isClosing, pool });
  return { access, quotas, sessions, commands, checkpoints, metadata, readiness, metrics, isClosing };
}

/** Who may connect; makes the first token at the first start. */
function buildAccess({ auth, adapter }: Configuration, log: Log, closers: Closers): Access {
  const files = new TokenFiles(adapter.stateDirectory);
  const first = files.createFirst();
  if (first) log.info('the first token was made', { role: first.token.role, file: files.firstSecretFile });
  const tokens = new TokenStore(files, log);
  closers.push(() => {
    tokens[Symbol.dispose]();
  });
  return new Access(auth.mode, tokens);
}

function buildCheckpoints(
  { pool, checkpointWorkers, runtimePath }: Engine,
  log: AppOptions['log'],
  configuration: () => Configuration,
): Checkpoints {
  const { adapter, logging } = configuration();
  const directory = join(adapter.stateDirectory, 'checkpoints');
  return new Checkpoints({
    workspace: adapter.workspaceDirectory,
    directory,
    excluded: ownPaths(
      [adapter.stateDirectory, directory, join(adapter.stateDirectory, 'spool'), runtimePath],
      logging,
    ),
    path: pool.env['PATH'] ?? '',
    limits: () => configuration().checkpoints,
    output: () => commandLimits(configuration()).output,
    run: checkpointWorkers.run,
    log: log('checkpoints'),
  });
}

/** What the daemon has open or writes by itself: it must be there before and after a restore. */
function ownPaths(directories: readonly string[], { filePath, backupCount }: Configuration['logging']): string[] {
  const logs = [filePath, ...Array.from({ length: backupCount }, (_, index) => `${filePath}.${index + 1}`)];
  return [...directories, ...logs];
}

/** Files that decide over the gate itself, or that the daemon needs. */
const protectedPaths = ({ file, adapter, logging }: Configuration): readonly string[] => [
  ...(file === undefined ? [] : [file]),
  adapter.stateDirectory,
  logging.filePath,
];

/**
 * What the gate goes by.
 * @throws {ConfigurationError} when a rule cannot be used; configurations that were loaded have none of these.
 */
function gateSettings({ confirmation, childEnvironment, file }: Configuration): GateSettings {
  const rules = confirmation.rules.map((definition, index) => {
    const compiled = compileRule(definition, childEnvironment['HOME']);
    if ('rule' in compiled) return compiled.rule;
    const { field, message } = compiled.problem;
    const path = `confirmation.rules[${index}].${field}`;
    throw new ConfigurationError([
      { file: file ?? 'configuration', line: undefined, column: undefined, path, message },
    ]);
  });
  return { isEnforced: confirmation.mode !== 'off', policy: { actions: confirmation.actions, rules } };
}

const quotaLimits = ({ auth }: Configuration): QuotaLimits => ({
  requests: { perSecond: auth.requestsPerSecond, burst: auth.requestsPerSecond * BURST_SECONDS },
  maxSessions: auth.maxSessionsPerToken,
});

const sessionLimits = ({ adapter }: Configuration): SessionLimits => ({
  maxSessions: adapter.maxSessions,
  maxLifetimeMs: adapter.sessionMaxLifetimeMs,
  idleTimeoutMs: adapter.sessionIdleTimeoutMs,
  reconnectGraceMs: adapter.reconnectGraceMs,
  checkIntervalMs: adapter.connectionCheckIntervalMs,
  killGraceMs: adapter.killGraceMs,
  wedgeTimeoutMs: adapter.wedgeTimeoutMs,
  spoolMaxBytes: adapter.spoolMaxBytes,
  replayMaxBytes: adapter.replayMaxBytes,
});

const commandLimits = ({ adapter }: Configuration): CommandLimits => ({
  maxLifetimeMs: adapter.commandMaxLifetimeMs,
  queueLimit: adapter.queueLimit,
  maxOneShots: adapter.maxSessions,
  output: { maxSize: adapter.maxOutputSize, beginSize: adapter.beginOutputSize, endSize: adapter.endOutputSize },
  spoolMaxBytes: adapter.spoolMaxBytes,
  replayMaxBytes: adapter.replayMaxBytes,
});

const reportedLimits = ({ adapter, socketio }: Configuration): Answer<'shell_metadata'>['limits'] => ({
  command_max_lifetime_ms: adapter.commandMaxLifetimeMs,
  session_max_lifetime_ms: adapter.sessionMaxLifetimeMs,
  max_sessions: adapter.maxSessions,
  queue_limit: adapter.queueLimit,
  max_output_size: adapter.maxOutputSize,
  begin_output_size: adapter.beginOutputSize,
  end_output_size: adapter.endOutputSize,
  max_message_bytes: socketio.maxMessageBytes,
});

/** Ends and removes what daemons have left that were killed. */
async function sweep(runtime: RuntimeDirectory, spoolRoot: string, log: Log): Promise<void> {
  for (const { instance, path } of findDeadInstances(runtime)) {
    const survivors = await endProcesses(() => findInstanceProcesses(instance), 0);
    removeRuntimeDirectory(path);
    log.warn('what a killed daemon had left was removed', { instance, survivors: survivors.length });
  }
  // A daemon with another state directory may have removed the rest of it.
  const spools = existsSync(spoolRoot) ? readdirSync(spoolRoot) : [];
  for (const instance of spools.filter((name) => !isInstanceAlive(name))) {
    rmSync(join(spoolRoot, instance), { recursive: true, force: true });
  }
}

/** Outputs are kept here; without the directory the beginning of each is kept in memory. */
function makeSpoolDirectory(spoolRoot: string, runtime: RuntimeDirectory): string {
  const directory = join(spoolRoot, runtime.instance);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

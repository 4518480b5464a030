import { dirname, join } from 'node:path';

import { examinedSettings, ownFiles, runsCommands } from '../config/derive.js';
import { type Configuration, ownPaths, withDaemon } from '../config/model/configuration.js';
import { rememberLast } from '../core/replay-ring.js';
import { examineMachine } from '../doctor/doctor.js';
import { examineUsers } from '../doctor/engine.js';
import { examineLlmProviders } from '../doctor/llm.js';
import { findUser } from '../engine/system/find-user.js';
import { ownUid } from '../engine/system/own-user.js';
import { Quotas } from '../services/access/admission.js';
import { RememberedGuard, saveBefore, WorkspaceGuard } from '../services/checkpoints/checkpoint-guard.js';
import { Checkpoints } from '../services/checkpoints/checkpoints.js';
import { Restores } from '../services/checkpoints/restores.js';
import { WorkspaceCheckpoints } from '../services/checkpoints/workspace-checkpoints.js';
import { CommandRunner } from '../services/commands/command-runner.js';
import { CommandTrail } from '../services/commands/command-trail.js';
import { Commands } from '../services/commands/commands.js';
import { StreamedInputs } from '../services/commands/running-commands.js';
import { Confirmations } from '../services/confirmations/confirmations.js';
import { approvalObserver, confirmationObserver } from '../services/confirmations/records.js';
import type { ClusterPort } from '../services/cluster-port.js';
import { type Execution, Executions } from '../services/executions.js';
import { FilePlaces } from '../services/files/file-place.js';
import { Files } from '../services/files/files.js';
import { FileGate } from '../services/gate/file-gate.js';
import { CommandGate } from '../services/gate/gate.js';
import { GateDesk, SyntaxGuard } from '../services/gate/gate-options.js';
import { SessionFacts } from '../services/gate/session-facts.js';
import { ShellGate, StartupGate } from '../services/gate/startup-gate.js';
import { TypingGate } from '../services/gate/typing-gate.js';
import { ResourceMonitor } from '../services/limits/resource-monitor.js';
import { SessionUsage } from '../services/limits/session-usage.js';
import { Ports } from '../services/listening-ports.js';
import { CallLog } from '../services/llm/call-log.js';
import { LlmCalls } from '../services/llm/calls.js';
import { Completions } from '../services/llm/completions.js';
import { HttpProviders } from '../services/llm/http-providers.js';
import { Providers } from '../services/llm/providers.js';
import { Reviewers } from '../services/llm/review.js';
import { ShellCatalogue } from '../services/llm/shell-catalogue.js';
import { ShellProviders } from '../services/llm/shell-providers.js';
import { HostMonitor, HostReader } from '../services/machine/host-monitor.js';
import { DaemonStatus, Machine, Readiness } from '../services/machine/machine.js';
import { Metadata } from '../services/machine/metadata.js';
import { Previews } from '../services/previews.js';
import { Recordings } from '../services/recordings.js';
import { Connections } from '../services/registry/caller.js';
import { CommandRegistry } from '../services/registry/command-registry.js';
import { approvalFileIn, RememberedApprovals } from '../services/remembered-approvals.js';
import { Screens } from '../services/screens.js';
import type { Services } from '../services/services.js';
import { SessionStartup } from '../services/session-startup.js';
import { SessionDescriptions } from '../services/sessions/session-description.js';
import { SessionHealth } from '../services/sessions/session-health.js';
import { Sessions } from '../services/sessions/sessions.js';
import {
  AuditSource,
  CommandSource,
  ConfirmationSource,
  HostSource,
  LlmSource,
  NodeSource,
  SessionSource,
} from '../services/subscription-sources.js';
import { Subscriptions } from '../services/subscriptions.js';
import { Waiting } from '../services/waiting.js';
import { Watching } from '../services/watching.js';
import type { buildAccess } from './access.js';
import { buildCluster } from './cluster.js';
import type { RuntimeContext } from './context.js';
import type { Engine } from './engine.js';
import {
  commandLimits,
  confirmationSettings,
  metadataSettings,
  outputLimits,
  quotaLimits,
  sessionLimits,
  statusSettings,
  watchSettings,
} from './settings.js';

export type AccessServices = Awaited<ReturnType<typeof buildAccess>>;

/** Creates the services, in the order in which they need each other. */
export function buildServices(engine: Engine, access: AccessServices, context: RuntimeContext): Services {
  const base = buildBase(engine, access, context);
  const llm = buildLlm(engine, base, context);
  const confirming = buildConfirming(engine, base, llm.llm, access, context);
  const gates = buildGates(engine, base, confirming, context);
  const sessions = buildSessions(base, confirming, gates, context);
  const commands = buildCommands(engine, base, confirming, gates, sessions, context);
  const cluster = buildCluster(engine, access, base, sessions, context);
  const files = buildFiles(engine, base, confirming, gates, sessions, context);
  const { metrics, traces, audit, requestAudit, auditLog, secrets, isClosing } = context;
  const services = { ...access, ...base, ...llm, ...confirming, ...sessions, ...commands, ...files, cluster };
  return {
    ...services,
    ...buildReports(engine, services, context),
    metrics,
    traces,
    audit,
    requestAudit,
    auditLog,
    secrets,
    isClosing,
  };
}

/** Builds what keeps users, commands, checkpoints and resources apart. */
function buildBase(engine: Engine, { access }: AccessServices, context: RuntimeContext) {
  const { configuration, limits, log, node, closers } = context;
  const registry = new CommandRegistry(node?.name);
  closers.defer(() => registry.clear());
  const executions = closers.use(new Executions(engine, ownUid() === 0, findUser, engine.buildFor));
  const checkpoints = new WorkspaceCheckpoints(executions, (execution) => checkpointsOf(execution, engine, context));
  const monitor = closers.use(
    new ResourceMonitor(
      engine.pool.cwd,
      engine.mechanism,
      () => watchSettings(configuration(), limits()),
      log('monitor'),
    ),
  );
  const quotas = new Quotas(() => quotaLimits(configuration()));
  access.onTokenEnd((id) => {
    quotas.forget(id);
    void registry.forgetOwner(id);
  });
  return { registry, executions, checkpoints, monitor, quotas, connections: new Connections() };
}

export type Shared = ReturnType<typeof buildBase>;

function checkpointsOf({ pool, launch, runJob }: Execution, engine: Engine, context: RuntimeContext): Checkpoints {
  const { configuration, log, node, platform } = context;
  const { adapter, recording } = configuration();
  const { stateDirectory } = adapter;
  // The processes of another user cannot write to a directory of the daemon.
  const parent = launch ? join(launch.user.home, '.local/state/shell-adapter') : stateDirectory;
  const directory = join(parent, 'checkpoints');
  return new Checkpoints({
    workspace: pool.cwd,
    directory,
    excluded: [
      ...[stateDirectory, directory, join(stateDirectory, 'spool'), engine.runtimePath, recording.directory],
      // These must survive a restore unchanged.
      ...withDaemon(configuration()).flatMap(ownFiles),
    ],
    path: pool.env['PATH'] ?? '',
    limits: () => configuration().checkpoints,
    platform: platform.name,
    output: () => outputLimits(configuration()),
    run: runJob,
    log: log('checkpoints'),
    node: node?.name,
  });
}

/** Builds the LLM providers (command-line tools and services) and the models of the HTTP endpoint. */
function buildLlm(engine: Engine, { monitor, executions }: Shared, context: RuntimeContext) {
  const { configuration, limits, secrets, metrics, closers, node } = context;
  const { pool, oneShots, scratch, worktrees, spoolDirectory } = engine;
  const settings = () => configuration().llm;
  const catalogue = new ShellCatalogue(settings, pool.env['PATH'] ?? '');
  const shells = new ShellProviders({
    oneShots,
    spoolDirectory,
    scratch,
    catalogue,
    settings,
    limits: () => ({ ...limits().resources, ...settings().limits }),
    secrets,
    monitor,
    metrics,
  });
  const providers = new Providers(catalogue, shells, new HttpProviders(settings), settings, secrets, metrics);
  const log = new CallLog(node?.name);
  const llm = closers.use(new LlmCalls(providers, log, settings, executions));
  const completions = closers.use(
    new Completions({
      settings,
      catalogue,
      providers,
      log,
      worktrees,
      workspace: pool.cwd,
      secrets,
      output: () => outputLimits(configuration()),
    }),
  );
  return { llm, completions };
}

/** Builds the confirmations, with those that are remembered from an earlier run. */
function buildConfirming(engine: Engine, base: Shared, llm: LlmCalls, access: AccessServices, context: RuntimeContext) {
  const { configuration, secrets, metrics, audit, notifications, log: logs, closers, node } = context;
  const { connections, checkpoints } = base;
  const { pool, oneShots } = engine;
  const log = logs('confirmations');
  const save = saveBefore(checkpoints, () => configuration().confirmation.checkpoint);
  const approvals = closers.use(
    new RememberedApprovals(
      { workspace: pool.cwd, path: pool.env['PATH'] ?? '', sandbox: () => oneShots.sandbox.profile },
      approvalFileIn(configuration().adapter.stateDirectory),
      () => confirmationSettings(configuration()),
      approvalObserver(log, audit),
      log,
    ),
  );
  const confirmations = closers.use(
    new Confirmations({
      settings: () => confirmationSettings(configuration()),
      connections,
      reviewer: new Reviewers(llm, () => configuration().confirmation.reviewer, secrets).current,
      save,
      approvals,
      diffBaseFor: (viewer) => checkpoints.newestFor(viewer),
      isActive: (principal) => access.access.isActive(principal),
      node: node?.id,
      observe: confirmationObserver(log, metrics, audit, notifications),
    }),
  );
  return { approvals, approvalGuard: new RememberedGuard(approvals, save), confirmations };
}

type Confirming = ReturnType<typeof buildConfirming>;

/** Builds the gates that every command and every request about files pass. */
function buildGates(engine: Engine, base: Shared, { approvalGuard }: Confirming, context: RuntimeContext) {
  const { gate: settings, configuration, audit, log: logs } = context;
  const { executions, checkpoints } = base;
  const pathsOf = rememberLast((current: Configuration) => ownPaths(current, dirname(engine.runtimePath)));
  const facts = new SessionFacts(executions, () => pathsOf(configuration()));
  const desk = new GateDesk(settings, facts, audit, logs('gate'));
  const timeoutMs = () => configuration().confirmation.checkpointTimeoutMs;
  const guard = new WorkspaceGuard(checkpoints, timeoutMs);
  return {
    desk,
    gate: new CommandGate(desk, guard, approvalGuard, new SyntaxGuard(executions), new TypingGate(desk)),
    fileGate: new FileGate(desk, guard),
    startupGate: new StartupGate(desk),
    shellGate: new ShellGate(desk),
  };
}

type Gates = ReturnType<typeof buildGates>;

/** Builds what opens, describes and records sessions. */
function buildSessions(base: Shared, { confirmations }: Confirming, { shellGate }: Gates, context: RuntimeContext) {
  const { configuration, limits, metrics, audit, notifications, secrets, log, closers, node, platform } = context;
  const { registry, executions, monitor, quotas } = base;
  const recording = () => configuration().recording;
  const { directory } = recording();
  const recordings = new Recordings(directory, recording, secrets, log('recordings'));
  const usage = new SessionUsage(monitor, log('monitor'), notifications);
  const health = new SessionHealth(executions.own.pool.env, notifications);
  const sessions = closers.use(
    new Sessions({
      executions,
      gate: shellGate,
      confirmations,
      quotas,
      commands: registry,
      usage,
      health,
      recordings,
      limits: () => sessionLimits(configuration(), limits(), platform),
      metrics,
      audit,
      log: log('sessions'),
      node: node?.id,
      onEnded: sessionReleaser(context),
    }),
  );
  const descriptions = new SessionDescriptions(sessions, usage, health, registry, node?.name);
  const screens = closers.use(new Screens(registry, sessions.registry));
  return { recordings, usage, sessions, health, descriptions, screens };
}

export type SessionServices = ReturnType<typeof buildSessions>;

/** Tells the registry of the cluster that a session has ended; undefined without one. */
function sessionReleaser({ shared, node, log }: RuntimeContext): ConstructorParameters<typeof Sessions>[0]['onEnded'] {
  if (!shared || !node) return undefined;
  return (session) => {
    shared.registry.release(node.id, session).catch((error: unknown) => {
      const why = (error as Error).message;
      log('cluster').debug('a place could not be given back, and expires', { session_id: session.id, why });
    });
  };
}

function buildCommands(
  { spoolDirectory }: Engine,
  { registry, executions, monitor, quotas }: Shared,
  { confirmations }: Confirming,
  { gate, startupGate }: Gates,
  { sessions, health }: SessionServices,
  context: RuntimeContext,
) {
  const { configuration, limits, metrics, traces, audit, notifications, secrets, platform } = context;
  const inputs = new StreamedInputs(registry, executions, () => configuration().adapter.reconnectGraceMs);
  const runner = new CommandRunner(
    sessions,
    executions,
    registry,
    quotas,
    health,
    monitor,
    inputs,
    new CommandTrail(audit, metrics, traces, notifications),
    () => commandLimits(configuration(), limits(), platform),
    (budget) => ({ spoolDirectory, budget, metrics, secrets: secrets.patterns }),
  );
  const commands = new Commands(registry, sessions.registry, executions, inputs, gate, confirmations, runner, traces);
  const environments = () => configuration().environments;
  const startup = new SessionStartup(sessions, commands, startupGate, executions, environments);
  return { inputs, commands, startup };
}

/** Builds what reads and changes files, and what waits for them and for ports. */
function buildFiles(
  { spoolDirectory }: Engine,
  base: Shared,
  { confirmations }: Confirming,
  { desk, fileGate }: Gates,
  { sessions, screens }: SessionServices,
  context: RuntimeContext,
) {
  const { configuration, limits, secrets, isClosing, closers, node, platform } = context;
  const { registry, executions, checkpoints, monitor, connections } = base;
  const places = new FilePlaces(
    executions,
    sessions,
    monitor,
    platform.directories,
    spoolDirectory,
    () => configuration().adapter.commandTimeoutMs,
    limits,
  );
  const files = new Files(places, fileGate, confirmations, secrets);
  const ports = new Ports(sessions.registry, platform.listening);
  return {
    files,
    restores: new Restores(checkpoints, registry, confirmations, desk),
    ports,
    previews: new Previews(sessions, ports, () => configuration().http.previews),
    watching: closers.use(new Watching(files, sessions.registry, node?.id)),
    waiting: new Waiting(sessions.registry, registry, screens, files, ports, connections, isClosing),
  };
}

type Reported = AccessServices &
  Shared &
  Confirming &
  SessionServices &
  ReturnType<typeof buildLlm> & { readonly cluster: ClusterPort };

/** Builds what the daemon says of itself and its machine, and what tells clients of changes. */
function buildReports(engine: Engine, services: Reported, context: RuntimeContext) {
  const { version, run, configuration, limits, metrics, auditLog, log, isClosing, closers, node, platform } = context;
  const { sessions, descriptions, executions, connections, confirmations, llm, registry, cluster } = services;
  const host = closers.use(
    new HostMonitor(new HostReader(engine.pool.cwd, platform.openMachine()), () => {
      const held = cluster.heldCounts();
      return {
        sessions: sessions.registry.visible + held.sessions,
        commands_running: sessions.registry.running + executions.running + held.commandsRunning,
      };
    }),
  );
  const sources = {
    sessions: new SessionSource(sessions.registry, descriptions),
    commands: new CommandSource(registry.journal),
    confirmations: new ConfirmationSource(confirmations),
    llm: new LlmSource(llm.calls),
    host: new HostSource(host),
    audit: new AuditSource(auditLog),
    nodes: new NodeSource(cluster.nodes),
  };
  return {
    host,
    subscriptions: closers.use(
      new Subscriptions(sources, auditLog.isEnabled, cluster.node !== undefined, log('subscriptions')),
    ),
    readiness: new Readiness(isClosing, engine.pool, cluster, metrics),
    metadata: new Metadata({
      executions,
      instance: engine.instance,
      version,
      settings: () => metadataSettings(configuration()),
      limits,
      chosen: engine,
      platform,
      node: node?.name,
    }),
    status: new DaemonStatus(
      run,
      version,
      platform,
      () => statusSettings(configuration()),
      sessions,
      executions,
      connections,
    ),
    machine: new Machine(() => examine(configuration(), version)),
  };
}

/** Examines the machine: the checks of `shell-adapter doctor`, without those of a daemon elsewhere. */
async function examine(configuration: Configuration, version: string) {
  const { childEnvironment: env, adapter, llm, file = 'defaults' } = configuration;
  const isRunning = runsCommands(configuration);
  const [machine, providers, users] = await Promise.all([
    examineMachine({ env, ...examinedSettings(configuration) }),
    isRunning ? examineLlmProviders(llm, env) : [],
    isRunning ? examineUsers({ stateDirectory: adapter.stateDirectory, path: env['PATH'] ?? '' }) : [],
  ]);
  return [
    { name: 'version', status: 'ok' as const, detail: `shell-adapter ${version}` },
    ...machine,
    ...providers,
    { name: 'configuration', status: 'ok' as const, detail: file },
    ...users,
  ];
}

import { join } from 'node:path';

import { examinedSettings, ownFiles, runsCommands } from '../config/derive.js';
import { type Configuration, withDaemon } from '../config/model/configuration.js';
import { type AuditEventName, auditPrincipal } from '../core/audit-events.js';
import type { ConfirmationMode } from '../core/confirmation.js';
import { COMMAND_CLASSES } from '../core/policy/model.js';
import { examineMachine } from '../doctor/doctor.js';
import { examineLlmProviders } from '../doctor/llm.js';
import { examineUsers } from '../doctor/engine.js';
import { ownUid } from '../engine/system/own-user.js';
import { findUser } from '../engine/system/find-user.js';
import { CallLog } from '../services/llm/call-log.js';
import { LlmCalls } from '../services/llm/calls.js';
import { Completions } from '../services/llm/completions.js';
import { HttpProviders } from '../services/llm/http-providers.js';
import { Providers } from '../services/llm/providers.js';
import { ShellCatalogue } from '../services/llm/shell-catalogue.js';
import { ShellProviders } from '../services/llm/shell-providers.js';
import { Quotas } from '../services/access/admission.js';
import { approvalFileIn, type ApprovalRecord, RememberedApprovals } from '../services/remembered-approvals.js';
import { Checkpoints } from '../services/checkpoints/checkpoints.js';
import { WorkspaceCheckpoints } from '../services/checkpoints/workspace-checkpoints.js';
import { RememberedGuard } from '../services/confirmations/remembered-guard.js';
import { Files, type FilesOptions } from '../services/files/files.js';
import type { ResourceMonitor } from '../services/limits/resource-monitor.js';
import { DaemonStatus, Machine, Readiness, type ReportedConfiguration } from '../services/machine/machine.js';
import { HostMonitor, HostReader } from '../services/machine/host-monitor.js';
import { Metadata, type ServedParts } from '../services/machine/metadata.js';
import { Previews } from '../services/previews.js';
import { CommandRegistry } from '../services/registry/command-registry.js';
import { Connections } from '../services/registry/caller.js';
import { Restores, type RestoresOptions } from '../services/checkpoints/restores.js';
import type { Services } from '../services/services.js';
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
import { type Execution, Executions } from '../services/executions.js';
import { Ports } from '../services/listening-ports.js';
import { Waiting } from '../services/waiting.js';
import { Watching } from '../services/watching.js';
import type { AccessServices } from './access.js';
import type { Engine } from './engine.js';
import { buildExecution, buildGates, buildMonitor } from './execution.js';
import { buildConfirmations, confirmationSettings, saveBefore } from './gate.js';
import { buildCluster } from './cluster.js';
import type { RuntimeContext } from './runtime-context.js';
import { outputLimits, quotaLimits, reportedLimits } from './limits.js';

/** Builds the examination of the machine: the checks of `shell-adapter doctor`, without those of a daemon elsewhere. */
const buildMachine = ({ configuration, version }: RuntimeContext): Machine =>
  new Machine(async () => {
    const current = configuration();
    const { childEnvironment: env, adapter, llm, file = 'defaults' } = current;
    const isRunning = runsCommands(current);
    const [machine, providers, users] = await Promise.all([
      examineMachine({ env, ...examinedSettings(current) }),
      isRunning ? examineLlmProviders({ settings: llm, env }) : [],
      isRunning ? examineUsers({ stateDirectory: adapter.stateDirectory, path: env['PATH'] ?? '' }) : [],
    ]);
    return [
      { name: 'version', status: 'ok', detail: `shell-adapter ${version}` },
      ...machine,
      ...providers,
      { name: 'configuration', status: 'ok', detail: file },
      ...users,
    ];
  });

/** The services that are observed. */
type Observed = Pick<Services, 'sessions' | 'descriptions' | 'executions' | 'confirmations' | 'llm' | 'cluster'> & {
  readonly registry: CommandRegistry;
};

/** Builds what measures the machine, and what tells clients of changes. */
function buildObservation(
  { pool, platform }: Engine,
  { sessions, descriptions, executions, confirmations, llm, registry, cluster }: Observed,
  { auditLog, log, closers }: RuntimeContext,
): Pick<Services, 'host' | 'subscriptions'> {
  const host = new HostMonitor({
    reader: new HostReader(pool.cwd, platform.openMachine()),
    counts: () => {
      const { registry: open } = sessions;
      const held = cluster.heldCounts();
      return {
        sessions: open.all().filter(({ isHidden }) => !isHidden).length + held.sessions,
        commands_running: open.running + executions.running + held.commandsRunning,
        daemon_rss_bytes: residentBytes(),
      };
    },
  });
  const subscriptions = new Subscriptions({
    log: log('subscriptions'),
    isAudited: auditLog.isEnabled,
    hasNodes: cluster.node !== undefined,
    sources: {
      sessions: new SessionSource(sessions.registry, descriptions),
      commands: new CommandSource(registry.journal),
      confirmations: new ConfirmationSource(confirmations),
      llm: new LlmSource(llm.calls),
      host: new HostSource(host),
      audit: new AuditSource(auditLog),
      nodes: new NodeSource(cluster.nodes),
    },
  });
  closers.push(() => {
    host[Symbol.dispose]();
    subscriptions[Symbol.dispose]();
  });
  return { host, subscriptions };
}

let lastResidentBytes = 0;

/** Memory of the daemon; without free descriptors, with which /proc is read, that of the last time. */
function residentBytes(): number {
  try {
    lastResidentBytes = process.memoryUsage.rss();
  } catch {
    // EMFILE
  }
  return lastResidentBytes;
}

/** Builds the LLM providers (command-line tools and services) and the models of the HTTP endpoint. */
function buildLlm(
  { pool, oneShots, scratch, worktrees, spoolDirectory }: Engine,
  { monitor, executions }: { readonly monitor: ResourceMonitor; readonly executions: Executions },
  { configuration, limits, secrets, metrics, closers, node }: RuntimeContext,
): { readonly llm: LlmCalls; readonly completions: Completions } {
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
  const workspace = pool.cwd;
  const llm = new LlmCalls(providers, log, settings, executions);
  closers.push(() => llm[Symbol.asyncDispose]());
  const completions = new Completions({
    registry: () => settings().models,
    catalogue,
    providers,
    log,
    worktrees,
    workspace,
    secrets,
    output: () => outputLimits(configuration()),
    repeatWindowMs: () => settings().repeatWindowMs,
  });
  closers.push(() => completions[Symbol.asyncDispose]());
  return { llm, completions };
}

/** Creates the remembered approvals, from the file of an earlier run. Every step is logged and audited. */
function buildApprovals(
  { pool, oneShots }: Engine,
  { configuration, audit, log: logs, closers }: RuntimeContext,
): RememberedApprovals {
  const log = logs('confirmations');
  const approvals = new RememberedApprovals({
    machine: { workspace: pool.cwd, path: pool.env['PATH'] ?? '', sandbox: () => oneShots.sandbox.profile },
    file: approvalFileIn(configuration().adapter.stateDirectory),
    ways: () => confirmationSettings(configuration()),
    observe: (record) => {
      const { event, approval, by, why, command, sessionId } = record;
      log.info(`approval ${event}`, { approval_id: approval.id, scope: approval.scope, by: by?.name, why });
      audit.record({
        event: AUDIT_NAMES[event],
        ...(by && { principal: auditPrincipal(by) }),
        session_id: sessionId ?? approval.sessionId,
        command,
        details: detailsOf(record),
      });
    },
    log,
  });
  closers.push(() => {
    approvals[Symbol.dispose]();
  });
  return approvals;
}

/** Creates the guard that lets commands run which a remembered approval covers. */
const buildApprovalGuard = (
  approvals: RememberedApprovals,
  checkpoints: WorkspaceCheckpoints,
  { configuration }: RuntimeContext,
): RememberedGuard =>
  new RememberedGuard(
    approvals,
    saveBefore(checkpoints, () => configuration().confirmation.checkpoint),
  );

const AUDIT_NAMES = {
  remembered: 'approval_remembered',
  used: 'approval_used',
  revoked: 'approval_revoked',
  expired: 'approval_expired',
} as const satisfies Record<ApprovalRecord['event'], AuditEventName>;

const detailsOf = ({ approval, why }: ApprovalRecord): Readonly<Record<string, unknown>> => ({
  approval_id: approval.id,
  scope: approval.scope,
  pattern: approval.pattern,
  directory: approval.directory,
  requester: approval.requester,
  approver: approval.approver,
  mode: approval.mode,
  expires_at: approval.expiresAt?.toISOString() ?? null,
  ...(why !== undefined && { why }),
});

/** The parts of the configuration that `daemon_status` reports. */
const reportedConfiguration = (configuration: Configuration): ReportedConfiguration => ({
  file: configuration.file,
  workspaceDirectory: configuration.adapter.workspaceDirectory,
  stateDirectory: configuration.adapter.stateDirectory,
  logFile: configuration.logging.logFilePath,
  hasDashboard: configuration.http.dashboard,
  confirmedBy: confirmersOf(configuration),
});

/** The parts of the configuration that `shell_metadata` reports. */
const servedParts = ({
  http: { dashboard, openai, mcp, metrics },
  environments,
  confirmation,
  audit,
}: Configuration): ServedParts => ({
  http: { dashboard, openai, mcp, metrics },
  environments: Object.keys(environments),
  confirmation_mode: confirmation.mode,
  audit_enabled: audit.enabled,
});

/** The confirmation modes that a command may require; none if confirmation is off. */
function confirmersOf({ confirmation }: Configuration): ConfirmationMode[] {
  const { mode, actions, modes, rules } = confirmation;
  if (mode === 'off') return [];
  const ofClasses = COMMAND_CLASSES.flatMap((name) => (actions[name] === 'confirm' ? [modes[name] ?? mode] : []));
  return [...ofClasses, ...(rules.some(({ action }) => action === 'confirm') ? [mode] : [])];
}

/** Creates the services from the engine, the access rules and the configuration. */
export function buildServices(engine: Engine, entrance: AccessServices, context: RuntimeContext): Services {
  const { isClosing, closers } = context;
  const registry = new CommandRegistry(context.node?.name);
  closers.push(() => registry.clear());
  const executions = buildExecutions(engine, context);
  const checkpoints = buildCheckpoints(engine, executions, context);
  const monitor = buildMonitor(engine, context);
  const { llm, completions } = buildLlm(engine, { monitor, executions }, context);
  const connections = new Connections();
  const approvals = buildApprovals(engine, context);
  const { access } = entrance;
  const confirmations = buildConfirmations({ connections, checkpoints, llm, access, approvals }, context);
  const quotas = buildQuotas({ access, registry }, context);
  const guard = buildApprovalGuard(approvals, checkpoints, context);
  const { fileGate, ...gates } = buildGates(engine, { checkpoints, executions, approvals: guard }, context);
  const guards = { ...gates, executions, confirmations, quotas, registry, monitor };
  const execution = buildExecution(engine, guards, context);
  const clustered = withCluster(engine, { ...execution, access, executions, connections, commands: registry }, context);
  const files = buildFiles(engine, { gate: fileGate, executions, confirmations, monitor, ...execution }, context);
  return {
    ...entrance,
    ...execution,
    ...recordersOf(context),
    quotas,
    executions,
    confirmations,
    approvals,
    connections,
    checkpoints,
    restores: buildRestores({ checkpoints, registry, confirmations }, context),
    ...withWaiting(files, { ...execution, registry, connections }, context),
    llm,
    completions,
    ...buildReports(engine, { ...execution, connections, executions }, context),
    ...clustered,
    ...buildObservation(engine, { ...execution, ...clustered, executions, confirmations, llm, registry }, context),
    isClosing,
  };
}

/** The quotas of tokens. What is kept for one is dropped at its end. */
function buildQuotas(
  { access, registry }: Pick<AccessServices, 'access'> & { readonly registry: CommandRegistry },
  { configuration }: RuntimeContext,
): Quotas {
  const quotas = new Quotas(() => quotaLimits(configuration()));
  access.onTokenEnd((id) => {
    quotas.forget(id);
    void registry.forgetOwner(id);
  });
  return quotas;
}

/** The other nodes, and whether a command would be accepted, by this node or another one. */
function withCluster(
  engine: Engine,
  parts: Parameters<typeof buildCluster>[1],
  context: RuntimeContext,
): Pick<Services, 'cluster' | 'readiness'> {
  const cluster = buildCluster(engine, parts, context);
  const { isClosing, metrics } = context;
  return { cluster, readiness: new Readiness({ isClosing, metrics, pool: engine.pool, cluster }) };
}

function buildRestores(
  parts: Pick<RestoresOptions, 'checkpoints' | 'registry' | 'confirmations'>,
  { gate, audit, log }: RuntimeContext,
): Restores {
  return new Restores({ ...parts, settings: gate, audit, log: log('gate') });
}

function buildFiles(
  { spoolDirectory, pool, platform }: Engine,
  parts: Pick<FilesOptions, 'gate' | 'executions' | 'confirmations' | 'monitor' | 'sessions'>,
  { configuration, limits, secrets }: RuntimeContext,
): Files {
  const place = {
    spoolDirectory,
    directories: platform.directories,
    workspace: pool.cwd,
    jobTimeoutMs: () => configuration().adapter.commandTimeoutMs,
  };
  return new Files({ ...parts, ...place, limits, secrets });
}

/** Files, and what waits for them and for ports. */
function withWaiting(
  files: Files,
  {
    sessions,
    screens,
    registry,
    connections,
  }: Pick<Services, 'sessions' | 'screens' | 'connections'> & { readonly registry: CommandRegistry },
  { configuration, isClosing, closers, node, platform }: RuntimeContext,
): Pick<Services, 'files' | 'waiting' | 'watching' | 'ports' | 'previews'> {
  const ports = new Ports(sessions.registry, platform.listening);
  const waiting = new Waiting({
    sessions: sessions.registry,
    commands: registry,
    screens,
    files,
    ports,
    connections,
    isClosing,
  });
  const watching = new Watching({ files, sessions: sessions.registry, node: node?.id });
  closers.push(() => watching[Symbol.asyncDispose]());
  const previews = new Previews({ sessions, ports, isEnabled: () => configuration().http.previews });
  return { files, waiting, watching, ports, previews };
}

/** What records the daemon's work, and what is masked in the records. */
const recordersOf = ({ metrics, traces, audit, requestAudit, auditLog, secrets }: RuntimeContext) => ({
  metrics,
  traces,
  audit,
  requestAudit,
  auditLog,
  secrets,
});

/** Keeps apart what runs as different users. */
function buildExecutions(engine: Engine, { closers }: RuntimeContext): Executions {
  const { pool, oneShots, stdinPipes, checkpointWorkers, buildFor: build } = engine;
  const own = { pool, oneShots, stdinPipes, runJob: checkpointWorkers.run };
  const executions = new Executions({ own, isRoot: ownUid() === 0, find: findUser, build });
  closers.push(() => executions[Symbol.asyncDispose]());
  return executions;
}

/** What the daemon says of itself and its machine. */
const buildReports = (
  engine: Engine,
  parts: Pick<Services, 'sessions' | 'connections' | 'executions'>,
  context: RuntimeContext,
): Pick<Services, 'metadata' | 'status' | 'machine'> => ({
  metadata: buildMetadata(engine, parts.executions, context),
  status: buildStatus(parts, context),
  machine: buildMachine(context),
});

function buildMetadata(
  { pool, instance, mechanism, platform }: Engine,
  executions: Executions,
  { version, configuration, limits, node }: RuntimeContext,
): Metadata {
  return new Metadata({
    executions,
    env: pool.env,
    defaultShell: pool.defaultShell,
    instanceId: instance,
    adapterVersion: version,
    limits: () => reportedLimits(configuration()),
    limitsInForce: limits,
    mechanism,
    platform: platform.name,
    served: () => servedParts(configuration()),
    node: node?.name,
  });
}

function buildStatus(
  { sessions, connections, executions }: Pick<Services, 'sessions' | 'connections' | 'executions'>,
  { version, run, configuration, platform }: RuntimeContext,
): DaemonStatus {
  return new DaemonStatus({
    platform,
    instanceId: run,
    version,
    configuration: () => reportedConfiguration(configuration()),
    workload: () => {
      const open = sessions.registry.all();
      return {
        sessions: open.filter(({ isHidden }) => !isHidden).length,
        running_commands: open.filter(({ session }) => session.running).length + executions.running,
        clients: connections.all().length,
      };
    },
  });
}

function buildCheckpoints(
  { runtimePath }: Engine,
  executions: Executions,
  { configuration, log, node, platform }: RuntimeContext,
): WorkspaceCheckpoints {
  const { adapter, recording } = configuration();
  const { stateDirectory } = adapter;
  const build = ({ pool, launch, runJob }: Execution): Checkpoints => {
    // The processes of another user cannot write to a directory of the daemon.
    const parent = launch ? join(launch.user.home, '.local/state/shell-adapter') : stateDirectory;
    const directory = join(parent, 'checkpoints');
    return new Checkpoints({
      workspace: pool.cwd,
      directory,
      excluded: [
        ...[stateDirectory, directory, join(stateDirectory, 'spool'), runtimePath, recording.directory],
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
  };
  return new WorkspaceCheckpoints({ executions, build });
}

import { join } from 'node:path';

import { ownFiles } from '../config/derive/own-files.js';
import { withDaemon } from '../config/model/configuration.js';
import { ownUid } from '../engine/system/own-user.js';
import { findUser } from '../engine/user/find-user.js';
import { Quotas } from '../services/access/quotas.js';
import { Checkpoints } from '../services/checkpoints/checkpoints.js';
import { WorkspaceCheckpoints } from '../services/checkpoints/workspace-checkpoints.js';
import { CommandRegistry } from '../services/registry/command-registry.js';
import { Files, type FilesOptions } from '../services/files/files.js';
import { Connections } from '../services/registry/connections.js';
import { DaemonStatus } from '../services/machine/daemon-status.js';
import { Metadata } from '../services/machine/metadata.js';
import { Readiness } from '../services/machine/readiness.js';
import { Previews } from '../services/previews/previews.js';
import { Restores, type RestoresOptions } from '../services/restores/restores.js';
import { Ports } from '../services/waiting/ports.js';
import { Waiting } from '../services/waiting/waiting.js';
import { Watching } from '../services/watching/watching.js';
import type { Services } from '../services/services.js';
import { type Execution, Executions } from '../services/users/executions.js';

import type { AccessServices } from './access.js';
import { buildCluster } from './nodes/cluster.js';
import { buildConfirmations } from './gate/confirmations.js';
import type { RuntimeContext } from './runtime-context.js';
import type { Engine } from './engine.js';
import { buildMachine } from './machine.js';
import { buildObservation } from './observation.js';
import { buildExecution, buildGates, buildMonitor } from './execution.js';
import { buildLlm } from './llm.js';
import { buildApprovalGuard, buildApprovals } from './gate/remembered-approvals.js';
import { outputLimits, quotaLimits, reportedLimits } from './settings/limits.js';
import { reportedConfiguration, servedParts } from './settings/reported-configuration.js';

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

import { join } from 'node:path';

import { ownFiles } from '../config/derive/own-files.js';
import { Quotas } from '../services/access/quotas.js';
import { Checkpoints } from '../services/checkpoints/checkpoints.js';
import { CommandRegistry } from '../services/registry/command-registry.js';
import { Connections } from '../services/registry/connections.js';
import { DaemonStatus } from '../services/machine/daemon-status.js';
import { Metadata } from '../services/machine/metadata.js';
import { Readiness } from '../services/machine/readiness.js';
import type { Services } from '../services/services.js';

import type { AccessServices } from './access.js';
import { buildConfirmations } from './confirmations.js';
import type { RuntimeContext } from './runtime-context.js';
import type { Engine } from './engine.js';
import { buildMachine } from './machine.js';
import { buildExecution, buildGate, buildMonitor } from './execution.js';
import { buildLlm } from './llm.js';
import { buildApprovalGuard, buildApprovals } from './remembered-approvals.js';
import { outputLimits, quotaLimits, reportedLimits } from './limits.js';
import { reportedConfiguration } from './reported-configuration.js';

/** Creates the services from the engine, the access rules and the configuration. */
export function buildServices(engine: Engine, entrance: AccessServices, context: RuntimeContext): Services {
  const { metrics, audit, requestAudit, auditLog, secrets, isClosing, closers } = context;
  const registry = new CommandRegistry();
  closers.push(() => registry.clear());
  const checkpoints = buildCheckpoints(engine, context);
  const monitor = buildMonitor(engine, context);
  const { llm, completions } = buildLlm(engine, monitor, context);
  const connections = new Connections();
  const approvals = buildApprovals(engine, context);
  const { access } = entrance;
  const confirmations = buildConfirmations({ connections, checkpoints, llm, access, approvals }, context);
  const quotas = new Quotas(() => quotaLimits(context.configuration()));
  const gate = buildGate(engine, checkpoints, buildApprovalGuard(approvals, checkpoints, context), context);
  const guards = { gate, confirmations, quotas, registry, monitor };
  const { sessions, usage, commands, inputs } = buildExecution(engine, guards, context);
  return {
    ...entrance,
    quotas,
    sessions,
    usage,
    commands,
    inputs,
    confirmations,
    approvals,
    connections,
    checkpoints,
    llm,
    completions,
    metadata: buildMetadata(engine, context),
    status: buildStatus(engine, { sessions, connections }, context),
    machine: buildMachine(context),
    readiness: new Readiness({ isClosing, pool: engine.pool }),
    metrics,
    audit,
    requestAudit,
    auditLog,
    secrets,
    isClosing,
  };
}

function buildMetadata(
  { pool, instance, mechanism }: Engine,
  { version, configuration, limits }: RuntimeContext,
): Metadata {
  return new Metadata({
    workspace: pool.cwd,
    env: pool.env,
    defaultShell: pool.defaultShell,
    instanceId: instance,
    adapterVersion: version,
    limits: () => reportedLimits(configuration()),
    limitsInForce: limits,
    mechanism,
    sandbox: pool.sandbox,
  });
}

function buildStatus(
  { instance, oneShots }: Engine,
  { sessions, connections }: Pick<Services, 'sessions' | 'connections'>,
  { version, configuration }: RuntimeContext,
): DaemonStatus {
  return new DaemonStatus({
    instanceId: instance,
    version,
    configuration: () => reportedConfiguration(configuration()),
    workload: () => {
      const open = sessions.registry.all();
      return {
        sessions: open.filter(({ isHidden }) => !isHidden).length,
        running_commands: open.filter(({ session }) => session.running).length + oneShots.running,
        clients: connections.all().length,
      };
    },
  });
}

function buildCheckpoints(
  { pool, checkpointWorkers, runtimePath }: Engine,
  { configuration, log }: RuntimeContext,
): Checkpoints {
  const { adapter } = configuration();
  const directory = join(adapter.stateDirectory, 'checkpoints');
  return new Checkpoints({
    workspace: adapter.workspaceDirectory,
    directory,
    excluded: [
      ...[adapter.stateDirectory, directory, join(adapter.stateDirectory, 'spool'), runtimePath],
      // These must survive a restore unchanged.
      ...ownFiles(configuration()),
    ],
    path: pool.env['PATH'] ?? '',
    limits: () => configuration().checkpoints,
    output: () => outputLimits(configuration()),
    run: checkpointWorkers.run,
    log: log('checkpoints'),
  });
}

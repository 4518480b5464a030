import { join } from 'node:path';

import type { Configuration } from '../config/model/configuration.js';
import { ownFiles } from '../config/derive/own-files.js';
import type { AuditEventName } from '../core/audit/event.js';
import type { Log, LogFactory } from '../core/logging/log.js';
import { Access } from '../services/access/access.js';
import { Quotas } from '../services/access/quotas.js';
import { TokenFiles } from '../services/access/token-files.js';
import { type TokenChange, TokenStore } from '../services/access/token-store.js';
import { Checkpoints } from '../services/checkpoints/checkpoints.js';
import { CommandRegistry } from '../services/registry/command-registry.js';
import { Connections } from '../services/registry/connections.js';
import { DaemonStatus } from '../services/machine/daemon-status.js';
import { Metadata } from '../services/machine/metadata.js';
import { Readiness } from '../services/machine/readiness.js';
import type { Services } from '../services/services.js';

import type { Disposables } from './disposables.js';
import { buildConfirmations } from './confirmations.js';
import type { RuntimeContext } from './runtime-context.js';
import type { Engine } from './engine.js';
import { buildExecution, buildGate, buildMonitor } from './execution.js';
import { buildLlm } from './llm.js';
import { commandLimits, limitsEverything, quotaLimits, reportedLimits } from './limits.js';
import { reportedConfiguration } from './reported-configuration.js';

/** Creates the services from the engine, the access rules and the configuration. */
export function buildServices(
  engine: Engine,
  access: Access,
  version: string,
  log: LogFactory,
  closers: Disposables,
  state: RuntimeContext,
): Services {
  const { metrics, audit, secrets, configuration, isClosing } = state;
  const registry = new CommandRegistry();
  closers.push(() => registry.clear());
  const checkpoints = buildCheckpoints(engine, log, configuration);
  const monitor = buildMonitor(engine, log('monitor'), closers, state);
  const { llm, completions } = buildLlm(engine, monitor, closers, state);
  const connections = new Connections();
  const confirmations = buildConfirmations({
    connections,
    checkpoints,
    llm,
    configuration,
    secrets,
    metrics,
    isActive: (principal) => access.isActive(principal),
    audit,
    log: log('confirmations'),
  });
  closers.push(() => confirmations[Symbol.asyncDispose]());
  const quotas = new Quotas(() => quotaLimits(configuration()));
  const guards = { gate: buildGate(engine, log('gate'), state), confirmations, quotas, registry, monitor };
  const { sessions, usage, commands, inputs } = buildExecution(engine, guards, log, closers, state);
  const metadata = buildMetadata(engine, version, configuration);
  const readiness = new Readiness({ isClosing, pool: engine.pool });
  return {
    access,
    quotas,
    sessions,
    usage,
    commands,
    inputs,
    confirmations,
    connections,
    checkpoints,
    llm,
    completions,
    metadata,
    status: buildStatus(engine, version, configuration, { sessions, connections }),
    readiness,
    metrics,
    audit,
    requestAudit: state.requestAudit,
    secrets,
    isClosing,
  };
}

function buildMetadata(
  { pool, instance, mechanism }: Engine,
  version: string,
  configuration: () => Configuration,
): Metadata {
  return new Metadata({
    workspace: pool.cwd,
    env: pool.env,
    defaultShell: pool.defaultShell,
    instanceId: instance,
    adapterVersion: version,
    limits: () => reportedLimits(configuration()),
    resourceLimits: () => configuration().adapter.resourceLimits,
    isLimited: () => limitsEverything(configuration()),
    mechanism,
    sandbox: pool.sandbox,
  });
}

function buildStatus(
  { instance, oneShots }: Engine,
  version: string,
  configuration: () => Configuration,
  { sessions, connections }: Pick<Services, 'sessions' | 'connections'>,
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

/** Builds authentication and authorisation; creates the first token at the first start. */
export function buildAccess(
  { auth, adapter }: Configuration,
  { launcher }: Engine,
  log: Log,
  { audit, requestAudit }: Pick<RuntimeContext, 'audit' | 'requestAudit'>,
  closers: Disposables,
): Access {
  const files = new TokenFiles(adapter.stateDirectory);
  const first = files.createFirst();
  if (first) log.info('the first token was made', { role: first.token.role, file: files.firstSecretFile });
  const tokens = new TokenStore(files, log, (change, { id, name, role }) => {
    audit.record({ event: TOKEN_EVENTS[change], principal: { id, name, role }, details: { change } });
  });
  closers.push(() => {
    tokens[Symbol.dispose]();
  });
  return new Access(auth.mode, tokens, requestAudit, () => launcher.hasSharedNetwork);
}

const TOKEN_EVENTS = {
  made: 'token_made',
  changed: 'token_changed',
  revoked: 'token_ended',
  expired: 'token_ended',
} as const satisfies Record<TokenChange, AuditEventName>;

function buildCheckpoints(
  { pool, checkpointWorkers, runtimePath }: Engine,
  log: LogFactory,
  configuration: () => Configuration,
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
    output: () => commandLimits(configuration()).output,
    run: checkpointWorkers.run,
    log: log('checkpoints'),
  });
}

import { join } from 'node:path';

import type { Configuration } from '../config/configuration.js';
import type { Log, LogFactory } from '../core/log.js';
import { type Metrics } from '../core/metrics.js';
import { Access } from '../services/access/access.js';
import { Quotas } from '../services/access/quotas.js';
import { TokenFiles } from '../services/access/token-files.js';
import { TokenStore } from '../services/access/token-store.js';
import { Checkpoints } from '../services/checkpoints.js';
import { CommandRegistry } from '../services/command-registry.js';
import { Commands } from '../services/commands.js';
import { Connections } from '../services/connections.js';
import { CommandGate, type GateSettings } from '../services/gate.js';
import { Metadata } from '../services/metadata.js';
import { Readiness } from '../services/readiness.js';
import { SessionFacts } from '../services/session-facts.js';
import { SessionHealth } from '../services/session-health.js';
import type { Services } from '../services/services.js';
import { Sessions } from '../services/sessions.js';

import type { Closers } from './closers.js';
import { buildConfirmations } from './confirmations.js';
import type { Engine } from './engine.js';
import { protectedPaths } from './gate-settings.js';
import { commandLimits, quotaLimits, reportedLimits, sessionLimits } from './limits.js';

/** What changes while the daemon runs, and where its figures go. */
export interface CurrentState {
  readonly metrics: Metrics;
  readonly configuration: () => Configuration;
  readonly gate: () => GateSettings;
  readonly isClosing: () => boolean;
}

export function buildServices(
  engine: Engine,
  access: Access,
  version: string,
  log: LogFactory,
  closers: Closers,
  { metrics, configuration, gate, isClosing }: CurrentState,
): Services {
  const { pool, oneShots, spoolDirectory } = engine;
  const registry = new CommandRegistry();
  closers.push(() => registry.clear());
  const workspace = pool.cwd;
  const commandGate = buildGate(engine, log('gate'), configuration, gate);
  const checkpoints = buildCheckpoints(engine, log, configuration);
  const connections = new Connections();
  const confirmations = buildConfirmations({
    connections,
    checkpoints,
    configuration,
    metrics,
    log: log('confirmations'),
  });
  closers.push(() => confirmations[Symbol.asyncDispose]());
  const quotas = new Quotas(() => quotaLimits(configuration()));
  const sessions = new Sessions({
    pool,
    gate: commandGate,
    confirmations,
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
    confirmations,
    health,
    limits,
    workspace,
    spoolDirectory,
    metrics,
  });
  const metadata = buildMetadata(engine, version, configuration);
  const readiness = new Readiness({ isClosing, pool });
  const ways = { confirmations, connections };
  return { access, quotas, sessions, commands, ...ways, checkpoints, metadata, readiness, metrics, isClosing };
}

function buildGate(
  { pool }: Engine,
  log: Log,
  configuration: () => Configuration,
  settings: () => GateSettings,
): CommandGate {
  const facts = new SessionFacts({
    workspace: pool.cwd,
    env: pool.env,
    shell: pool.defaultShell.shell.name,
    protectedPaths: () => protectedPaths(configuration()),
  });
  return new CommandGate({ settings, facts, log });
}

function buildMetadata(
  { pool, instance }: Engine,
  adapterVersion: string,
  configuration: () => Configuration,
): Metadata {
  return new Metadata({
    workspace: pool.cwd,
    env: pool.env,
    defaultShell: pool.defaultShell,
    instanceId: instance,
    adapterVersion,
    limits: () => reportedLimits(configuration()),
  });
}

/** Who may connect; makes the first token at the first start. */
export function buildAccess({ auth, adapter }: Configuration, log: Log, closers: Closers): Access {
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
  log: LogFactory,
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

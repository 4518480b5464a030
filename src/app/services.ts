import { join } from 'node:path';

import type { Configuration } from '../config/configuration.js';
import type { AuditEventName, AuditTrail } from '../core/audit/event.js';
import type { Log, LogFactory } from '../core/log.js';
import { type Metrics } from '../core/metrics.js';
import type { SecretMask } from '../core/secrets/secret-mask.js';
import { Access } from '../services/access/access.js';
import { Quotas } from '../services/access/quotas.js';
import { TokenFiles } from '../services/access/token-files.js';
import { type TokenChange, TokenStore } from '../services/access/token-store.js';
import { Checkpoints } from '../services/checkpoints.js';
import { CommandRegistry } from '../services/command-registry.js';
import { Commands } from '../services/commands.js';
import { CommandGate, type GateSettings, nobodyConfirms } from '../services/gate.js';
import { Metadata } from '../services/metadata.js';
import { Readiness } from '../services/readiness.js';
import type { RequestAudit } from '../services/request-audit.js';
import { SessionFacts } from '../services/session-facts.js';
import { SessionHealth } from '../services/session-health.js';
import type { Services } from '../services/services.js';
import { Sessions } from '../services/sessions.js';

import type { Closers } from './closers.js';
import type { Engine } from './engine.js';
import { protectedPaths } from './gate-settings.js';
import { buildLlm } from './llm.js';
import { commandLimits, quotaLimits, reportedLimits, sessionLimits } from './limits.js';

/** What changes while the daemon runs, and where its figures go. */
export interface CurrentState {
  readonly metrics: Metrics;
  readonly audit: AuditTrail;
  readonly requestAudit: RequestAudit;
  readonly secrets: SecretMask;
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
  state: CurrentState,
): Services {
  const { metrics, audit, secrets, configuration, isClosing } = state;
  const { pool, oneShots, spoolDirectory } = engine;
  const registry = new CommandRegistry();
  closers.push(() => registry.clear());
  const workspace = pool.cwd;
  const commandGate = buildGate(engine, log('gate'), state);
  const quotas = new Quotas(() => quotaLimits(configuration()));
  const sessions = new Sessions({
    pool,
    gate: commandGate,
    quotas,
    commands: registry,
    limits: () => sessionLimits(configuration()),
    metrics,
    audit,
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
    quotas,
    health,
    limits,
    workspace,
    spoolDirectory,
    metrics,
    audit,
    secrets,
  });
  const metadata = buildMetadata(engine, version, configuration);
  const checkpoints = buildCheckpoints(engine, log, configuration);
  return {
    access,
    quotas,
    sessions,
    commands,
    checkpoints,
    llm: buildLlm(engine, configuration, secrets, closers),
    metadata,
    readiness: new Readiness({ isClosing, pool }),
    metrics,
    audit,
    requestAudit: state.requestAudit,
    secrets,
    isClosing,
  };
}

function buildMetadata({ pool, instance }: Engine, version: string, configuration: () => Configuration): Metadata {
  return new Metadata({
    workspace: pool.cwd,
    env: pool.env,
    defaultShell: pool.defaultShell,
    instanceId: instance,
    adapterVersion: version,
    limits: () => reportedLimits(configuration()),
  });
}

function buildGate({ pool }: Engine, log: Log, { gate, configuration, audit }: CurrentState): CommandGate {
  const facts = new SessionFacts({
    workspace: pool.cwd,
    env: pool.env,
    shell: pool.defaultShell.shell.name,
    protectedPaths: () => protectedPaths(configuration()),
  });
  return new CommandGate({ settings: gate, facts, confirm: nobodyConfirms, audit, log });
}

/** Who may connect; makes the first token at the first start. */
export function buildAccess(
  { auth, adapter }: Configuration,
  log: Log,
  { audit, requestAudit }: Pick<CurrentState, 'audit' | 'requestAudit'>,
  closers: Closers,
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
  return new Access(auth.mode, tokens, requestAudit);
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
  const { adapter, logging, audit } = configuration();
  const directory = join(adapter.stateDirectory, 'checkpoints');
  return new Checkpoints({
    workspace: adapter.workspaceDirectory,
    directory,
    excluded: [
      ...[adapter.stateDirectory, directory, join(adapter.stateDirectory, 'spool'), runtimePath],
      ...withBackups(logging.filePath, logging.backupCount),
      ...withBackups(audit.filePath, audit.backups),
      ...['.head', '.lock'].map((suffix) => audit.filePath + suffix),
    ],
    path: pool.env['PATH'] ?? '',
    limits: () => configuration().checkpoints,
    output: () => commandLimits(configuration()).output,
    run: checkpointWorkers.run,
    log: log('checkpoints'),
  });
}

/** A file that the daemon writes by itself, and its backups: they must be there before and after a restore. */
const withBackups = (path: string, count: number): string[] => [
  path,
  ...Array.from({ length: count }, (_, index) => `${path}.${index + 1}`),
];

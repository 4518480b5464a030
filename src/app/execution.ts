import type { Log, LogFactory } from '../core/logging/log.js';
import type { Quotas } from '../services/access/quotas.js';
import type { Services } from '../services/services.js';
import type { CommandRegistry } from '../services/registry/command-registry.js';
import { Commands } from '../services/commands/commands.js';
import type { Confirmations } from '../services/confirmations/confirmations.js';
import { CommandGate } from '../services/gate/gate.js';
import { ResourceMonitor } from '../services/resources/resource-monitor.js';
import { SessionFacts } from '../services/gate/session-facts.js';
import { SessionHealth } from '../services/sessions/session-health.js';
import { SyntaxGuard } from '../services/gate/syntax-guard.js';
import { SessionUsage } from '../services/resources/session-usage.js';
import { Sessions } from '../services/sessions/sessions.js';
import { StreamedInputs } from '../services/commands/streamed-inputs.js';

import type { Disposables } from './disposables.js';
import type { RuntimeContext } from './runtime-context.js';
import type { Engine } from './engine.js';
import { ownPaths } from './gate-settings.js';
import { commandLimits, sessionLimits, watchSettings } from './limits.js';

/** Checks and registries that all commands and sessions share. */
interface Guards {
  readonly gate: CommandGate;
  readonly confirmations: Confirmations;
  readonly quotas: Quotas;
  readonly registry: CommandRegistry;
  readonly monitor: ResourceMonitor;
}

/** Builds the services of sessions and commands. */
export function buildExecution(
  { pool, oneShots, spoolDirectory, stdinPipes }: Engine,
  { gate, confirmations, quotas, registry, monitor }: Guards,
  log: LogFactory,
  closers: Disposables,
  { metrics, audit, secrets, configuration }: RuntimeContext,
): Pick<Services, 'sessions' | 'usage' | 'commands' | 'inputs'> {
  const usage = new SessionUsage(monitor, log('monitor'));
  const sessions = new Sessions({
    pool,
    gate,
    confirmations,
    quotas,
    commands: registry,
    usage,
    limits: () => sessionLimits(configuration()),
    metrics,
    audit,
    log: log('sessions'),
  });
  closers.push(() => sessions[Symbol.asyncDispose]());
  const inputs = new StreamedInputs({
    pipes: stdinPipes,
    graceMs: () => configuration().adapter.reconnectGraceMs,
    onLost: (input) => {
      commands.endUnfed(input);
    },
  });
  const commands: Commands = new Commands({
    inputs,
    sessions,
    registry,
    oneShots,
    gate,
    confirmations,
    quotas,
    health: new SessionHealth({ env: pool.env }),
    monitor,
    limits: () => commandLimits(configuration()),
    workspace: pool.cwd,
    spoolDirectory,
    metrics,
    audit,
    secrets,
  });
  return { sessions, usage, commands, inputs };
}

/** Builds the monitor that enforces resource limits. */
export function buildMonitor(
  { pool, mechanism }: Engine,
  log: Log,
  closers: Disposables,
  { configuration }: RuntimeContext,
): ResourceMonitor {
  const monitor = new ResourceMonitor({
    workspace: pool.cwd,
    mechanism: mechanism.mechanism,
    settings: () => watchSettings(configuration()),
    log,
  });
  closers.push(() => {
    monitor[Symbol.dispose]();
  });
  return monitor;
}

/** Builds the gate that every command passes. */
export function buildGate(
  { pool, oneShots }: Engine,
  log: Log,
  { gate, configuration, audit }: RuntimeContext,
): CommandGate {
  const facts = new SessionFacts({
    workspace: pool.cwd,
    env: pool.env,
    shell: pool.defaultShell.shell.name,
    ownPaths: () => ownPaths(configuration()),
  });
  return new CommandGate({ settings: gate, facts, syntax: new SyntaxGuard(oneShots), audit, log });
}

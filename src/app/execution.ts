import type { Log, LogFactory } from '../core/log.js';
import type { Quotas } from '../services/access/quotas.js';
import type { CommandRegistry } from '../services/command-registry.js';
import { Commands } from '../services/commands.js';
import type { Confirmations } from '../services/confirmations/confirmations.js';
import { CommandGate } from '../services/gate.js';
import { SessionFacts } from '../services/session-facts.js';
import { SessionHealth } from '../services/session-health.js';
import { Sessions } from '../services/sessions.js';

import type { Closers } from './closers.js';
import type { CurrentState } from './current-state.js';
import type { Engine } from './engine.js';
import { protectedPaths } from './gate-settings.js';
import { commandLimits, sessionLimits } from './limits.js';

/** What every command and session passes or is kept in. */
interface Guards {
  readonly gate: CommandGate;
  readonly confirmations: Confirmations;
  readonly quotas: Quotas;
  readonly registry: CommandRegistry;
}

/** Sessions, and the commands in and outside of them. */
export function buildExecution(
  { pool, oneShots, spoolDirectory }: Engine,
  { gate, confirmations, quotas, registry }: Guards,
  log: LogFactory,
  closers: Closers,
  { metrics, audit, secrets, configuration }: CurrentState,
): { readonly sessions: Sessions; readonly commands: Commands } {
  const sessions = new Sessions({
    pool,
    gate,
    confirmations,
    quotas,
    commands: registry,
    limits: () => sessionLimits(configuration()),
    metrics,
    audit,
    log: log('sessions'),
  });
  closers.push(() => sessions[Symbol.asyncDispose]());
  const commands = new Commands({
    sessions,
    registry,
    oneShots,
    gate,
    confirmations,
    quotas,
    health: new SessionHealth({ env: pool.env }),
    limits: () => commandLimits(configuration()),
    workspace: pool.cwd,
    spoolDirectory,
    metrics,
    audit,
    secrets,
  });
  return { sessions, commands };
}

/** The gate that they pass. */
export function buildGate({ pool }: Engine, log: Log, { gate, configuration, audit }: CurrentState): CommandGate {
  const facts = new SessionFacts({
    workspace: pool.cwd,
    env: pool.env,
    shell: pool.defaultShell.shell.name,
    protectedPaths: () => protectedPaths(configuration()),
  });
  return new CommandGate({ settings: gate, facts, audit, log });
}

import { dirname } from 'node:path';

import type { Quotas } from '../services/access/admission.js';
import type { Services } from '../services/services.js';
import { WorkspaceGuard } from '../services/checkpoints/checkpoint-guard.js';
import type { CommandRegistry } from '../services/registry/command-registry.js';
import { CommandDispatcher } from '../services/commands/command-dispatcher.js';
import { CommandFactory } from '../services/commands/command-factory.js';
import { Commands } from '../services/commands/commands.js';
import type { Confirmations } from '../services/confirmations/confirmations.js';
import { FileGate } from '../services/gate/file-gate.js';
import { CommandGate } from '../services/gate/gate.js';
import { type ApprovalGuard, SyntaxGuard } from '../services/gate/gate-options.js';
import { Recordings } from '../services/recordings.js';
import { ResourceMonitor } from '../services/limits/resource-monitor.js';
import { Screens, type ScreensOptions } from '../services/screens.js';
import { SessionFacts } from '../services/gate/session-facts.js';
import { SessionDescriptions } from '../services/sessions/session-description.js';
import { SessionHealth } from '../services/sessions/session-health.js';
import { ShellGate, StartupGate } from '../services/gate/startup-gate.js';
import { TypingGate } from '../services/gate/typing-gate.js';
import { SessionUsage } from '../services/limits/session-usage.js';
import { Sessions, type SessionsOptions } from '../services/sessions/sessions.js';
import { SessionStartup } from '../services/session-startup.js';
import { StreamedInputs } from '../services/commands/streamed-inputs.js';
import type { Executions } from '../services/executions.js';

import type { RuntimeContext } from './runtime-context.js';
import type { Engine } from './engine.js';
import { rememberLast } from '../core/replay-ring.js';
import { type Configuration, ownPaths } from '../config/model/configuration.js';
import { commandLimits, sessionLimits, watchSettings } from './limits.js';

/** Checks and registries that all commands and sessions share. */
interface Guards {
  readonly gate: CommandGate;
  readonly confirmations: Confirmations;
  readonly quotas: Quotas;
  readonly registry: CommandRegistry;
  readonly monitor: ResourceMonitor;
  readonly executions: Executions;
  readonly startupGate: StartupGate;
  readonly shellGate: ShellGate;
}

/** Builds the services of sessions and commands. */
export function buildExecution(
  engine: Engine,
  guards: Guards,
  context: RuntimeContext,
): Pick<
  Services,
  'sessions' | 'startup' | 'usage' | 'recordings' | 'commands' | 'inputs' | 'descriptions' | 'screens'
> {
  const recordings = buildRecordings(context);
  const { sessions, usage } = buildSessions({ ...guards, recordings }, context);
  const health = new SessionHealth({ env: engine.pool.env, notifier: context.notifications });
  const { registry } = guards;
  const descriptions = new SessionDescriptions({
    sessions,
    usage,
    health,
    commands: registry,
    node: context.node?.name,
  });
  const screens = buildScreens({ commands: guards.registry, sessions: sessions.registry }, context);
  const commands = buildCommands(engine, guards, { sessions, health }, context);
  const startup = new SessionStartup({
    sessions,
    commands: commands.commands,
    gate: guards.startupGate,
    executions: guards.executions,
    environments: () => context.configuration().environments,
  });
  return { sessions, startup, usage, recordings, descriptions, screens, ...commands };
}

function buildScreens(parts: ScreensOptions, { closers }: RuntimeContext): Screens {
  const screens = new Screens(parts);
  closers.push(() => {
    screens[Symbol.dispose]();
  });
  return screens;
}

function buildRecordings({ configuration, secrets, log }: RuntimeContext): Recordings {
  const { directory } = configuration().recording;
  return new Recordings({ directory, settings: () => configuration().recording, secrets, log: log('recordings') });
}

function buildSessions(
  {
    shellGate,
    confirmations,
    quotas,
    registry,
    monitor,
    executions,
    recordings,
  }: Guards & Pick<Services, 'recordings'>,
  context: RuntimeContext,
): Pick<Services, 'sessions' | 'usage'> {
  const { configuration, limits, metrics, audit, notifications, log, closers, node, platform } = context;
  const usage = new SessionUsage(monitor, log('monitor'), notifications);
  const sessions = new Sessions({
    executions,
    gate: shellGate,
    confirmations,
    quotas,
    commands: registry,
    usage,
    recordings,
    limits: () => sessionLimits(configuration(), limits(), platform),
    metrics,
    audit,
    log: log('sessions'),
    node: node?.id,
    onEnded: placeReleaser(context),
  });
  closers.push(() => sessions[Symbol.asyncDispose]());
  return { sessions, usage };
}

/** Gives the places of ended sessions back to the cluster; undefined without a registry. */
function placeReleaser({ shared, node, log }: RuntimeContext): SessionsOptions['onEnded'] {
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
  { gate, confirmations, quotas, registry, monitor, executions }: Guards,
  { sessions, health }: { readonly sessions: Sessions; readonly health: SessionHealth },
  { configuration, limits, metrics, traces, audit, notifications: notifier, secrets, platform }: RuntimeContext,
): Pick<Services, 'commands' | 'inputs'> {
  const inputs = new StreamedInputs({
    pipesOf: (owner) => executions.of(owner).stdinPipes,
    graceMs: () => configuration().adapter.reconnectGraceMs,
    onLost: (input) => {
      commands.running.endUnfed(input);
    },
  });
  const place = { limits: () => commandLimits(configuration(), limits(), platform), spoolDirectory };
  const observers = { metrics, traces, notifier, audit, secrets };
  const factory = new CommandFactory({ registry, executions, quotas, health, inputs, ...observers, ...place });
  const dispatcher = new CommandDispatcher({ sessions, executions, health, monitor });
  const commands: Commands = new Commands({
    registry,
    sessions,
    executions,
    inputs,
    gate,
    confirmations,
    factory,
    dispatcher,
    traces,
  });
  return { commands, inputs };
}

/** Builds the monitor that enforces resource limits. */
export function buildMonitor(
  { pool, mechanism }: Engine,
  { configuration, limits, log, closers }: RuntimeContext,
): ResourceMonitor {
  const monitor = new ResourceMonitor({
    workspace: pool.cwd,
    mechanism: mechanism.mechanism,
    settings: () => watchSettings(configuration(), limits()),
    log: log('monitor'),
  });
  closers.push(() => {
    monitor[Symbol.dispose]();
  });
  return monitor;
}

/** Builds the gates that every command and every request about files pass. */
export function buildGates(
  { pool, runtimePath }: Engine,
  {
    checkpoints,
    executions,
    approvals,
  }: Pick<Services, 'checkpoints' | 'executions'> & {
    readonly approvals: ApprovalGuard;
  },
  { gate, configuration, audit, log }: RuntimeContext,
): Pick<Guards, 'gate' | 'startupGate' | 'shellGate'> & { readonly fileGate: FileGate } {
  const pathsOf = rememberLast((current: Configuration) => ownPaths(current, dirname(runtimePath)));
  const facts = new SessionFacts({
    executions,
    shell: pool.defaultShell.shell.name,
    ownPaths: () => pathsOf(configuration()),
  });
  const shared = { settings: gate, facts, audit, log: log('gate') };
  const guard = new WorkspaceGuard({
    checkpointsOf: (principal) => checkpoints.of(principal),
    timeoutMs: () => configuration().confirmation.checkpointTimeoutMs,
  });
  const commandGate = new CommandGate({
    ...shared,
    checkpoints: guard,
    approvals,
    syntax: new SyntaxGuard(executions),
    typing: new TypingGate(shared),
  });
  return {
    gate: commandGate,
    fileGate: new FileGate({ ...shared, checkpoints: guard }),
    startupGate: new StartupGate(shared),
    shellGate: new ShellGate(shared),
  };
}

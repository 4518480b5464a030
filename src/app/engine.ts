import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

import { sandboxSurroundings, socketFolder } from '../config/derive.js';
import type { Configuration } from '../config/model/configuration.js';
import { AdapterError } from '../core/errors.js';
import type { Limits } from '../core/limits.js';
import type { Log } from '../core/log.js';
import { CheckpointWorkers } from '../engine/checkpoints/worker-process.js';
import { InstanceFiles } from '../engine/instance/instance-files.js';
import {
  noteGroups,
  type RuntimeDirectory,
  Scratch,
  UserRuntimeDirectory,
} from '../engine/instance/runtime-directory.js';
import { Worktrees } from '../engine/instance/worktrees.js';
import { type LimitMechanism, unenforceableOn } from '../engine/limits/mechanism.js';
import { chooseMechanism, type ChosenMechanism } from '../engine/limits/probe.js';
import { OneShotRunner } from '../engine/one-shot/one-shot.js';
import { ProcessStarter } from '../engine/one-shot/process-starter.js';
import { StdinPipes } from '../engine/output/stdin-pipe.js';
import type { Platform } from '../engine/platform/platform.js';
import { GroupConfinement, Launcher, PidNamespace } from '../engine/sandbox/launcher.js';
import { UserLaunch } from '../engine/sandbox/user-launch.js';
import { ShellPool } from '../engine/shell/shell-pool.js';
import { DRIVERS_DIRECTORY, findDefaultShell } from '../engine/shells/list.js';
import type { User } from '../engine/system/find-user.js';
import { ownUid } from '../engine/system/own-user.js';
import {
  assertReadable,
  environmentOf,
  type Execution,
  findWorkspace,
  type UserExecution,
} from '../services/executions.js';
import { logLimits } from '../services/registry/rendered-limits.js';
import type { EngineContext } from './context.js';

/** The parts of the engine that the services use, and what runs the processes of the daemon's own user. */
export interface Engine extends Execution, ChosenMechanism {
  readonly platform: Platform;
  readonly launcher: Launcher;
  readonly checkpointWorkers: CheckpointWorkers;
  readonly scratch: Scratch;
  readonly worktrees: Worktrees;
  readonly spoolDirectory: string;
  readonly instance: string;
  readonly runtimePath: string;
  /** Makes what starts the processes of another user; throws an Error with the reason why that is not possible. */
  readonly buildFor: (user: User) => Promise<UserExecution>;
  /** Never lets a sandbox connect to this port of the machine. */
  readonly forbidOwnPort: (port: number) => void;
  /** Kills every process at once and removes the files without waiting. */
  readonly abandon: () => void;
}

/** Builds the engine, which runs the processes. */
export async function buildEngine(context: EngineContext): Promise<Engine> {
  const { log, closers, platform } = context;
  const configuration = context.configuration();
  const { adapter, llm, cluster, childEnvironment: env } = configuration;
  const path = env['PATH'] ?? '';
  const files = closers.use(new InstanceFiles(adapter.stateDirectory, platform, log));
  await files.prepare();
  const { runtime, spoolDirectory, liveness } = files;
  const { instance } = runtime;
  const scratch = closers.use(new Scratch(instance, liveness));
  const worktrees = closers.use(new Worktrees(llm.worktreeDirectory, instance, liveness, path));
  const starter = closers.use(new ProcessStarter(`${instance}.starter`, log('starter')));
  // A gateway of a cluster runs nothing.
  if (!cluster.enabled || cluster.role !== 'gateway') starter.warmUp();
  const chosen = prepareMechanism(runtime, context);
  const { mechanism } = chosen;
  const launcher = closers.use(await buildLauncher(runtime, chosen, context));
  const shared = sharedBy(starter, mechanism, context);
  const own = { ...shared, runtime, launcher, cwd: adapter.workspaceDirectory, env };
  const pool = closers.use(new ShellPool({ ...own, size: adapter.prewarm.sessions, log: log('pool') }));
  const oneShots = closers.use(new OneShotRunner({ ...own, prewarm: adapter.prewarm.oneShots, log: log('one_shots') }));
  const checkpointWorkers = closers.use(new CheckpointWorkers());
  const ownPorts: number[] = [];
  return {
    platform,
    pool,
    oneShots,
    stdinPipes: new StdinPipes(runtime),
    runJob: checkpointWorkers.run,
    launcher,
    checkpointWorkers,
    scratch,
    worktrees,
    ...chosen,
    spoolDirectory,
    instance,
    runtimePath: runtime.path,
    buildFor: (user) => buildUserExecution(user, runtime, ownPorts, shared, context),
    forbidOwnPort: (port) => {
      ownPorts.push(port);
      launcher.forbidOwnPort(port);
    },
    abandon: () => {
      files.abandon();
    },
  };
}

/** What all users share. */
function sharedBy(starter: ProcessStarter, mechanism: LimitMechanism, context: EngineContext) {
  const { configuration, limits, platform } = context;
  const { adapter, childEnvironment } = configuration();
  const shell = findDefaultShell(adapter.shell, childEnvironment['PATH'] ?? '');
  return {
    platform,
    mechanism,
    starter,
    shell,
    defaultShell: shell,
    killGraceMs: adapter.killGraceMs,
    isLimited: (asked: Limits) => limits().areAskedFor(asked),
    standardLimits: () => limits().resources,
  };
}

/** Chooses how limits are enforced, and records the groups that a later daemon has to remove after a crash. */
function prepareMechanism(runtime: RuntimeDirectory, context: EngineContext): ChosenMechanism {
  const { limits, log, closers, platform } = context;
  const { adapter, childEnvironment } = context.configuration();
  const path = childEnvironment['PATH'] ?? '';
  const chosen = chooseMechanism(adapter.limitMechanism, { instance: runtime.instance, path, platform });
  closers.use(chosen.mechanism);
  const note = () => {
    noteGroups(runtime.path, chosen.mechanism.directories);
  };
  note();
  runtime.onRestored(note);
  logLimits(limits(), chosen, unenforceableOn(platform), log('limits'));
  return chosen;
}

/**
 * Finds out which sandboxes work on this machine, and builds the launcher. Programs outside a sandbox are started in a
 * namespace, or confined to their group, where the mechanism of limits needs that.
 * @throws AdapterError SANDBOX_UNAVAILABLE when the configuration requires a sandbox that does not work
 */
async function buildLauncher(
  runtime: RuntimeDirectory,
  { mechanism }: ChosenMechanism,
  context: EngineContext,
): Promise<Launcher> {
  const { platform, metrics, log: logs } = context;
  const configuration = context.configuration();
  const folder = socketFolder(configuration.daemon ?? configuration);
  // A mount can hide only a directory that exists.
  if (folder !== undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const log = logs('sandbox');
  const launcher = await Launcher.find(
    {
      ...sandboxSurroundings(configuration),
      runtimeParent: dirname(runtime.path),
      directory: runtime.path,
      platform,
      namespace: mechanism.namespace,
      confinement: await findConfinement(configuration, mechanism, log),
    },
    { log, metrics },
  );
  return requireProfile(launcher, configuration, log);
}

/** Finds out whether the commands of a root daemon can be kept in their control groups; other users need nothing. */
async function findConfinement(
  { adapter, childEnvironment }: Configuration,
  { directories }: LimitMechanism,
  log: Log,
): Promise<GroupConfinement | undefined> {
  if (!adapter.confineRoot || ownUid() !== 0 || directories.length === 0) return undefined;
  try {
    return await GroupConfinement.find(directories, childEnvironment['PATH'] ?? '');
  } catch (error) {
    log.warn('commands with limits can leave their control groups', { why: (error as Error).message });
    return undefined;
  }
}

/** Returns the launcher unless the configuration requires a sandbox that it does not have. */
async function requireProfile(launcher: Launcher, configuration: Configuration, log: Log): Promise<Launcher> {
  const { configured, profile, reason } = launcher.standing;
  if (reason === undefined) return launcher;
  if (configuration.sandbox.require) {
    await launcher[Symbol.asyncDispose]();
    throw new AdapterError(
      'SANDBOX_UNAVAILABLE',
      `sandbox.profile ${configured} does not work on this machine, and sandbox.require is true: ${reason}`,
    );
  }
  log.warn('the configured sandbox does not work; a weaker one is used', { configured, used: profile, why: reason });
  return launcher;
}

/**
 * Builds what starts the processes of another user: its shells, its directory of pipes, and its sandboxes. No shell of it
 * is started ahead of need.
 * @param ownPorts ports of the daemon, once it listens
 * @throws Error with the reason why that is not possible
 */
async function buildUserExecution(
  user: User,
  daemonRuntime: RuntimeDirectory,
  ownPorts: readonly number[],
  shared: ReturnType<typeof sharedBy>,
  context: EngineContext,
): Promise<UserExecution> {
  const { configuration, log } = context;
  const { adapter, childEnvironment } = configuration();
  const { can, name } = shared.platform;
  if (!can.otherUsers) throw new Error(`the platform ${name} runs everything as the user of the daemon`);
  const launch = await UserLaunch.find(user, childEnvironment['PATH'] ?? '');
  const cwd = await findWorkspace(launch, adapter.workspaceDirectory);
  const runtime = new UserRuntimeDirectory(daemonRuntime, user);
  await assertReadable(launch, [DRIVERS_DIRECTORY, runtime.path]);
  const launcher = await buildUserLauncher(launch, cwd, runtime, shared.mechanism, context);
  for (const port of ownPorts) launcher.forbidOwnPort(port);
  const own = { ...shared, runtime, launcher, cwd, env: environmentOf(user, childEnvironment) };
  const pool = new ShellPool({ ...own, size: 0, log: log('pool') });
  const oneShots = new OneShotRunner({ ...own, prewarm: 0, log: log('one_shots') });
  const checkpointWorkers = new CheckpointWorkers(launch);
  return {
    pool,
    oneShots,
    launch,
    runJob: checkpointWorkers.run,
    stdinPipes: new StdinPipes(runtime),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([oneShots[Symbol.asyncDispose](), checkpointWorkers[Symbol.asyncDispose]()]);
      await pool[Symbol.asyncDispose]();
      await launcher[Symbol.asyncDispose]();
    },
  };
}

/**
 * Builds the launcher of another user: bubblewrap runs as that user, so that it shows nothing that the user cannot
 * reach, and needs user namespaces for that. Control groups need no confinement: only root could leave them.
 * @throws AdapterError SANDBOX_UNAVAILABLE as above
 */
async function buildUserLauncher(
  user: UserLaunch,
  workspace: string,
  runtime: UserRuntimeDirectory,
  { namespace }: LimitMechanism,
  context: EngineContext,
): Promise<Launcher> {
  const { platform, metrics, log: logs } = context;
  const configuration = context.configuration();
  const log = logs('sandbox');
  const surroundings = sandboxSurroundings(configuration);
  const launcher = await Launcher.find(
    {
      ...surroundings,
      workspace,
      homes: [...new Set([...surroundings.homes, user.user.home])],
      runtimeParent: dirname(dirname(runtime.path)),
      directory: runtime.path,
      platform,
      namespace: namespace && findNamespace(namespace, user, surroundings.path, log),
      user,
    },
    { log, metrics },
  );
  return requireProfile(launcher, configuration, log);
}

function findNamespace(
  { isForLimitsOnly }: PidNamespace,
  user: UserLaunch,
  path: string,
  log: Log,
): PidNamespace | undefined {
  try {
    return PidNamespace.find(path, isForLimitsOnly, user);
  } catch (error) {
    log.warn('processes of a user cannot be kept in a PID namespace', {
      user: user.user.name,
      why: (error as Error).message,
    });
    return undefined;
  }
}

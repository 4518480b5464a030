import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { sandboxSurroundings, socketFolder } from '../config/derive.js';
import type { Configuration } from '../config/model/configuration.js';
import { AdapterError } from '../core/errors.js';
import type { Limits } from '../core/limits.js';
import type { Log } from '../core/log.js';
import { CheckpointWorkers } from '../engine/checkpoints/worker-process.js';
import { LivenessMarker } from '../engine/instance/liveness-marker.js';
import {
  findDeadInstances,
  groupsOf,
  makeRuntimeDirectory,
  noteGroups,
  type RuntimeDirectory,
  Scratch,
  UserRuntimeDirectory,
} from '../engine/instance/runtime-directory.js';
import { Worktrees } from '../engine/instance/worktrees.js';
import { type LimitMechanism, unenforceableOn } from '../engine/limits/mechanism.js';
import { chooseMechanism, type ChosenMechanism } from '../engine/limits/probe.js';
import { type OneShotOptions, OneShotRunner } from '../engine/one-shot/one-shot.js';
import { ProcessStarter } from '../engine/one-shot/process-starter.js';
import { StdinPipes } from '../engine/output/stdin-pipe.js';
import type { Platform } from '../engine/platform/platform.js';
import { endProcesses, signalProcesses } from '../engine/process/end-processes.js';
import { findInstanceProcesses } from '../engine/process/find-processes.js';
import { type EgressReporting, GroupConfinement, Launcher, PidNamespace } from '../engine/sandbox/launcher.js';
import { ShellPool } from '../engine/shell/shell-pool.js';
import { DRIVERS_DIRECTORY, findDefaultShell, type InstalledShell } from '../engine/shells/list.js';
import { removeTreeSync, tryRemoveTree } from '../engine/system/local-files.js';
import { ownUid } from '../engine/system/own-user.js';
import type { User } from '../engine/system/find-user.js';
import { UserLaunch } from '../engine/sandbox/user-launch.js';
import type { UserExecution } from '../services/executions.js';
import { logLimits } from './limits.js';
import type { Disposables, EngineContext } from './runtime-context.js';

/** Where sandboxes are made. */
interface LauncherPlace {
  /** The daemon's directory of FIFOs. */
  readonly runtimePath: string;
  readonly platform: Platform;
}

/**
 * Finds out which sandboxes work on this machine, and builds the launcher.
 * @param mechanism may require that programs outside a sandbox are started in a namespace, or confined to their group
 * @throws AdapterError SANDBOX_UNAVAILABLE when the configuration requires a sandbox that does not work
 */
async function buildLauncher(
  configuration: Configuration,
  { runtimePath, platform }: LauncherPlace,
  mechanism: Pick<LimitMechanism, 'namespace' | 'directories'>,
  reporting: EgressReporting,
): Promise<Launcher> {
  const folder = socketFolder(configuration.daemon ?? configuration);
  // A mount can hide only a directory that exists.
  if (folder !== undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const surroundings = sandboxSurroundings(configuration);
  const directories = { runtimeParent: dirname(runtimePath), directory: runtimePath };
  const { namespace } = mechanism;
  const confinement = await findConfinement(configuration, mechanism, reporting.log);
  const launcher = await Launcher.find(
    { ...surroundings, ...directories, platform, namespace, confinement },
    reporting,
  );
  return requireProfile(launcher, configuration, reporting.log);
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
  log.warn('the configured sandbox does not work; a weaker one is used', {
    configured,
    used: profile,
    why: reason,
  });
  return launcher;
}

/** Where the programs of another user run. */
interface UserPlace {
  readonly launch: UserLaunch;
  readonly workspace: string;
  /** The user's directory of FIFOs. */
  readonly directory: string;
  /** That of the daemon. */
  readonly runtimePath: string;
  readonly platform: Platform;
}

/**
 * The same for the programs of another user: bubblewrap runs as that user, so that it shows nothing that the user cannot
 * reach, and needs user namespaces for that. Control groups need no confinement: only root could leave them.
 * @throws AdapterError SANDBOX_UNAVAILABLE as above
 */
async function buildUserLauncher(
  configuration: Configuration,
  { launch: user, workspace, directory, runtimePath, platform }: UserPlace,
  { namespace }: Pick<LimitMechanism, 'namespace'>,
  reporting: EgressReporting,
): Promise<Launcher> {
  const surroundings = sandboxSurroundings(configuration);
  const homes = [...new Set([...surroundings.homes, user.user.home])];
  const own = namespace && findNamespace(namespace, user, configuration.childEnvironment['PATH'] ?? '', reporting.log);
  const places = { platform, workspace, homes, directory, runtimeParent: dirname(runtimePath), namespace: own, user };
  return requireProfile(await Launcher.find({ ...surroundings, ...places }, reporting), configuration, reporting.log);
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

/** Finds out whether the commands of a root daemon can be kept in their control groups; other users need nothing. */
async function findConfinement(
  { adapter, childEnvironment }: Configuration,
  { directories }: Pick<LimitMechanism, 'directories'>,
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

/** Parts of the engine that all users share. */
interface SharedParts {
  readonly platform: Platform;
  readonly runtime: RuntimeDirectory;
  readonly starter: ProcessStarter;
  readonly mechanism: LimitMechanism;
  readonly shell: InstalledShell;
  readonly isLimited: (limits: Limits) => boolean;
  readonly standardLimits: () => Limits;
  /** Ports of the daemon, once it listens. */
  readonly ownPorts?: readonly number[];
}

/** Variables of the daemon's own user that no other user gets. */
const OWN_VARIABLES: ReadonlySet<string> = new Set(['TMPDIR', 'XDG_RUNTIME_DIR']);

/**
 * Builds what starts the processes of another user: its shells, its directory of pipes, and its sandboxes. No shell of it
 * is started ahead of need.
 * @throws Error with the reason why that is not possible
 */
async function buildUserExecution(user: User, parts: SharedParts, context: EngineContext): Promise<UserExecution> {
  const { configuration, log } = context;
  const { adapter, childEnvironment } = configuration();
  const launch = await findLaunch(user, childEnvironment['PATH'] ?? '', parts.platform);
  const cwd = await findWorkspace(launch, adapter.workspaceDirectory);
  const runtime = new UserRuntimeDirectory(parts.runtime, user);
  await assertReadable(launch, [DRIVERS_DIRECTORY, runtime.path]);
  const env = environmentOf(user, childEnvironment);
  const { mechanism, platform } = parts;
  const place = { launch, workspace: cwd, directory: runtime.path, runtimePath: parts.runtime.path, platform };
  const reporting = { log: log('sandbox'), metrics: context.metrics };
  const launcher = await buildUserLauncher(configuration(), place, mechanism, reporting);
  for (const port of parts.ownPorts ?? []) launcher.forbidOwnPort(port);
  const common = { ...parts, runtime, launcher, cwd, env };
  const pool = new ShellPool({ ...common, defaultShell: parts.shell, size: 0, log: log('pool') });
  const oneShots = new OneShotRunner({
    ...common,
    killGraceMs: adapter.killGraceMs,
    prewarm: 0,
    log: log('one_shots'),
  });
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

async function findLaunch(user: User, path: string, { can, name }: Platform): Promise<UserLaunch> {
  if (!can.otherUsers) throw new Error(`the platform ${name} runs everything as the user of the daemon`);
  return UserLaunch.find(user, path);
}

/** The workspace of the configuration if the user can enter it, else its home. */
async function findWorkspace(launch: UserLaunch, workspace: string): Promise<string> {
  const { home } = launch.user;
  if (await launch.canEnter(workspace)) return workspace;
  if (await launch.canEnter(home)) return home;
  throw new Error(`it can enter neither the workspace ${workspace} nor its home ${home}`);
}

/** The drivers of the shells are read by the shells, and the directory of pipes is passed through. */
async function assertReadable(launch: UserLaunch, directories: readonly string[]): Promise<void> {
  for (const directory of directories) {
    if (await launch.canEnter(directory)) continue;
    throw new Error(`it cannot enter ${directory}, which its shells need`);
  }
}

/** Variables as those of the daemon's own shells, with those of a login of the user. */
function environmentOf(user: User, env: Readonly<Record<string, string>>): Record<string, string> {
  const { name, uid, home, shell } = user;
  const shared = Object.entries(env).filter(([variable]) => !OWN_VARIABLES.has(variable));
  const runtime = `/run/user/${uid}`;
  const hasRuntime = statSync(runtime, { throwIfNoEntry: false })?.uid === uid;
  return {
    ...Object.fromEntries(shared),
    HOME: home,
    USER: name,
    LOGNAME: name,
    SHELL: shell,
    ...(hasRuntime && { XDG_RUNTIME_DIR: runtime }),
  };
}

/** Parts of the engine that the services use. */
export interface Engine {
  readonly platform: Platform;
  readonly pool: ShellPool;
  readonly launcher: Launcher;
  readonly oneShots: OneShotRunner;
  readonly checkpointWorkers: CheckpointWorkers;
  readonly scratch: Scratch;
  readonly worktrees: Worktrees;
  readonly spoolDirectory: string;
  readonly instance: string;
  readonly mechanism: ChosenMechanism;
  readonly runtimePath: string;
  readonly stdinPipes: StdinPipes;
  /** Makes what starts the processes of another user; throws an Error with the reason why that is not possible. */
  readonly buildFor: (user: User) => Promise<UserExecution>;
  /** Never lets a sandbox connect to this port of the machine. */
  forbidOwnPort(port: number): void;
}

/** Builds the engine, which runs the processes. */
export async function buildEngine(context: EngineContext): Promise<Engine> {
  const { log, closers, metrics, platform } = context;
  const configuration = context.configuration();
  const { adapter, llm, childEnvironment: env } = configuration;
  const shell = findDefaultShell(adapter.shell, env['PATH'] ?? '');
  const { runtime, spoolDirectory, livenessMarker } = await prepareDirectories(adapter.stateDirectory, context);
  const scratch = new Scratch(runtime.instance, livenessMarker);
  closers.push(() => scratch[Symbol.asyncDispose]());
  const worktrees = new Worktrees(llm.worktreeDirectory, runtime.instance, livenessMarker, env['PATH'] ?? '');
  closers.push(() => worktrees[Symbol.asyncDispose]());
  const starter = new ProcessStarter(`${runtime.instance}.starter`, log('starter'));
  closers.push(() => starter[Symbol.asyncDispose]());
  if (!isGateway(configuration)) starter.warmUp();
  const chosen = prepareMechanism(runtime, context);
  const { mechanism } = chosen;
  const launcher = await buildLauncher(configuration, { runtimePath: runtime.path, platform }, mechanism, {
    log: log('sandbox'),
    metrics,
  });
  closers.push(() => launcher[Symbol.asyncDispose]());
  const shared: SharedParts = { platform, mechanism, runtime, starter, shell, ...limitsOf(context) };
  const runners = buildRunners({ ...shared, launcher }, context);
  const checkpointWorkers = new CheckpointWorkers();
  closers.push(() => checkpointWorkers[Symbol.asyncDispose]());
  return {
    platform,
    ...runners,
    launcher,
    checkpointWorkers,
    scratch,
    worktrees,
    mechanism: chosen,
    spoolDirectory,
    instance: runtime.instance,
    runtimePath: runtime.path,
    stdinPipes: new StdinPipes(runtime),
    ...forUsers(launcher, shared, context),
  };
}

/** The limits of processes, as they are in force when they are asked for. */
const limitsOf = ({ limits }: EngineContext): Pick<SharedParts, 'isLimited' | 'standardLimits'> => ({
  isLimited: (asked) => limits().areAskedFor(asked),
  standardLimits: () => limits().resources,
});

/** A gateway of a cluster runs nothing. */
const isGateway = ({ cluster }: Configuration): boolean => cluster.enabled && cluster.role === 'gateway';

/** What runs processes of other users. */
function forUsers(
  launcher: Launcher,
  shared: SharedParts,
  context: EngineContext,
): Pick<Engine, 'buildFor' | 'forbidOwnPort'> {
  const ownPorts: number[] = [];
  return {
    buildFor: (user) => buildUserExecution(user, { ...shared, ownPorts }, context),
    forbidOwnPort: (port) => {
      ownPorts.push(port);
      launcher.forbidOwnPort(port);
    },
  };
}

/** Creates the directories of this instance, and removes those that killed daemons have left. */
async function prepareDirectories(
  stateDirectory: string,
  { log, closers, platform }: EngineContext,
): Promise<{ runtime: RuntimeDirectory; spoolDirectory: string; livenessMarker: LivenessMarker }> {
  const runtime = makeRuntimeDirectory(platform);
  closers.push(() => {
    tryRemoveTree(runtime.path, log('engine'));
  });
  const spoolRoot = join(stateDirectory, 'spool');
  const spoolDirectory = makeSpoolDirectory(spoolRoot, runtime);
  closers.push(() => {
    tryRemoveTree(spoolDirectory, log('engine'));
  });
  const livenessMarker = await createLivenessMarker({ runtime, spoolRoot, platform }, closers, log('recovery'));
  await sweep({ runtime, spoolRoot, platform }, livenessMarker, log('recovery'));
  return { runtime, spoolDirectory, livenessMarker };
}

type RunnerParts = Pick<
  OneShotOptions,
  'platform' | 'mechanism' | 'runtime' | 'starter' | 'launcher' | 'shell' | 'isLimited' | 'standardLimits'
>;

/** Builds the shell pool for sessions and the runner for one-shots. */
function buildRunners(
  parts: RunnerParts,
  { configuration, log, closers }: EngineContext,
): Pick<Engine, 'pool' | 'oneShots'> {
  const { adapter, childEnvironment: env } = configuration();
  const { killGraceMs, prewarm, workspaceDirectory: cwd } = adapter;
  const common = { ...parts, cwd, env };
  const pool = new ShellPool({ ...common, defaultShell: parts.shell, size: prewarm.sessions, log: log('pool') });
  closers.push(() => pool[Symbol.asyncDispose]());
  const oneShots = new OneShotRunner({ ...common, killGraceMs, prewarm: prewarm.oneShots, log: log('one_shots') });
  closers.push(() => oneShots[Symbol.asyncDispose]());
  return { pool, oneShots };
}

/** Kills every process at once and removes the files without waiting. */
export function abandonEngine({ instance, runtimePath, spoolDirectory, platform: { processes } }: Engine): void {
  const groups = groupsOf(runtimePath);
  signalProcesses(findInstanceProcesses(instance, processes, groups.members()), 'SIGKILL', processes);
  groups.remove();
  removeTreeSync(runtimePath);
  removeTreeSync(spoolDirectory);
}

/** Where the files of this daemon and its predecessors are. */
interface Places {
  readonly runtime: RuntimeDirectory;
  readonly spoolRoot: string;
  readonly platform: Platform;
}

/** Creates the liveness marker. Without it, only daemons that can see this process recognise that it is alive. */
async function createLivenessMarker(
  { runtime, spoolRoot, platform }: Places,
  closers: Disposables,
  log: Log,
): Promise<LivenessMarker> {
  const runtimeParent = dirname(runtime.path);
  const marker = new LivenessMarker([runtimeParent, spoolRoot], platform);
  closers.push(() => {
    marker[Symbol.dispose]();
  });
  const show = (parents: readonly string[]) =>
    marker.create(runtime.instance, parents).catch((error: unknown) => {
      log.warn('daemons in other containers cannot tell that this one lives', { error: String(error) });
    });
  await show([runtimeParent, spoolRoot]);
  runtime.onRestored(() => void show([runtimeParent]));
  return marker;
}

/** Ends the processes and removes the files that killed daemons have left. */
async function sweep(
  { runtime, spoolRoot, platform: { processes } }: Places,
  livenessMarker: LivenessMarker,
  log: Log,
): Promise<void> {
  for (const { instance, path } of findDeadInstances(runtime, livenessMarker)) {
    const groups = groupsOf(path);
    const find = () => findInstanceProcesses(instance, processes, groups.members());
    const survivors = await endProcesses(find, 0, { processes });
    groups.remove();
    tryRemoveTree(path, log);
    log.warn('what a killed daemon had left was removed', { instance, survivors: survivors.length });
  }
  // The runtime directory may have been removed by a daemon with another state directory, which leaves the spool.
  const spools = existsSync(spoolRoot) ? readdirSync(spoolRoot) : [];
  for (const instance of spools.filter((name) => !livenessMarker.isAlive(name))) {
    tryRemoveTree(join(spoolRoot, instance), log);
  }
}

/** Chooses how limits are enforced, and records the groups that a later daemon has to remove after a crash. */
function prepareMechanism(
  runtime: RuntimeDirectory,
  { configuration: current, limits, log, closers, platform }: EngineContext,
): ChosenMechanism {
  const configuration = current();
  const path = configuration.childEnvironment['PATH'] ?? '';
  const chosen = chooseMechanism(configuration.adapter.limitMechanism, { instance: runtime.instance, path, platform });
  const note = () => {
    noteGroups(runtime.path, chosen.mechanism.directories);
  };
  note();
  runtime.onRestored(note);
  logLimits(limits(), chosen, unenforceableOn(platform), log('limits'));
  closers.push(() => {
    chosen.mechanism[Symbol.dispose]();
  });
  return chosen;
}

/** Creates the directory of the output spools. Without it, only the head of each output is kept, in memory. */
function makeSpoolDirectory(spoolRoot: string, runtime: RuntimeDirectory): string {
  const directory = join(spoolRoot, runtime.instance);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

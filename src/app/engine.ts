import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Configuration } from '../config/model/configuration.js';
import type { Log } from '../core/logging/log.js';
import { CheckpointWorkers } from '../engine/checkpoints/worker/worker-process.js';
import { groupsOf, noteGroups } from '../engine/instance/group-directories.js';
import { unenforceableOn } from '../engine/limits/unenforceable.js';
import { type ChosenMechanism, chooseMechanism } from '../engine/limits/probe.js';
import { LivenessMarker } from '../engine/instance/liveness-marker.js';
import { type OneShotOptions, OneShotRunner } from '../engine/one-shot/one-shot.js';
import {
  findDeadInstances,
  makeRuntimeDirectory,
  type RuntimeDirectory,
} from '../engine/instance/runtime-directory.js';
import { ProcessStarter } from '../engine/one-shot/process-starter.js';
import type { Platform } from '../engine/platform/contract/platform.js';
import { endProcesses, signalProcesses } from '../engine/process/end-processes.js';
import { findInstanceProcesses } from '../engine/process/find-processes.js';
import type { Launcher } from '../engine/sandbox/launcher.js';
import { Scratch } from '../engine/instance/scratch.js';
import { ShellPool } from '../engine/shell/shell-pool.js';
import { removeTreeSync, tryRemoveTree } from '../engine/system/remove-tree.js';
import { StdinPipes } from '../engine/output/stdin-pipes.js';
import { Worktrees } from '../engine/instance/worktrees.js';
import { findDefaultShell } from '../engine/shells/list.js';
import type { User } from '../engine/user/find-user.js';
import type { UserExecution } from '../services/users/executions.js';

import type { Disposables } from './disposables.js';
import { logLimits } from './settings/limits-log.js';
import type { EngineContext } from './runtime-context.js';
import { buildLauncher } from './sandbox.js';
import { buildUserExecution, type SharedParts } from './user-execution.js';

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

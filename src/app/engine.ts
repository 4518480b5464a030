import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Configuration } from '../config/model/configuration.js';
import type { Log, LogFactory } from '../core/logging/log.js';
import { CheckpointWorkers } from '../engine/checkpoints/worker/worker-process.js';
import { groupsOf, noteGroups } from '../engine/limits/group-directories.js';
import { type ChosenMechanism, chooseMechanism } from '../engine/limits/probe.js';
import { LivenessMarker } from '../engine/instance/liveness-marker.js';
import { type OneShotOptions, OneShotRunner } from '../engine/one-shot/one-shot.js';
import {
  findDeadInstances,
  makeRuntimeDirectory,
  removeRuntimeDirectory,
  type RuntimeDirectory,
} from '../engine/instance/runtime-directory.js';
import { ProcessStarter } from '../engine/one-shot/process-starter.js';
import { endProcesses, findInstanceProcesses, signalProcesses } from '../engine/process/process-tree.js';
import type { Launcher } from '../engine/sandbox/launcher.js';
import { Scratch } from '../engine/instance/scratch.js';
import { ShellPool } from '../engine/shell/shell-pool.js';
import { StdinPipes } from '../engine/output/stdin-pipes.js';
import { Worktrees } from '../engine/instance/worktrees.js';
import { findShell } from '../engine/shells/list.js';

import type { Disposables } from './disposables.js';
import { limitsEverything } from './limits.js';
import { logLimits } from './limits-log.js';
import { buildLauncher } from './sandbox.js';

/** Parts of the engine that the services use. */
export interface Engine {
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
}

/**
 * Builds the engine, which runs the processes.
 * @param current returns the current configuration: limits may change while the daemon runs
 */
export async function buildEngine(
  current: () => Configuration,
  log: LogFactory,
  closers: Disposables,
): Promise<Engine> {
  const configuration = current();
  const { adapter, llm, childEnvironment: env } = configuration;
  const shell = findShell(adapter.shell, env['PATH'] ?? '');
  const runtime = makeRuntimeDirectory();
  closers.push(() => {
    removeRuntimeDirectory(runtime.path);
  });
  const spoolRoot = join(adapter.stateDirectory, 'spool');
  const spoolDirectory = makeSpoolDirectory(spoolRoot, runtime);
  closers.push(() => {
    rmSync(spoolDirectory, { recursive: true, force: true });
  });
  const livenessMarker = await createLivenessMarker(runtime, spoolRoot, closers, log('recovery'));
  await sweep(runtime, spoolRoot, livenessMarker, log('recovery'));
  const scratch = new Scratch(runtime.instance, livenessMarker);
  closers.push(() => scratch[Symbol.asyncDispose]());
  const worktrees = new Worktrees(llm.worktreeDirectory, runtime.instance, livenessMarker, env['PATH'] ?? '');
  closers.push(() => worktrees[Symbol.asyncDispose]());
  const starter = new ProcessStarter(`${runtime.instance}.starter`, log('starter'));
  closers.push(() => starter[Symbol.asyncDispose]());
  starter.warmUp();
  const mechanism = prepareMechanism(configuration, runtime);
  logLimits(configuration, mechanism, log('limits'));
  closers.push(() => {
    mechanism.mechanism[Symbol.dispose]();
  });
  const launcher = await buildLauncher(configuration, runtime.path, mechanism.mechanism, log('sandbox'));
  const isLimited = () => limitsEverything(current());
  const common = { mechanism: mechanism.mechanism, runtime, starter, launcher, shell, isLimited };
  const { pool, oneShots } = buildRunners(configuration, common, log, closers);
  const checkpointWorkers = new CheckpointWorkers();
  closers.push(() => checkpointWorkers[Symbol.asyncDispose]());
  return {
    pool,
    launcher,
    oneShots,
    checkpointWorkers,
    scratch,
    worktrees,
    mechanism,
    spoolDirectory,
    instance: runtime.instance,
    runtimePath: runtime.path,
    stdinPipes: new StdinPipes(runtime),
  };
}

type RunnerParts = Pick<OneShotOptions, 'mechanism' | 'runtime' | 'starter' | 'launcher' | 'shell' | 'isLimited'>;

/** Builds the shell pool for sessions and the runner for one-shots. */
function buildRunners(
  { adapter, childEnvironment: env }: Configuration,
  parts: RunnerParts,
  log: LogFactory,
  closers: Disposables,
): Pick<Engine, 'pool' | 'oneShots'> {
  const { killGraceMs, prewarm, workspaceDirectory: cwd } = adapter;
  const common = { ...parts, cwd, env };
  const pool = new ShellPool({ ...common, defaultShell: parts.shell, size: prewarm.sessions, log: log('pool') });
  closers.push(() => pool[Symbol.asyncDispose]());
  const oneShots = new OneShotRunner({ ...common, killGraceMs, prewarm: prewarm.oneShots, log: log('one_shots') });
  closers.push(() => oneShots[Symbol.asyncDispose]());
  return { pool, oneShots };
}

/** Kills every process at once and removes the files without waiting. */
export function abandonEngine({ instance, runtimePath, spoolDirectory }: Engine): void {
  const groups = groupsOf(runtimePath);
  signalProcesses(findInstanceProcesses(instance, groups.members()), 'SIGKILL');
  groups.remove();
  removeRuntimeDirectory(runtimePath);
  rmSync(spoolDirectory, { recursive: true, force: true });
}

/** Creates the liveness marker. Without it, only daemons that can see this process recognise that it is alive. */
async function createLivenessMarker(
  runtime: RuntimeDirectory,
  spoolRoot: string,
  closers: Disposables,
  log: Log,
): Promise<LivenessMarker> {
  const runtimeParent = dirname(runtime.path);
  const marker = new LivenessMarker([runtimeParent, spoolRoot]);
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
  runtime: RuntimeDirectory,
  spoolRoot: string,
  livenessMarker: LivenessMarker,
  log: Log,
): Promise<void> {
  for (const { instance, path } of findDeadInstances(runtime, livenessMarker)) {
    const groups = groupsOf(path);
    const survivors = await endProcesses(() => findInstanceProcesses(instance, groups.members()), 0);
    groups.remove();
    removeRuntimeDirectory(path);
    log.warn('what a killed daemon had left was removed', { instance, survivors: survivors.length });
  }
  // The runtime directory may have been removed by a daemon with another state directory, which leaves the spool.
  const spools = existsSync(spoolRoot) ? readdirSync(spoolRoot) : [];
  for (const instance of spools.filter((name) => !livenessMarker.isAlive(name))) {
    rmSync(join(spoolRoot, instance), { recursive: true, force: true });
  }
}

/** Chooses how limits are enforced, and records the groups that a later daemon has to remove after a crash. */
function prepareMechanism(configuration: Configuration, runtime: RuntimeDirectory): ChosenMechanism {
  const path = configuration.childEnvironment['PATH'] ?? '';
  const chosen = chooseMechanism(configuration.adapter.limitMechanism, { instance: runtime.instance, path });
  const note = () => {
    noteGroups(runtime.path, chosen.mechanism.directories);
  };
  note();
  runtime.onRestored(note);
  return chosen;
}

/** Creates the directory of the output spools. Without it, only the head of each output is kept, in memory. */
function makeSpoolDirectory(spoolRoot: string, runtime: RuntimeDirectory): string {
  const directory = join(spoolRoot, runtime.instance);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

import { statSync } from 'node:fs';

import type { Limits } from '../core/limits/limits.js';
import { CheckpointWorkers } from '../engine/checkpoints/worker/worker-process.js';
import { type RuntimeDirectory, UserRuntimeDirectory } from '../engine/instance/runtime-directory.js';
import type { LimitMechanism } from '../engine/limits/mechanism.js';
import { OneShotRunner } from '../engine/one-shot/one-shot.js';
import type { Platform } from '../engine/platform/contract/platform.js';
import type { ProcessStarter } from '../engine/one-shot/process-starter.js';
import { StdinPipes } from '../engine/output/stdin-pipes.js';
import { ShellPool } from '../engine/shell/shell-pool.js';
import { DRIVERS_DIRECTORY, type InstalledShell } from '../engine/shells/list.js';
import type { User } from '../engine/user/find-user.js';
import { UserLaunch } from '../engine/user/user-launch.js';
import type { UserExecution } from '../services/users/executions.js';

import type { EngineContext } from './runtime-context.js';
import { buildUserLauncher } from './sandbox.js';

/** Parts of the engine that all users share. */
export interface SharedParts {
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
export async function buildUserExecution(
  user: User,
  parts: SharedParts,
  context: EngineContext,
): Promise<UserExecution> {
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

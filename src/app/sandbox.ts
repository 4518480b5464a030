import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

import type { Configuration } from '../config/model/configuration.js';
import { sandboxSurroundings, socketFolder } from '../config/derive/sandbox-surroundings.js';
import { AdapterError } from '../core/errors.js';
import type { Log } from '../core/logging/log.js';
import type { LimitMechanism } from '../engine/limits/mechanism.js';
import { GroupConfinement } from '../engine/sandbox/group-confinement.js';
import { type EgressReporting, Launcher } from '../engine/sandbox/launcher.js';
import { PidNamespace } from '../engine/sandbox/pid-namespace.js';
import type { Platform } from '../engine/platform/contract/platform.js';
import { ownUid } from '../engine/system/own-user.js';
import type { UserLaunch } from '../engine/user/user-launch.js';

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
export async function buildLauncher(
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
export async function buildUserLauncher(
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

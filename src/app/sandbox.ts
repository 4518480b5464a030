import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

import type { Configuration } from '../config/model/configuration.js';
import { sandboxSurroundings, socketFolder } from '../config/derive/sandbox-surroundings.js';
import { AdapterError } from '../core/errors.js';
import type { Log } from '../core/logging/log.js';
import type { LimitMechanism } from '../engine/limits/mechanism.js';
import { GroupConfinement } from '../engine/sandbox/group-confinement.js';
import { type EgressReporting, Launcher } from '../engine/sandbox/launcher.js';
import { ownUid } from '../engine/system/own-user.js';

/**
 * Finds out which sandboxes work on this machine, and builds the launcher.
 * @param runtimePath the daemon's directory of FIFOs
 * @param mechanism may require that programs outside a sandbox are started in a namespace, or confined to their group
 * @throws AdapterError SANDBOX_UNAVAILABLE when the configuration requires a sandbox that does not work
 */
export async function buildLauncher(
  configuration: Configuration,
  runtimePath: string,
  mechanism: Pick<LimitMechanism, 'namespace' | 'directories'>,
  reporting: EgressReporting,
): Promise<Launcher> {
  const folder = socketFolder(configuration);
  // A mount can hide only a directory that exists.
  if (folder !== undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const surroundings = sandboxSurroundings(configuration);
  const directories = { runtimeParent: dirname(runtimePath), directory: runtimePath };
  const { namespace } = mechanism;
  const confinement = await findConfinement(configuration, mechanism, reporting.log);
  const launcher = await Launcher.find({ ...surroundings, ...directories, namespace, confinement }, reporting);
  const { configured, profile, reason } = launcher.standing;
  if (reason === undefined) return launcher;
  if (configuration.sandbox.require) {
    await launcher[Symbol.asyncDispose]();
    throw new AdapterError(
      'SANDBOX_UNAVAILABLE',
      `sandbox.profile ${configured} does not work on this machine, and sandbox.require is true: ${reason}`,
    );
  }
  reporting.log.warn('the configured sandbox does not work; a weaker one is used', {
    configured,
    used: profile,
    why: reason,
  });
  return launcher;
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

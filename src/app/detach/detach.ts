import { randomBytes } from 'node:crypto';

import type { Configuration } from '../../config/model/configuration.js';
import { choosePlatform } from '../../engine/platform/choose-platform.js';
import type { Platform } from '../../engine/platform/contract/platform.js';
import { platformLike } from '../../engine/platform/process-identity.js';

import { asDaemon, asHolder } from './configurations.js';
import { type HolderDirectory, ownDirectory } from './holder-directory.js';
import type { HolderCommand } from './start-holder.js';

const RUN_BYTES = 8;

/** A daemon that has its sessions held by other processes. */
export interface DetachedDaemon {
  readonly as: 'daemon';
  readonly directory: HolderDirectory;
  /** The id by which clients know whether their sessions can still be there: the same as long as one of the holders runs. */
  readonly run: string;
  /** Whether commands of its holders may run in a sandbox: the daemon does not see it. */
  readonly mayHaveSandboxes: boolean;
  readonly command: HolderCommand;
}

/** A process that holds sessions for a daemon. */
export interface Holder {
  readonly as: 'holder';
  readonly directory: HolderDirectory;
  readonly name: string;
  /** Ends the process. */
  readonly end: () => void;
}

/** What a process is, where sessions outlive the daemon. */
export type Detachment = DetachedDaemon | Holder;

/** What a process is, with the configuration that it has as such. */
export interface Detached extends Disposable {
  /** Undefined for a daemon that holds its sessions itself. */
  readonly detachment: Detachment | undefined;
  readonly configure: (configuration: Configuration) => Configuration;
}

/** How this process was started. */
export interface Start {
  /** What it was started as; undefined for a daemon. */
  readonly holder: Omit<Holder, 'as'> | undefined;
  /** How it would start a holder. */
  readonly command: HolderCommand;
}

/**
 * Says what this process is: a daemon alone, one whose sessions outlive it, or the holder of such sessions.
 * @throws the system's error when the directory of the holders cannot be made
 */
export function detach(configuration: Configuration, { holder, command }: Start): Detached {
  const nothing = () => undefined;
  if (holder) {
    const { directory, name } = holder;
    const configure = (next: Configuration) => asHolder(next, directory, name);
    return { detachment: { as: 'holder', ...holder }, configure, [Symbol.dispose]: nothing };
  }
  const { detach: isDetached, stateDirectory, platform: wanted } = configuration.adapter;
  if (!isDetached) return { detachment: undefined, configure: (next) => next, [Symbol.dispose]: nothing };
  const platform = choosePlatform(wanted);
  const owned = ownDirectory(stateDirectory, configuration.socketio.port, platform);
  const { directory } = owned;
  const run = directory.runOf(randomBytes(RUN_BYTES).toString('hex'));
  return {
    detachment: { as: 'daemon', directory, run, mayHaveSandboxes: mayHaveSandboxes(platform, directory), command },
    configure: (next) => asDaemon(next, directory),
    [Symbol.dispose]: () => {
      owned[Symbol.dispose]();
    },
  };
}

/** Whether this platform has sandboxes, or that of a holder which an earlier daemon has left. */
const mayHaveSandboxes = (platform: Platform, directory: HolderDirectory): boolean =>
  platform.can.sandbox || directory.living().some(({ identity }) => platformLike(identity).can.sandbox);

import { createHash, randomBytes } from 'node:crypto';

import type { Configuration } from '../../config/model/configuration.js';
import { listRestartKeys } from '../../config/model/settings.js';
import { valueAt } from '../../config/model/problems.js';
import { choosePlatform, platformLike } from '../../engine/platform/choose-platform.js';
import type { Platform } from '../../engine/platform/platform.js';
import { type HolderDirectory, ownDirectory } from './holder-directory.js';
import type { HolderCommand } from './start-holder.js';

/** Name of a daemon whose sessions are held by other processes, as these see it. */
const DAEMON_NODE = 'daemon';

/** Everything that one holder may carry: its own limits are those of the configuration. */
const UNBOUNDED = 1_000_000;

/** The configuration of a daemon that passes its requests on to its holders, as a gateway does to workers. */
const asDaemon = (configuration: Configuration, { secretFile }: HolderDirectory): Configuration => ({
  ...configuration,
  cluster: { ...linked(configuration, secretFile), role: 'gateway', name: DAEMON_NODE },
});

/** The configuration of a holder: it serves the daemon alone, and has files of its own. */
const asHolder = (configuration: Configuration, directory: HolderDirectory, name: string): Configuration => ({
  ...configuration,
  cluster: { ...linked(configuration, directory.secretFile), role: 'worker', name },
  socketio: { ...configuration.socketio, host: '127.0.0.1', port: 0, unixSocket: undefined, tls: undefined },
  logging: { ...configuration.logging, logFilePath: directory.logOf(name) },
  audit: { ...configuration.audit, file: directory.auditOf(name), isFileChosen: true },
  daemon: configuration,
});

/** A link over the loopback, which both ends prove to be theirs by the secret. */
const linked = ({ cluster }: Configuration, secretFile: string): Configuration['cluster'] => ({
  ...cluster,
  enabled: true,
  secretFile,
  insecureLinks: true,
  tls: { cert: undefined, key: undefined, ca: undefined },
  redisUrl: undefined,
  linkUrl: undefined,
  linkHost: '127.0.0.1',
  linkPort: 0,
  labels: {},
  capacity: UNBOUNDED,
  localRole: 'admin',
});

/**
 * A text that is equal for holders which would do the same: of one version, with equal values of all settings that only
 * a start applies, and equal variables for their commands.
 */
export function fingerprintOf(configuration: Configuration, version: string): string {
  const settings = listRestartKeys()
    .filter(({ path: [section] }) => !OF_THE_DAEMON.has(section ?? ''))
    .map(({ path, codePath }) => [path.join('.'), valueAt(configuration, codePath)]);
  const content = JSON.stringify([version, settings, configuration.childEnvironment]);
  return createHash('sha256').update(content).digest('hex');
}

/** Sections whose settings a holder has its own of. */
const OF_THE_DAEMON: ReadonlySet<string> = new Set(['cluster', 'socketio', 'audit', 'http', 'auth']);

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
interface Start {
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

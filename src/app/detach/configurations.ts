import { createHash } from 'node:crypto';

import type { Configuration } from '../../config/model/configuration.js';
import { listRestartKeys } from '../../config/model/settings.js';
import { valueAt } from '../../config/model/tree.js';

import type { HolderDirectory } from './holder-directory.js';

/** Name of a daemon whose sessions are held by other processes, as these see it. */
const DAEMON_NODE = 'daemon';

/** Everything that one holder may carry: its own limits are those of the configuration. */
const UNBOUNDED = 1_000_000;

/** The configuration of a daemon that passes its requests on to its holders, as a gateway does to workers. */
export const asDaemon = (configuration: Configuration, { secretFile }: HolderDirectory): Configuration => ({
  ...configuration,
  cluster: { ...linked(configuration, secretFile), role: 'gateway', name: DAEMON_NODE },
});

/** The configuration of a holder: it serves the daemon alone, and has files of its own. */
export const asHolder = (configuration: Configuration, directory: HolderDirectory, name: string): Configuration => ({
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
    .map(({ name, path }) => [name, valueAt(configuration, path)]);
  const content = JSON.stringify([version, settings, configuration.childEnvironment]);
  return createHash('sha256').update(content).digest('hex');
}

/** Sections whose settings a holder has its own of. */
const OF_THE_DAEMON: ReadonlySet<string> = new Set(['cluster', 'socketio', 'audit', 'http', 'auth']);

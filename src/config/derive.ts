import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { makeDirectory } from '../files/make-directory.js';
import { type Configuration, withDaemon } from './model/configuration.js';
import { valueAt, withValueAt } from '../core/json.js';
import { configurationError } from './model/problems.js';
import { listRestartKeys } from './model/settings.js';
import { quote } from './read/environment-variables.js';

/** Whether a daemon runs commands itself: a gateway has other nodes run them. */
export const runsCommands = ({ cluster, adapter }: Configuration): boolean =>
  adapter.detach || !cluster.enabled || cluster.role !== 'gateway';

/** The settings of a node that `doctor` examines; undefined for a daemon alone. */
function examinedCluster({ cluster, adapter }: Configuration) {
  // The links to its holders are its own.
  if (!cluster.enabled || adapter.detach) return undefined;
  const { role, linkUrl, linkHost, secretFile = '', redisUrl, tls } = cluster;
  const { cert, key, ca } = tls;
  const files = cert === undefined || key === undefined || ca === undefined ? undefined : { cert, key, ca };
  return { role, linkUrl, linkHost, secretFile, redisUrl: redisUrl?.reveal(), tls: files };
}

/**
 * Files that the daemon writes on its own initiative, wherever they are configured to be: the log, the audit log, and
 * their rotated files.
 */
export const ownFiles = ({ logging, audit }: Configuration): readonly string[] => [
  ...withBackups(logging.logFilePath, logging.backupCount),
  ...withBackups(audit.file, audit.backups),
  ...['.head', '.lock'].map((suffix) => audit.file + suffix),
];

const withBackups = (path: string, count: number): string[] => [
  path,
  ...Array.from({ length: count }, (_, index) => `${path}.${index + 1}`),
];

/** The settings of a configuration that a sandbox needs. */
export function sandboxSurroundings(configuration: Configuration) {
  const { adapter, sandbox, childEnvironment } = configuration;
  return {
    ...sandbox,
    /** PATH that is searched for bubblewrap. */
    path: childEnvironment['PATH'] ?? '',
    workspace: adapter.workspaceDirectory,
    /** Home directories whose secrets are hidden. */
    homes: [...new Set([homedir(), childEnvironment['HOME'] ?? homedir()])],
    /**
     * The daemon's state, configuration, key, logs and the folder of its Unix socket, which are hidden in every sandbox.
     * The folder, because a socket that does not exist yet cannot be hidden.
     */
    hidden: withDaemon(configuration).flatMap(secretsOf),
  };
}

function secretsOf(configuration: Configuration): readonly string[] {
  const { adapter, socketio, cluster, recording, file, choiceFiles } = configuration;
  const secrets = [
    adapter.stateDirectory,
    recording.directory,
    file,
    ...choiceFiles,
    socketio.tls?.key,
    cluster.tls.key,
    cluster.secretFile,
    socketFolder(configuration),
    ...ownFiles(configuration),
  ];
  return secrets.filter((path) => path !== undefined);
}

/** Folder of the Unix socket; undefined without a socket. */
export const socketFolder = ({ socketio: { unixSocket } }: Configuration): string | undefined =>
  unixSocket === undefined ? undefined : dirname(unixSocket);

/** The settings of a configuration that `doctor` examines. */
export const examinedSettings = (configuration: Configuration) => ({
  defaultShell: configuration.adapter.shell,
  platform: configuration.adapter.platform,
  searchPath: configuration.searchPath,
  directories: {
    'adapter.workspace_directory': configuration.adapter.workspaceDirectory,
    'adapter.state_directory': configuration.adapter.stateDirectory,
  },
  sandbox: sandboxSurroundings(configuration),
  limits: configuration.adapter,
  privateFiles: privateFilesOf(configuration),
  runsCommands: runsCommands(configuration),
  cluster: examinedCluster(configuration),
});

/** A configuration file is private only if it contains secrets. */
const privateFilesOf = ({
  adapter,
  audit,
  recording,
  secrets,
  file,
  cluster,
}: Configuration): Record<string, string> => ({
  state: adapter.stateDirectory,
  'first token': join(adapter.stateDirectory, 'token'),
  audit: audit.file,
  recordings: recording.directory,
  ...(cluster.secretFile !== undefined && { 'cluster.secret_file': cluster.secretFile }),
  ...(cluster.tls.key !== undefined && { 'cluster.tls.key': cluster.tls.key }),
  ...(file !== undefined && secrets.length > 0 && { 'configuration file': file }),
});

/** Readable and searchable for all, writable for the owner. */
const WORKSPACE_MODE = 0o755;

/**
 * Creates the workspace directory and its missing parents. Call it when the daemon starts.
 * @throws {ConfigurationError} when it cannot be created, is not a directory, or is not accessible
 */
export async function ensureWorkspace(configuration: Configuration): Promise<void> {
  const directory = configuration.adapter.workspaceDirectory;
  try {
    await makeDirectory(directory, WORKSPACE_MODE);
    await access(`${directory}/.`, constants.R_OK | constants.X_OK);
  } catch (cause) {
    // Any error of the file system: its message contains the code and the path.
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `the workspace directory ${quote(directory)} cannot be used: ${reason}`;
    throw configurationError('adapter.workspace_directory', message, { file: configuration.file, cause });
  }
}

interface Reload {
  readonly configuration: Configuration;
  /** Names of the changed settings that take effect at the next start. */
  readonly waiting: readonly string[];
}

/**
 * Merges a new configuration into the one at the start: everything may change except the values that sockets, shells
 * and files were created with. These are kept, so that no part of the daemon reports or uses a value that is not in
 * effect.
 */
export function reload(started: Configuration, next: Configuration): Reload {
  const keys = listRestartKeys();
  const kept = keys.reduce((merged, { codePath }) => withValueAt(merged, codePath, valueAt(started, codePath)), next);
  return {
    configuration: {
      ...kept,
      childEnvironment: started.childEnvironment,
      logging: { ...next.logging, logFilePath: logPath(started, next) },
    },
    waiting: keys
      .filter(({ codePath }) => !isDeepStrictEqual(valueAt(started, codePath), valueAt(next, codePath)))
      .map(({ path }) => path.join('.')),
  };
}

/**
 * The log file can change while the daemon runs, unless only its default changes, which follows the state directory:
 * that takes effect at the next start.
 */
function logPath(started: Configuration, next: Configuration): string {
  const { logFilePath } = next.logging;
  const isDefault = dirname(logFilePath) === next.adapter.stateDirectory;
  return isDefault ? join(started.adapter.stateDirectory, basename(logFilePath)) : logFilePath;
}

/** Name of a daemon whose sessions are held by other processes, as these see it. */
const DAEMON_NODE = 'daemon';

/** Everything that one holder may carry: its own limits are those of the configuration. */
const UNBOUNDED = 1_000_000;

/** The configuration of a daemon that passes its requests on to its holders, as a gateway does to workers. */
export const asDaemon = (configuration: Configuration, secretFile: string): Configuration => ({
  ...configuration,
  cluster: { ...linked(configuration, secretFile), role: 'gateway', name: DAEMON_NODE },
});

interface HolderFiles {
  /** The secret that it shares with its daemon. */
  readonly secret: string;
  readonly log: string;
  readonly audit: string;
}

/** The configuration of a holder: it serves the daemon alone, and has files of its own. */
export const asHolder = (configuration: Configuration, name: string, files: HolderFiles): Configuration => ({
  ...configuration,
  cluster: { ...linked(configuration, files.secret), role: 'worker', name },
  socketio: { ...configuration.socketio, host: '127.0.0.1', port: 0, unixSocket: undefined, tls: undefined },
  logging: { ...configuration.logging, logFilePath: files.log },
  audit: { ...configuration.audit, file: files.audit, isFileChosen: true },
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

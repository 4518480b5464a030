import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

import { makeDirectory } from '../files/make-directory.js';
import { type Configuration, withDaemon } from './model/configuration.js';
import { configurationError } from './model/problems.js';
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
export const ownFiles = ({ logging, audit }: Pick<Configuration, 'logging' | 'audit'>): readonly string[] => [
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

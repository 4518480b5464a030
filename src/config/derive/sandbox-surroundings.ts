import { homedir } from 'node:os';
import { dirname } from 'node:path';

import { type Configuration, type SandboxConfiguration, withDaemon } from '../model/configuration.js';
import { ownFiles } from './own-files.js';

/** All settings that a sandbox needs. */
export interface SandboxSurroundings extends Omit<SandboxConfiguration, 'require'> {
  /** PATH that is searched for bubblewrap. */
  readonly path: string;
  readonly workspace: string;
  /** Home directories whose secrets are hidden. */
  readonly homes: readonly string[];
  /**
   * The daemon's state, configuration, key, logs and the folder of its Unix socket, which are hidden in every sandbox.
   * The folder, because a socket that does not exist yet cannot be hidden.
   */
  readonly hidden: readonly string[];
}

/** Collects the settings of a configuration that a sandbox needs. */
export function sandboxSurroundings(configuration: Configuration): SandboxSurroundings {
  const { adapter, sandbox, childEnvironment } = configuration;
  const { profile, network, unixSockets, protectedPaths } = sandbox;
  return {
    profile,
    network,
    unixSockets,
    protectedPaths,
    path: childEnvironment['PATH'] ?? '',
    workspace: adapter.workspaceDirectory,
    homes: [...new Set([homedir(), childEnvironment['HOME'] ?? homedir()])],
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

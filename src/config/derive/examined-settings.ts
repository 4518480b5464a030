import { join } from 'node:path';

import type { Configuration } from '../model/configuration.js';
import { examinedCluster, runsCommands } from './examined-cluster.js';
import { limitSettings } from './limit-settings.js';
import { sandboxSurroundings } from './sandbox-surroundings.js';

/** Collects the settings of a configuration that `doctor` examines. */
export const examinedSettings = (configuration: Configuration) => ({
  directories: {
    'adapter.workspace_directory': configuration.adapter.workspaceDirectory,
    'adapter.state_directory': configuration.adapter.stateDirectory,
  },
  sandbox: sandboxSurroundings(configuration),
  limits: limitSettings(configuration),
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

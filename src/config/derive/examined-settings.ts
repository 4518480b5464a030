import { join } from 'node:path';

import type { Configuration } from '../model/configuration.js';
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
});

/** A configuration file is private only if it contains secrets. */
const privateFilesOf = ({ adapter, audit, recording, secrets, file }: Configuration): Record<string, string> => ({
  state: adapter.stateDirectory,
  'first token': join(adapter.stateDirectory, 'token'),
  audit: audit.file,
  recordings: recording.directory,
  ...(file !== undefined && secrets.length > 0 && { 'configuration file': file }),
});

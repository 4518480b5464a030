import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Configuration } from '../model/configuration.js';
import { makeDirectory } from '../../files/make-directory.js';
import { ConfigurationError } from '../model/problems.js';
import { quote } from '../read/values.js';

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
    const file = configuration.file ?? 'configuration';
    throw new ConfigurationError(
      [{ file, line: undefined, column: undefined, path: 'adapter.workspace_directory', message }],
      { cause },
    );
  }
}

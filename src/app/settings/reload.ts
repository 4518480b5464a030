import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import type { Configuration } from '../../config/model/configuration.js';
import { listRestartKeys } from '../../config/model/settings.js';
import { valueAt, withValueAt } from '../../config/model/tree.js';

/** Result of reading the configuration again. */
export interface Reload {
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
  const kept = keys.reduce((merged, { path }) => withValueAt(merged, path, valueAt(started, path)), next);
  return {
    configuration: {
      ...kept,
      childEnvironment: started.childEnvironment,
      logging: { ...next.logging, logFilePath: logPath(started, next) },
    },
    waiting: keys
      .filter(({ path }) => !isDeepStrictEqual(valueAt(started, path), valueAt(next, path)))
      .map(({ name }) => name),
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

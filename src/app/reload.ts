import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import type { Configuration } from '../config/model/configuration.js';

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
  const waiting = KEPT.filter(({ of }) => !isDeepStrictEqual(of(started), of(next))).map(({ name }) => name);
  return { configuration: keep(started, next), waiting };
}

const keep = (started: Configuration, next: Configuration): Configuration => ({
  ...next,
  adapter: {
    ...next.adapter,
    shell: started.adapter.shell,
    workspaceDirectory: started.adapter.workspaceDirectory,
    stateDirectory: started.adapter.stateDirectory,
    prewarm: started.adapter.prewarm,
    killGraceMs: started.adapter.killGraceMs,
    limitMechanism: started.adapter.limitMechanism,
  },
  childEnvironment: started.childEnvironment,
  socketio: started.socketio,
  logging: { ...next.logging, filePath: logPath(started, next) },
  auth: { ...next.auth, mode: started.auth.mode },
  sandbox: started.sandbox,
  llm: { ...next.llm, worktreeDirectory: started.llm.worktreeDirectory },
  audit: started.audit,
  http: started.http,
});

/**
 * The log file can change while the daemon runs, unless only its default changes, which follows the state directory:
 * that takes effect at the next start.
 */
function logPath(started: Configuration, next: Configuration): string {
  const { filePath } = next.logging;
  const isDefault = dirname(filePath) === next.adapter.stateDirectory;
  return isDefault ? join(started.adapter.stateDirectory, basename(filePath)) : filePath;
}

/** The settings that are kept, by their names in the configuration file. */
const KEPT: readonly { readonly name: string; readonly of: (configuration: Configuration) => unknown }[] = [
  { name: 'adapter.shell', of: ({ adapter }) => adapter.shell },
  { name: 'adapter.workspace_directory', of: ({ adapter }) => adapter.workspaceDirectory },
  { name: 'adapter.state_directory', of: ({ adapter }) => adapter.stateDirectory },
  { name: 'adapter.prewarm', of: ({ adapter }) => adapter.prewarm },
  { name: 'adapter.kill_grace', of: ({ adapter }) => adapter.killGraceMs },
  { name: 'adapter.limit_mechanism', of: ({ adapter }) => adapter.limitMechanism },
  { name: 'adapter.environment', of: ({ childEnvironment }) => childEnvironment },
  { name: 'socketio', of: ({ socketio }) => socketio },
  { name: 'auth.mode', of: ({ auth }) => auth.mode },
  { name: 'sandbox', of: ({ sandbox }) => sandbox },
  { name: 'llm.worktree_directory', of: ({ llm }) => llm.worktreeDirectory },
  { name: 'audit', of: ({ audit }) => audit },
  { name: 'http', of: ({ http }) => http },
];

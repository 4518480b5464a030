import { isDeepStrictEqual } from 'node:util';

import type { Configuration } from '../config/configuration.js';

/** The settings that a running daemon keeps as it was started with; all others apply as soon as they are read. */
const KEPT: readonly { readonly name: string; readonly of: (configuration: Configuration) => unknown }[] = [
  { name: 'socketio', of: ({ socketio }) => socketio },
  { name: 'audit', of: ({ audit }) => audit },
  { name: 'http', of: ({ http }) => http },
  { name: 'auth.mode', of: ({ auth }) => auth.mode },
  { name: 'adapter.shell', of: ({ adapter }) => adapter.shell },
  { name: 'adapter.workspace_directory', of: ({ adapter }) => adapter.workspaceDirectory },
  { name: 'adapter.state_directory', of: ({ adapter }) => adapter.stateDirectory },
  { name: 'adapter.prewarm', of: ({ adapter }) => adapter.prewarm },
  { name: 'adapter.environment', of: ({ childEnvironment }) => childEnvironment },
];

/** The settings whose change waits for the next start of the daemon. */
export const listChangesForRestart = (started: Configuration, now: Configuration): string[] =>
  KEPT.filter(({ of }) => !isDeepStrictEqual(of(started), of(now))).map(({ name }) => name);

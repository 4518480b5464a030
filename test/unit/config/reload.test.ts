import { expect, it } from 'vitest';

import { reload } from '../../../src/config/derive.js';
import { CWD, load } from './support.js';

/** The file is another one each time: paths in it are relative to one directory all the same. */
const read = (yaml: string) => ({ ...load(yaml, { baseDirectory: CWD }), file: undefined });

const STARTED = read('{}');

/** A change of a key that has to wait, and where it would be seen. */
const WAITING: readonly (readonly [name: string, yaml: string])[] = [
  ['adapter.shell', 'adapter: { shell: zsh }'],
  ['adapter.workspace_directory', 'adapter: { workspace_directory: elsewhere }'],
  ['adapter.prewarm', 'adapter: { prewarm: { sessions: 9 } }'],
  ['adapter.kill_grace', 'adapter: { kill_grace: 9 }'],
  ['adapter.limit_mechanism', 'adapter: { limit_mechanism: polling }'],
  ['adapter.environment', 'adapter: { environment: { set: { A: b } } }'],
  ['socketio', 'socketio: { max_message_bytes: 2048 }'],
  ['auth.mode', 'auth: { mode: token }'],
  ['sandbox', 'sandbox: { profile: strict }'],
  ['llm.worktree_directory', 'llm: { worktree_directory: elsewhere }'],
  ['audit', 'audit: { max_size: 9999 }'],
  ['recording.directory', 'recording: { directory: elsewhere }'],
  ['http', 'http: { metrics: false }'],
];

it.each(WAITING)('%s stays as the daemon was started with, and is told', (name, yaml) => {
  const { configuration, waiting } = reload(STARTED, read(yaml));
  expect(waiting).toEqual([name]);
  expect(configuration).toEqual(STARTED);
});

it('a state directory that waits takes along what is in it by default', () => {
  const { configuration, waiting } = reload(STARTED, read('adapter: { state_directory: elsewhere }'));
  expect(waiting).toEqual(['adapter.state_directory', 'llm.worktree_directory', 'audit', 'recording.directory']);
  expect(configuration).toEqual(STARTED);
});

it.each([
  'adapter: { max_sessions: 9, memory_mb_limit: 9, wedge_timeout: 9, session_max_lifetime: 9 }',
  'checkpoints: { max_files: 9 }',
  'recording: { roles: [agent] }',
  'logging: { logging_level: debug }',
  'auth: { requests_per_second: 9 }',
  'confirmation: { mode: self, expires: 9 }',
  'llm: { timeout: 9, skip_cli: true }',
  'secrets: { values: [hunter22-hunter22] }',
])('%s applies at once', (yaml) => {
  const next = read(yaml);
  expect(reload(STARTED, next)).toEqual({ configuration: next, waiting: [] });
  expect(next).not.toEqual(STARTED);
});

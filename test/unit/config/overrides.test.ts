import { dirname } from 'node:path';

import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../../src/config/read/load.js';
import { BARE_ENV, CWD, catchError, load, problemsOf } from './support.js';

const withEnv = (env: NodeJS.ProcessEnv, text = '') => load(text, { env: { ...BARE_ENV, ...env } });

describe('an environment variable', () => {
  it('wins over the file', () => {
    expect(withEnv({ SHELL_ADAPTER_SOCKETIO_PORT: '9000' }, 'socketio: { port: 1 }').socketio.port).toBe(9000);
  });

  it('switches on and off', () => {
    expect(withEnv({ SHELL_ADAPTER_HTTP_METRICS: 'false' }).http.metrics).toBe(false);
    expect(withEnv({ SHELL_ADAPTER_HTTP_METRICS: 'true' }, 'http: { metrics: false }').http.metrics).toBe(true);
  });

  it('reaches keys within keys', () => {
    expect(
      withEnv({ SHELL_ADAPTER_ADAPTER_PREWARM_ONE_SHOTS: '0' }, 'adapter: { prewarm: { sessions: 3 } }').adapter
        .prewarm,
    ).toEqual({ sessions: 3, oneShots: 0 });
  });

  it.each([
    ['[A, B_*]', ['A', 'B_1']],
    ['A,B_*', ['A', 'B_1']],
    ['A', ['A']],
    ['', []],
    ['[]', []],
  ])('gives a list as %s', (text, expected) => {
    const { childEnvironment } = withEnv({ SHELL_ADAPTER_ADAPTER_ENVIRONMENT_PASS: text, A: '1', B_1: '2', C: '3' });
    expect(['A', 'B_1', 'C'].filter((name) => name in childEnvironment)).toEqual(expected);
  });

  it('gives a mapping as in YAML', () => {
    expect(withEnv({ SHELL_ADAPTER_ADAPTER_ENVIRONMENT_SET: '{K: v}' }).childEnvironment['K']).toBe('v');
  });

  it.each([
    ['*', '*'],
    ['https://a.org', ['https://a.org']],
    ['https://a.org, https://b.org:8443', ['https://a.org', 'https://b.org:8443']],
  ])('gives the origins %s', (text, expected) => {
    expect(withEnv({ SHELL_ADAPTER_SOCKETIO_CORS_ALLOWED_ORIGINS: text }).socketio.corsAllowedOrigins).toEqual(
      expected,
    );
  });

  it('stays text where text belongs, and its "${" as it is', () => {
    const workspace = (text: string) =>
      withEnv({ SHELL_ADAPTER_ADAPTER_WORKSPACE_DIRECTORY: text }).adapter.workspaceDirectory;
    expect(workspace('2024')).toBe(`${CWD}/2024`);
    expect(workspace('${HOME}')).toBe(`${CWD}/\${HOME}`);
  });

  it('of a wrong value is named in the error', () => {
    const error = catchError(() => withEnv({ SHELL_ADAPTER_SOCKETIO_PORT: 'many' }));
    expect(error.message).toBe(
      'environment variable SHELL_ADAPTER_SOCKETIO_PORT: socketio.port: must be a whole number (port) from 0 to 65535; got the text "many"',
    );
  });

  it.each([
    ['SHELL_ADAPTER_SOCKETIO_PROT', 'overrides no key; did you mean SHELL_ADAPTER_SOCKETIO_PORT?'],
    ['SHELL_ADAPTER_ADAPTER_PREWARM_SESSION', 'overrides no key; did you mean SHELL_ADAPTER_ADAPTER_PREWARM_SESSIONS?'],
    ['SHELL_ADAPTER_LOGGING_Q', 'overrides no key'],
    ['SHELL_ADAPTER_ADAPTER_PREWARM', 'overrides no key'],
  ])('%s, which is no key, is refused', (name, expected) => {
    const error = catchError(() => withEnv({ [name]: '1' }));
    expect(error.problems).toEqual([expect.objectContaining({ file: `environment variable ${name}` })]);
    expect(error.message).toContain(expected);
  });

  it.each(['SHELL_ADAPTER_URL', 'SHELL_ADAPTER_CONFIG', 'SHELL_ADAPTER_SESSION_ID', 'SHELL_ADAPTER', 'SOCKETIO_PORT'])(
    '%s is no override',
    (name) => {
      const request = { cwd: CWD, env: BARE_ENV };
      expect(loadConfiguration({ ...request, env: { ...BARE_ENV, [name]: 'x' } })).toEqual(loadConfiguration(request));
    },
  );
});

describe('a flag', () => {
  it('wins over environment and file', () => {
    const env = { ...BARE_ENV, SHELL_ADAPTER_SOCKETIO_PORT: '2' };
    expect(load('socketio: { port: 1 }', { env, overrides: { socketio: { port: 3 } } }).socketio.port).toBe(3);
  });

  it('that was not given leaves the others alone', () => {
    const overrides = { socketio: { port: undefined }, adapter: undefined };
    expect(load('socketio: { port: 1 }', { overrides }).socketio.port).toBe(1);
  });

  it('of a wrong value is an error of the command line', () => {
    const error = catchError(() => load('', { overrides: { socketio: { port: -1 } } }));
    expect(error.message).toMatch(/^command line: socketio\.port: must be .*; got the number -1$/);
  });

  it('does not hide that the section in the file is no section', () => {
    expect(problemsOf('socketio: 5', { overrides: { socketio: { port: 1 } } })).toEqual([
      '1:11 socketio: must be a mapping of keys to values; got the number 5',
    ]);
  });
});

describe('a relative path', () => {
  const text =
    'adapter: { workspace_directory: work, state_directory: ./state }\nlogging: { log_file_path: logs/a.log }';
  const pathsOf = (configuration: ReturnType<typeof load>) => [
    configuration.adapter.workspaceDirectory,
    configuration.adapter.stateDirectory,
    configuration.logging.logFilePath,
  ];

  it('in a file is relative to the folder of the file', () => {
    const configuration = load(text);
    const base = dirname(configuration.file ?? '');
    expect(pathsOf(configuration)).toEqual([`${base}/work`, `${base}/state`, `${base}/logs/a.log`]);
  });

  it('in a file elsewhere than its own place is relative to what the caller says', () => {
    expect(pathsOf(load(text, { baseDirectory: '/base' }))).toEqual(['/base/work', '/base/state', '/base/logs/a.log']);
  });

  it('from the environment or a flag is relative to the current directory', () => {
    const env = { ...BARE_ENV, SHELL_ADAPTER_ADAPTER_WORKSPACE_DIRECTORY: 'here' };
    const overrides = { logging: { log_file_path: 'b.log' } };
    expect(pathsOf(load(text, { baseDirectory: '/base', env, overrides }))).toEqual([
      `${CWD}/here`,
      '/base/state',
      `${CWD}/b.log`,
    ]);
  });

  it.each([
    ['~', '/home/ada'],
    ['~/w', '/home/ada/w'],
    ['/abs/./x/../y', '/abs/y'],
  ])('%s is found as a shell would', (path, expected) => {
    expect(load(`adapter: { workspace_directory: "${path}" }`).adapter.workspaceDirectory).toBe(expected);
  });

  it.each([
    [{ XDG_STATE_HOME: '/state' }, '/state/shell-adapter'],
    [{ XDG_STATE_HOME: 'relative' }, '/home/ada/.local/state/shell-adapter'],
    [{ XDG_STATE_HOME: '' }, '/home/ada/.local/state/shell-adapter'],
  ])('of the state directory follows the XDG rules for %j', (env, expected) => {
    expect(loadConfiguration({ env: { ...BARE_ENV, ...env }, cwd: CWD }).adapter.stateDirectory).toBe(expected);
  });
});

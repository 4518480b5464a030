import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { callCli } from './in-process.js';
import { CliProcess, CliTerminal, makeFolder, runCli, urlVariable } from './support.js';

const SUBCOMMANDS = [
  'serve',
  'exec',
  'open',
  'sessions',
  'attach',
  'close',
  'checkpoint',
  'diff',
  'restore',
  'metadata',
  'doctor',
  'config',
  'request',
  'policy',
  'protocol',
];

/** Those whose own subcommands have the examples. */
const GROUPS = ['config', 'policy'];

/** What no daemon listens on: port 1 is tcpmux's, which nothing has. */
const NOBODY = 'http://127.0.0.1:1';

describe('help', () => {
  it('lists every subcommand, how the daemon is found, and the exit codes', async () => {
    const { code, stdout, stderr } = await runCli(['--help']);
    expect(code).toBe(0);
    expect(stderr).toBe('');
    for (const name of SUBCOMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
    expect(stdout).toContain('SHELL_ADAPTER_URL');
    expect(stdout).toContain('Exit codes:');
  });

  it.each(SUBCOMMANDS)('of %s explains it and exits with 0', async (name) => {
    const { code, stdout, stderr } = await callCli([name, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^Usage: (?:shell-adapter )?${name} `));
    if (!GROUPS.includes(name)) expect(stdout).toContain('Examples:');
  });

  it('is printed on standard error for a bare call, which is wrong usage', async () => {
    const { code, stdout, stderr } = await callCli([]);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('Commands:');
  });

  it('has the version of the package', async () => {
    const { code, stdout } = await runCli(['--version']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('wrong usage', () => {
  it.each([
    ['an unknown command', ['bogus'], 2, "unknown command 'bogus'"],
    ['an unknown option', ['sessions', '--bogus'], 2, "unknown option '--bogus'"],
    ['a missing argument', ['close'], 2, 'give the ids of sessions, or --all'],
    ['a port that is none', ['serve', '--port', '70000'], 2, 'whole number from 0 to 65535'],
    ['an unknown option of exec', ['exec', '--bogus', 'true'], 125, "unknown option '--bogus'"],
    ['exec without a command', ['exec'], 125, "missing required argument 'command'"],
    ['a time-out that is none', ['exec', '--timeout', 'soon', 'true'], 125, 'It must be a number'],
    ['a variable that is none', ['exec', '--env', '1BAD=x', 'true'], 125, 'It must be NAME=VALUE'],
    ['a role that is none', ['token', 'create', '--role', 'x', '--name', 'y'], 2, 'token create --help'],
    ['a date that is none', ['audit', 'search', '--since', '10'], 2, 'audit search --help'],
    ['a payload that is no JSON', ['request', 'list_sessions', '{'], 2, 'the payload is not JSON'],
    ['a payload that is no object', ['request', 'list_sessions', '[]'], 2, 'not an object'],
    ['a provider that is none', ['llm', '--provider', 'x', 'hello'], 2, 'Allowed choices are'],
  ])('%s is said in a line with a pointer to the help', async (_what, args, expected, message) => {
    const { code, stdout, stderr } = await callCli(args);
    expect(code).toBe(expected);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^shell-adapter: /);
    expect(stderr).toContain(message);
    expect(stderr).toContain('--help');
  });
});

it.each([
  ['a name that a token cannot have', ['token', 'create', '--role', 'agent', '--name', 'two words']],
  ['a span of time that is none', ['token', 'create', '--role', 'agent', '--name', 'a', '--expires', 'soon']],
  ['no prompt', ['llm']],
])('%s is wrong usage', async (_what, args) => {
  const { code, stderr } = await callCli(args);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^shell-adapter: /);
});

describe('without a daemon', () => {
  it('policy explain shows what words are taken for, by the configuration and by a preset', async () => {
    using folder = makeFolder();
    const file = join(folder.path, 'config.yaml');
    writeFileSync(file, 'confirmation:\n  rules:\n    - { action: deny, program: make, reason: not here }\n');
    const explain = (...args: readonly string[]) => callCli(['policy', 'explain', '--config', file, ...args]);
    expect(await explain('make -C sub')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^deny: execute\n {2}not here\n[^]*^ {2}make +the program make/m) as string,
    });
    expect((await explain('--preset', 'strict', 'touch x')).stdout).toMatch(/^confirm: write\n/);
    const { stdout } = await explain('--json', '--cwd', '/srv', '--', 'rm', 'a b');
    expect(JSON.parse(stdout)).toMatchObject({ paths: ['/srv/a b'], commands: [{ program: 'rm' }] });
    expect(await explain()).toMatchObject({ code: 2 });
  });

  it.each([
    ['exec', ['exec', 'true'], 125],
    ['open', ['open'], 1],
    ['sessions', ['sessions'], 1],
    ['attach', ['attach', 'x'], 1],
    ['close', ['close', 'x'], 1],
    ['metadata', ['metadata'], 1],
    ['request', ['request', 'list_sessions'], 1],
    ['checkpoint', ['checkpoint'], 1],
    ['diff', ['diff'], 1],
    ['restore', ['restore', 'x'], 1],
  ])('%s says where it looked and what to do', async (_name, args, expected) => {
    const { code, stdout, stderr } = await callCli(args, { env: { SHELL_ADAPTER_URL: NOBODY } });
    expect(code).toBe(expected);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^shell-adapter: no daemon answers at http:\/\/127\.0\.0\.1:1/);
    expect(stderr).toContain('shell-adapter serve');
    expect(stderr).toContain('SHELL_ADAPTER_URL');
    expect(stderr).not.toMatch(/^ +at /m);
  });
});

describe('the daemon', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await TestDaemon.start();
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
  });
  const answer = ['exec', 'echo found'];
  const port = () => new URL(daemon.url).port;

  it.each([
    ['--url', () => ({ args: ['--url', daemon.url], env: { SHELL_ADAPTER_URL: NOBODY } })],
    ['SHELL_ADAPTER_URL', () => ({ args: [], env: { ...urlVariable(daemon), SHELL_ADAPTER_SOCKETIO_PORT: '1' } })],
    ['the configuration', () => ({ args: [], env: { SHELL_ADAPTER_SOCKETIO_PORT: port() } })],
  ])('is found by %s', async (_way, how) => {
    const { args, env } = how();
    expect(await runCli(['exec', ...args, 'echo found'], { env })).toMatchObject({ code: 0, stdout: 'found\n' });
  });

  it('is found by a file that --config names, before SHELL_ADAPTER_CONFIG and the variable with the URL', async () => {
    using folder = makeFolder();
    const right = `${folder.path}/right.yaml`;
    const wrong = `${folder.path}/wrong.yaml`;
    writeFileSync(right, `socketio: { port: ${port()} }`);
    writeFileSync(wrong, 'socketio: { port: 1 }');
    const byFlag = await callCli(['exec', '-c', right, 'echo found'], {
      env: { SHELL_ADAPTER_CONFIG: wrong, SHELL_ADAPTER_URL: NOBODY },
    });
    expect(byFlag).toMatchObject({ code: 0, stdout: 'found\n' });
    const byVariable = await callCli(answer, { env: { SHELL_ADAPTER_CONFIG: right } });
    expect(byVariable).toMatchObject({ code: 0, stdout: 'found\n' });
    const byWrong = await callCli(answer, { env: { SHELL_ADAPTER_CONFIG: wrong } });
    expect(byWrong.code).toBe(125);
    expect(byWrong.stderr).toContain(wrong);
  });

  it('is not guessed when the configuration has port 0, or the URL is none', async () => {
    const zero = await callCli(answer, { env: { SHELL_ADAPTER_SOCKETIO_PORT: '0' } });
    expect(zero.code).toBe(125);
    expect(zero.stderr).toContain('port 0');
    for (const name of ['sessions', 'doctor']) {
      const none = await callCli([name, '--url', 'localhost']);
      expect(none.code).toBe(2);
      expect(none.stderr).toContain('"localhost" is not a URL');
    }
  });

  it('tells its machine, for people and as JSON', async () => {
    const env = urlVariable(daemon);
    const text = await callCli(['metadata'], { env });
    expect(text.stdout).toMatch(/^workspace {3}\S/m);
    const { code, stdout } = await callCli(['metadata', '--json'], { env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ workspace_directory: daemon.workspace, protocol_version: 1 });
  });

  it('is asked anything that the protocol has', async () => {
    const env = urlVariable(daemon);
    const given = await callCli(['request', 'execute_command', '{"command":"echo hi"}'], { env });
    expect(given.code).toBe(0);
    expect(JSON.parse(given.stdout)).toMatchObject({ exit_code: 0, stdout: 'hi\n' });
    const read = await runCli(['request', 'execute_command', '-'], { env, input: '{"command":"exit 3"}' });
    expect(JSON.parse(read.stdout)).toMatchObject({ exit_code: 3 });
    const unknown = await callCli(['request', 'list_session'], { env });
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toContain('list_sessions');
  });

  it('may print to a reader that has gone: that is no error', async () => {
    const env = urlVariable(daemon);
    await using call = new CliProcess(['protocol'], { env });
    call.child.stdout.destroy();
    expect(await call.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('is shown in colours on a terminal alone, and not with NO_COLOR', async () => {
    const env = urlVariable(daemon);
    await using coloured = new CliTerminal(['doctor'], { env });
    await coloured.until(new RegExp(`${String.fromCharCode(27)}\\[32mok.* +daemon`));
    await using plain = new CliTerminal(['doctor'], { env: { ...env, NO_COLOR: '1' } });
    await plain.until(/ok +daemon/);
    await Promise.all([coloured.ended, plain.ended]);
    expect(plain.output).not.toContain('\u001b[');
    expect((await runCli(['doctor'], { env })).stdout).not.toContain('\u001b[');
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { callCli } from './in-process.js';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.startCold();
});
afterAll(() => daemon[Symbol.asyncDispose]());

const check = (...args: readonly string[]) => callCli(['check', '--url', daemon.url, ...args], { cwd: '/etc' });

describe('check', () => {
  it('says what would become of a command, why, and of which of its commands', async () => {
    const { code, stdout } = await check('git status && rm -rf ~/build');
    expect(code).toBe(3);
    expect(stdout.split('\n')).toEqual([
      'confirm: destructive',
      expect.stringMatching(/^ {2}rm deletes \/.*\/build$/),
      '',
      '  ACTION   CLASS        COMMAND',
      '  allow    read         git status',
      '  confirm  destructive  rm -rf ~/build',
      '',
      'The gate is off (confirmation.mode): it would run all the same.',
      '',
    ]);
  });

  it.each([
    [['ls'], 0, 'allow: read'],
    [['rm x'], 0, 'checkpoint: destructive'],
    [['rm -r /srv/x'], 3, 'confirm: destructive'],
    [['rm -rf /'], 4, 'deny: destructive'],
    [['--', 'rm', '-rf', '/'], 4, 'deny: destructive'],
    [['--', 'echo', '$(rm x)'], 0, 'allow: read'],
    [['--cwd', '.', 'touch x'], 3, 'confirm: persistence'],
    [['"$PROGRAM" x'], 3, 'confirm: obfuscated'],
    [['echo "unfinished'], 0, 'allow: read'],
  ])('%j: exit code %i, %s', async (args, expectedCode, line) => {
    const { code, stdout } = await check(...args);
    expect({ code, line: stdout.split('\n')[0] }).toEqual({ code: expectedCode, line });
  });

  it('prints the answer of the protocol as JSON', async () => {
    const { code, stdout } = await check('--json', 'rm /srv/x');
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ action: 'confirm', class: 'destructive', enforced: false });
  });

  it('shows no control characters of the command', async () => {
    const { stdout } = await check('echo a; echo "\x1b[31m"');
    // oxlint-disable-next-line no-control-regex -- it is what must not be there
    expect(stdout).not.toMatch(/\x1b/);
  });

  it('says what is wrong otherwise', async () => {
    expect(await check('--session', 'session_none', 'ls')).toMatchObject({ code: 1, stdout: '' });
    expect(await check()).toMatchObject({ code: 2, stdout: '' });
  });
});

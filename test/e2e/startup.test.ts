import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../support/daemon.js';
import { WireClient } from '../support/wire.js';

/** A line that returns where there is no prompt, as in the `.bashrc` of distributions. */
const ONLY_AT_A_PROMPT = '[ -z "$PS1" ] && return\n';
/** What the integration of a terminal leaves behind. */
const HOOKED = 'PROMPT_COMMAND="HOOKED=1"\nPS1="prompt> "\n';

const ENVIRONMENTS = {
  tools: {
    init: 'greet() { echo "hello $1"; }\nalias three="echo 3"\ncd sub\nWORD=plain',
    env: { FROM_CONFIG: 'yes', SHARED: 'config' },
  },
  broken: { init: 'echo trouble >&2\n(exit 4)' },
  slow: { init: 'while :; do sleep 0.05; done', timeout: 1 },
  hostile: { init: 'rm -rf /' },
};

describe('the startup of a session', () => {
  let directory: string;
  let home: string;
  let daemon: TestDaemon;
  let client: WireClient;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'shell-adapter-test-'));
    home = join(directory, 'home');
    mkdirSync(home);
    mkdirSync(join(directory, 'workspace', 'sub'), { recursive: true });
    const profile = `${ONLY_AT_A_PROMPT}${HOOKED}export FROM_PROFILE=yes\n`;
    for (const name of ['.bash_profile', '.zprofile', '.profile']) writeFileSync(join(home, name), profile);
    writeFileSync(join(home, '.zshrc'), 'export FROM_RC=yes\n');
    writeFileSync(join(home, '.bashrc'), `${ONLY_AT_A_PROMPT}export FROM_RC=yes\n`);
    writeFileSync(join(directory, 'workspace', 'set up.sh'), 'export FROM_FILE=yes\nexit 6\n');
    daemon = await TestDaemon.start(
      { settings: { environments: ENVIRONMENTS, confirmation: { mode: 'self' } }, env: { HOME: home } },
      directory,
    );
    client = await WireClient.connect(daemon.url);
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });

  describe.each(['bash', 'zsh', 'sh'])('%s', (shell) => {
    const open = (given: object) => client.request('open_session', { shell, ...given });

    it('reads no file unless it is asked to', async () => {
      const { session_id: id, startup } = await open({});
      expect(startup).toBeUndefined();
      expect(await client.run('echo "${FROM_PROFILE-none} ${FROM_RC-none}"', id)).toMatchObject({
        stdout: 'none none\n',
      });
    });

    it('reads the files of a login shell, and works afterwards', async () => {
      const { session_id: id, startup } = await open({ login: true });
      expect(startup).toMatchObject({ exit_code: 0, status: 'completed', stderr: '' });
      const rc = shell === 'zsh' ? 'yes' : 'none';
      expect(await client.run('echo "$FROM_PROFILE ${FROM_RC-none}"', id)).toMatchObject({ stdout: `yes ${rc}\n` });
      expect(await client.run('tty', id, { tty: true })).toMatchObject({
        stdout: expect.stringMatching(/^\/dev\/pts\/\d+\r\n$/) as string,
      });
    });

    it('runs the init of an environment, whose variables give way to those of the client', async () => {
      const given = { environment: 'tools', env: { SHARED: 'client' } };
      const { session_id: id, startup, working_directory: directory } = await open(given);
      expect({ startup, directory }).toMatchObject({
        startup: { exit_code: 0 },
        directory: join(daemon.workspace, 'sub'),
      });
      const { stdout } = await client.run('echo "$FROM_CONFIG $SHARED $WORD"; greet you; three', id);
      expect(stdout).toBe('yes client plain\nhello you\n3\n');
    });

    it('is run again after a reset, and kept when the shell is killed', async () => {
      const { session_id: id } = await open({ environment: 'tools' });
      expect(await client.request('reset_session', { session_id: id })).toMatchObject({
        startup: { exit_code: 0 },
        working_directory: join(daemon.workspace, 'sub'),
      });
      expect(await client.run('kill -9 $$', id)).toMatchObject({ session_state: 'restarted' });
      // sh cannot list its functions.
      const kept = shell === 'sh' ? 'echo "hello again"' : 'greet again';
      expect(await client.run(`${kept}; echo "$FROM_CONFIG"`, id)).toMatchObject({ stdout: 'hello again\nyes\n' });
    });

    it('tells that it has failed, and leaves a session that works', async () => {
      const { session_id: id, startup } = await open({ environment: 'broken' });
      expect(startup).toMatchObject({ exit_code: 4, stderr: 'trouble\n' });
      expect(await client.run('echo on', id)).toMatchObject({ stdout: 'on\n' });
    });

    it('a file that ends the shell does not end the session', async () => {
      const { session_id: id, startup } = await open({ rcfile: 'set up.sh' });
      expect(startup).toMatchObject({ exit_code: 6 });
      expect(await client.run('echo $FROM_FILE', id)).toMatchObject({ stdout: 'yes\n' });
    });
  });

  it('reads a file of the home directory', async () => {
    const { session_id: id } = await client.request('open_session', { rcfile: '~/.bashrc' });
    expect(await client.run('echo $FROM_RC', id)).toMatchObject({ stdout: 'yes\n' });
  });

  it('ends in time', async () => {
    const { session_id: id, startup } = await client.request('open_session', { environment: 'slow' });
    expect(startup).toMatchObject({ status: 'timed_out', exit_code: 124 });
    expect(await client.run('echo on', id)).toMatchObject({ stdout: 'on\n' });
  });

  it.each([
    [{ environment: 'tolls' }, 'INVALID_REQUEST', /no environment tolls; there are: tools, broken, slow, hostile/],
    [{ rcfile: 'missing.sh' }, 'INVALID_REQUEST', /there is no file .*missing\.sh/],
    [{ rcfile: 'sub' }, 'INVALID_REQUEST', /there is no file .*sub/],
    [{ rcfile: '/etc/passwd/x' }, 'INVALID_REQUEST', /there is no file \/etc\/passwd\/x/],
    [{ rcfile: '' }, 'INVALID_REQUEST', /rcfile/],
    [{ environment: 'hostile' }, 'COMMAND_DENIED', /policy/],
  ])('%j is refused, and no session is opened', async (given, code, message) => {
    const before = await client.request('list_sessions', {});
    const { error } = await client.request('open_session', given);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect((await client.request('list_sessions', {})).sessions).toHaveLength(before.sessions.length);
  });

  it('the names of environments are known to clients', async () => {
    const { environments } = await client.request('shell_metadata', {});
    expect(environments).toEqual(['tools', 'broken', 'slow', 'hostile']);
  });
});

it('the strict preset refuses startup files, and says what can be confirmed instead', async () => {
  await using daemon = await TestDaemon.startCold({ settings: { confirmation: { mode: 'self', preset: 'strict' } } });
  await using client = await WireClient.connect(daemon.url);
  const { error } = await client.request('open_session', { login: true });
  expect(error).toMatchObject({ code: 'COMMAND_DENIED', message: expect.stringContaining('without login') as string });
});

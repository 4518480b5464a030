import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { describeRootIf } from '../../support/root.js';
import { canSandbox } from '../../support/sandbox.js';
import { canMakeUsers, TestUser } from '../../support/machine/users.js';
import { WireClient } from '../../support/wire.js';
import { callCli } from '../cli/in-process.js';

/** Prints the user, its groups and what a login has of it. */
const WHO = 'echo "$(id -un) $(id -Gn) $HOME $USER $LOGNAME $(umask)"';

describeRootIf(canMakeUsers)('tokens with a user of their own', () => {
  let alice: TestUser;
  let bob: TestUser;
  let daemon: TestDaemon;
  let asAlice: WireClient;
  let asBob: WireClient;
  let local: WireClient;
  const ends: (() => PromiseLike<void> | void)[] = [];

  const cli = (...args: string[]) =>
    callCli(args, { env: { SHELL_ADAPTER_CONFIG: join(daemon.directory, 'config.yaml') } });
  const tokenFor = async ({ name }: TestUser) =>
    (await cli('token', 'create', '--role', 'agent', '--name', name, '--run-as', name)).stdout.trim();
  const who = ({ name, home }: TestUser) => `${name} ${name} ${home} ${name} ${name} 0022\n`;

  beforeAll(async () => {
    const makeUser = (suffix: string) => {
      const user = new TestUser(suffix);
      ends.push(() => {
        user[Symbol.dispose]();
      });
      return user;
    };
    const connect = async (token?: string) => {
      const client = await WireClient.connect(daemon.url, ['websocket'], { token });
      ends.push(() => client[Symbol.asyncDispose]());
      return client;
    };
    alice = makeUser('a');
    bob = makeUser('b');
    const tool = '/bin/sh';
    daemon = await TestDaemon.start({
      settings: {
        adapter: { memory_mb_limit: 512 },
        llm: {
          provider: 'shell',
          shell_providers: {
            fake: { command: tool, args: ['-c', `cat >/dev/null; ${WHO}; pwd; ls -ld "$TMPDIR" | cut -d" " -f1,3`] },
            keyed: { command: tool, args: ['-c', 'env'], env: { KEY: 'of-the-operator' } },
          },
        },
      },
    });
    ends.push(() => daemon[Symbol.asyncDispose]());
    asAlice = await connect(await tokenFor(alice));
    asBob = await connect(await tokenFor(bob));
    local = await connect();
  });

  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  it('run sessions, one-shots, programs and terminals as that user', async () => {
    const id = await asAlice.openSession();
    expect((await asAlice.run(WHO, id)).stdout).toBe(who(alice));
    expect((await asAlice.run('pwd; cat', id, { stdin: 'input' })).stdout).toBe(`${alice.home}\ninput`);
    expect((await asAlice.run('id -un; tty; stat -c %U "$(tty)"', id, { tty: true })).stdout).toMatch(
      new RegExp(`^${alice.name}\\r?\\n/dev/pts/\\d+\\r?\\n${alice.name}\\r?\\n$`),
    );
    expect((await asAlice.run('id -un; sleep 60 &', id)).background_processes).toHaveLength(1);
    expect((await asBob.run(WHO)).stdout).toBe(who(bob));
    expect((await asBob.run(`${WHO}; cat`, undefined, { stdin: 'x', env: { LD_PRELOAD: '/none' } })).stdout).toBe(
      `${who(bob)}x`,
    );
    expect((await asBob.run('id', undefined, { args: ['-un'] })).stdout).toBe(`${bob.name}\n`);
    expect((await asBob.run('cat', undefined, { args: [], stdin: 'to a program' })).stdout).toBe('to a program');
    for (const none of ['no-such-program', '-c']) {
      expect(await asBob.run(none, undefined, { args: ['id'] })).toMatchObject({ exit_code: 127, stdout: '' });
    }
    expect((await asBob.run('echo $(id -un); tty', undefined, { tty: true })).stdout).toContain(bob.name);
    expect((await local.run('id -un')).stdout).toBe('root\n');
    await asAlice.request('close_session', { session_id: id });
    await eventually(() => expect(alice.run(`pgrep -u ${alice.uid} sleep`).stdout).toBe(''));
  });

  it('take a long text, a streamed input and every shell', async () => {
    const long = `: ${'x'.repeat(5000)}; id -un`;
    expect((await asAlice.run(long)).stdout).toBe(`${alice.name}\n`);
    const id = await asAlice.openSession();
    expect((await asAlice.run(long, id, { env: { A: 'b' }, cwd: '/' })).stdout).toBe(`${alice.name}\n`);
    for (const session_id of [undefined, id]) {
      const command_id = `streamed-${session_id ?? 'alone'}`;
      const answer = asAlice.run('cat; id -un', session_id, { command_id, stdin_stream: true });
      await asAlice.request('send_input', { command_id, session_id, data: 'fed ', eof: true });
      expect((await answer).stdout).toBe(`fed ${alice.name}\n`);
    }
    for (const shell of ['zsh', 'sh']) {
      const opened = await asAlice.request('open_session', { shell });
      if (opened.error?.code === 'SHELL_NOT_FOUND') continue;
      expect((await asAlice.run('id -un', opened.session_id)).stdout).toBe(`${alice.name}\n`);
    }
  });

  it('keep files and processes from each other, and those of the daemon', async () => {
    const id = await asAlice.openSession();
    await asAlice.run('umask 077; echo secret >mine; SECRET=1 sleep 60 & echo $! >pid', id);
    const pid = readFileSync(join(alice.home, 'pid'), 'utf8').trim();
    const runtime = (await asAlice.run('dirname "$__sa_dir"', id)).stdout.trim();
    const shell = (await asAlice.run('echo "$__sa_dir"', id)).stdout.trim();
    expect(runtime).toContain(`user-${alice.uid}`);
    const attempts = [
      `cat ${alice.home}/mine`,
      `cat /proc/${pid}/environ`,
      `ls /proc/${pid}/fd`,
      `kill ${pid}`,
      `ls ${runtime}`,
      `ls ${runtime}/..`,
      `ls ${runtime}/../..`,
      `ls ${shell}`,
      `cat ${shell}/state.0`,
      `echo >${shell}/cmd`,
      `cat ${join(daemon.directory, 'state', 'token')}`,
      `ls ${join(daemon.directory, 'state', 'spool')}`,
    ];
    for (const attempt of attempts) {
      const { exit_code: code, stdout, stderr } = await asBob.run(attempt);
      expect([attempt, code === 0, stdout]).toEqual([attempt, false, '']);
      expect(stderr).toMatch(/[Pp]ermission denied|not permitted/);
    }
    // Not even its own files there can be replaced: the daemon would follow a link.
    for (const attempt of [`rm -f ${shell}/state.0`, `ln -s /etc/passwd ${shell}/009.cmd`, `mv ${shell} ${shell}x`]) {
      expect([attempt, (await asAlice.run(attempt)).exit_code]).toEqual([attempt, 1]);
    }
    const { stdout } = await asBob.run('for fd in /proc/self/fd/*; do readlink "$fd"; done', await asBob.openSession());
    expect(stdout).not.toMatch(/user-(?!\d+\/)|ptmx/);
    expect((await asBob.request('list_sessions')).sessions.map(({ owner }) => owner)).not.toContain(alice.name);
    expect((await asBob.request('get_session', { session_id: id })).error?.code).toBe('SESSION_NOT_FOUND');
  });

  it('enter directories and find shells with the rights of that user', async () => {
    const refused = { code: 'BAD_DIRECTORY' };
    expect((await asBob.request('open_session', { cwd: '/root' })).error).toMatchObject(refused);
    expect((await asBob.request('open_session', { cwd: `${alice.home}/none` })).error).toMatchObject(refused);
    expect(await asBob.run('pwd', undefined, { cwd: alice.home })).toMatchObject({ exit_code: 126, stdout: '' });
    const id = await asBob.openSession();
    expect(await asBob.run('pwd', id, { cwd: '/root' })).toMatchObject({ exit_code: 126, stdout: '' });
    expect((await asBob.request('reset_session', { session_id: id, cwd: '/root' })).error).toMatchObject(refused);
    expect((await asBob.run('pwd', id)).stdout).toBe(`${bob.home}\n`);
    expect((await asBob.request('open_session', { shell: '/root/bin/bash' })).error?.code).toBe('SHELL_NOT_FOUND');
    const check = (command: string) => asBob.request('check_command', { command });
    expect((await check('if')).reasons).toEqual(['bash cannot parse the command: nothing of it was run']);
    expect((await check('rm -rf ~')).action).not.toBe('allow');
    expect(await asBob.request('shell_metadata')).toMatchObject({ user: bob.name, workspace_directory: bob.home });
  });

  it('end everything, and replace a shell by one of the same user', async () => {
    const id = await asAlice.openSession();
    const slow = await asAlice.run('setsid sleep 77 & sleep 77', id, { timeout_ms: 300 });
    expect(slow.status).toBe('timed_out');
    expect((await asAlice.run('sleep 77 & sleep 77', undefined, { timeout_ms: 300 })).status).toBe('timed_out');
    await asAlice.run('mkdir -p there && cd there && export KEPT=1', id);
    await asAlice.run('kill -9 $$', id);
    expect((await asAlice.run('id -un; pwd; echo $KEPT', id)).stdout).toBe(`${alice.name}\n${alice.home}/there\n1\n`);
    await asAlice.run('cd .. && rmdir there && exec false', id);
    expect((await asAlice.run('id -un; pwd', id)).stdout).toBe(`${alice.name}\n${alice.home}\n`);
    await asAlice.request('close_session', { session_id: id });
    await eventually(() => expect(alice.run(`pgrep -u ${alice.uid} -f '^sleep 77'`).stdout).toBe(''));
  });

  it('keep commands in their limits', async () => {
    const id = await asAlice.openSession({ limits: { processes: 20 } });
    const { mechanism_in_use: mechanism } = (await asAlice.request('shell_metadata')).resource_limits;
    const group = await asAlice.run('cat /proc/self/cgroup', id);
    if (mechanism.startsWith('cgroup')) expect(group.stdout).toContain('shell-adapter');
    const escape = await asAlice.run(
      'for f in $(find /sys/fs/cgroup -maxdepth 3 -name cgroup.procs 2>/dev/null); do echo $$ >"$f" && echo "$f"; done',
      id,
    );
    expect(escape.stdout).toBe('');
    const many = await asAlice.run('for i in $(seq 40); do sleep 30 & done; wait', id, { timeout_ms: 5000 });
    expect([many.status, many.stderr]).not.toEqual(['completed', '']);
  });

  it.skipIf(!canSandbox)('do not see in a sandbox what that user saves while it runs', async () => {
    const login = join(alice.home, '.netrc');
    alice.run(`echo old >${login}`);
    for (const sandbox of ['workspace', 'strict'] as const) {
      const id = await asAlice.openSession({ sandbox });
      expect(await asAlice.run(`cat ${login}`, id)).toMatchObject({ exit_code: 0, stdout: '' });
      alice.run(`echo new >${login}.new && mv ${login}.new ${login}`);
      await eventually(async () => {
        expect(await asAlice.run(`cat ${login}`, id)).toMatchObject({ exit_code: 0, stdout: '' });
      });
    }
  });

  it.skipIf(!canSandbox)('run in a sandbox as that user', async () => {
    for (const sandbox of ['workspace', 'strict'] as const) {
      const id = await asAlice.openSession({ sandbox });
      const probe = `id -un; touch ~/x-${sandbox} && echo written; touch /etc/x 2>/dev/null || echo kept`;
      expect((await asAlice.run(probe, id)).stdout).toBe(`${alice.name}\nwritten\nkept\n`);
      expect(statSync(join(alice.home, `x-${sandbox}`)).uid).toBe(alice.uid);
      expect((await asAlice.run('id -un', undefined, { sandbox })).stdout).toBe(`${alice.name}\n`);
      expect((await asAlice.run('id', undefined, { sandbox, args: ['-un'], stdin: 'x' })).stdout).toBe(
        `${alice.name}\n`,
      );
      expect((await asAlice.run(`ls ${bob.home}`, id)).exit_code).not.toBe(0);
    }
  });

  it('run LLM tools as that user, without keys of the operator', async () => {
    const messages = [{ role: 'user' as const, content: 'hello' }];
    const ask = (shell_provider: string) =>
      asAlice.request('llm_call', { provider: 'shell', shell_provider, messages });
    const { content, error } = await ask('fake');
    expect(error).toBeUndefined();
    expect(content.split('\n')).toEqual([who(alice).trim(), alice.home, `drwx------ ${alice.name}`]);
    expect((await ask('keyed')).error).toMatchObject({ code: 'LLM_UNAVAILABLE' });
    expect(alice.run('ls -d /tmp/shell-adapter-llm-*').stdout).toBe('');
  });

  it('save and restore the workspace with the rights of that user', async () => {
    const file = join(alice.home, 'saved');
    const id = await asAlice.openSession();
    await asAlice.run('echo one >saved', id);
    writeFileSync(join(alice.home, 'of-root'), 'nothing for alice', { mode: 0o600 });
    const saved = await asAlice.request('checkpoint_workspace');
    expect(saved.error).toBeUndefined();
    expect(saved.skipped.map(({ path }) => path)).toContain('of-root');
    await asAlice.run('echo two >saved; chmod 600 saved', id);
    const { checkpoint_id } = saved;
    const diff = await asAlice.request('diff_workspace', { checkpoint_id });
    expect(diff.changes).toContainEqual(expect.objectContaining({ path: 'saved' }));
    expect((await asAlice.request('restore_workspace', { checkpoint_id })).restored).toEqual(['saved']);
    expect(readFileSync(file, 'utf8')).toBe('one\n');
    expect(statSync(file).uid).toBe(alice.uid);
    expect((await asAlice.request('list_checkpoints')).checkpoints).toHaveLength(2);
    for (const other of [asBob, local]) {
      expect((await other.request('list_checkpoints')).checkpoints).toEqual([]);
    }
  });

  it('are refused models that work in directories of the daemon', async () => {
    const { secret } = daemon.tokens.create({ name: 'second', role: 'agent', lifeMs: undefined, runAs: alice.name });
    const answer = await fetch(`${daemon.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'fake', messages: [{ role: 'user', content: 'x' }] }),
    });
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain(`this token runs as the user ${alice.name}`);
  });

  it('are shown with their user', async () => {
    const listed = await cli('token', 'list');
    expect(listed.stdout).toMatch(/^NAME +ROLE +USER +AGE/);
    expect(listed.stdout).toMatch(new RegExp(`^${alice.name} +agent +${alice.name} `, 'm'));
    const { tokens } = JSON.parse((await cli('token', 'list', '--json')).stdout) as { tokens: { run_as?: string }[] };
    expect(tokens.map(({ run_as: user }) => user)).toEqual(expect.arrayContaining([undefined, alice.name, bob.name]));
    const id = await asAlice.openSession();
    expect(await asAlice.request('get_session', { session_id: id })).toMatchObject({ run_as: alice.name });
    await asAlice.run(':', id);
    await eventually(() => {
      const records = readFileSync(daemon.auditFile, 'utf8').split('\n');
      const ended = records.find((line) => line.includes('command_ended') && line.includes(id));
      expect(ended).toContain(`"run_as":"${alice.name}"`);
    });
    expect((await asAlice.request('daemon_status')).caller).toMatchObject({ run_as: alice.name });
    const known = (await local.request('list_tokens')).tokens;
    expect(known.find(({ name }) => name === bob.name)).toMatchObject({ role: 'agent', run_as: bob.name });
    const examined = await cli('doctor', '--json');
    const { checks } = JSON.parse(examined.stdout) as { checks: { name: string; detail: string }[] };
    const detail = `programs can be started as ${alice.name}, ${bob.name}`;
    expect(checks).toContainEqual({ name: 'run_as', status: 'ok', detail });
  });

  it('can only be made for a user other than root, as agents', async () => {
    const create = (role: string, user: string) =>
      cli('token', 'create', '--role', role, '--name', 'x', '--run-as', user);
    expect(await create('agent', 'no-such-user')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('this machine has no user "no-such-user"') as string,
    });
    expect((await create('agent', String(alice.uid))).stderr).toContain('not its number');
    expect((await create('agent', 'root')).stderr).toContain('--run-as: root is root');
    expect((await create('admin', alice.name)).stderr).toContain('the role admin reaches sessions of other users');
  });

  it('end with their user', async () => {
    using carol = new TestUser('c');
    const client = await WireClient.connect(daemon.url, ['websocket'], { token: await tokenFor(carol) });
    expect((await client.run('id -un')).stdout).toBe(`${carol.name}\n`);
    carol[Symbol.dispose]();
    await eventually(async () => {
      expect((await client.run('id -un')).error).toMatchObject({
        code: 'USER_UNAVAILABLE',
        message: expect.stringContaining('this machine has no such user any more') as string,
      });
    });
    await client[Symbol.asyncDispose]();
  });
});

/** Starts a program in a new session keyring with a key of root; numbers of x64. Source: keyctl(2), add_key(2). */
const IN_KEYRING = `my ($type, $name, $key) = ("user", "sa-test", "secret"); syscall(250, 1, 0) > 0 or exit 1;
  syscall(248, $type, $name, $key, 6, -3) > 0 or exit 1; exec @ARGV`;
const canJoin = process.arch === 'x64' && spawnSync('perl', ['-e', IN_KEYRING, 'true']).status === 0;

describeRootIf(canMakeUsers && canJoin)('a daemon with a session keyring', () => {
  it('does not let processes of other users get at its keys', async () => {
    using alice = new TestUser('k');
    await using daemon = await TestDaemon.startCold({ launcher: ['perl', '-e', IN_KEYRING] });
    const { secret } = daemon.tokens.create({ name: 'a', role: 'agent', lifeMs: undefined, runAs: alice.name });
    await using client = await WireClient.connect(daemon.url, ['websocket'], { token: secret });
    const { stdout, error } = await client.run('cat /proc/keys; id -un');
    if (spawnSync('keyctl', ['--version']).error) {
      expect(error).toMatchObject({ code: 'USER_UNAVAILABLE' });
      expect(error?.message).toContain('the session keyring of the daemon: install keyctl');
    } else {
      expect(error).toBeUndefined();
      expect(stdout).toContain(alice.name);
      expect(stdout).not.toContain('sa-test');
    }
  });
});

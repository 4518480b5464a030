import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { connect } from '../../src/client/index.js';
import type { RequestInput } from '../../src/core/protocol/requests.js';
import { useDaemon } from '../support/daemon-and-client.js';
import { ASKING, TestDaemon } from '../support/daemon.js';
import { WireClient } from '../support/wire.js';

/** What `check_command` says, in short. */
async function check(client: WireClient, request: RequestInput<'check_command'>): Promise<string> {
  const { action, class: commandClass, error } = await client.request('check_command', request);
  return error ? error.code : `${action} ${commandClass}`;
}

describe('check_command', () => {
  let daemon: TestDaemon;
  let client: WireClient;
  useDaemon((started) => ({ daemon, client } = started));

  it('says what the gate would say, and runs nothing', async () => {
    const marker = join(daemon.workspace, 'marker');
    const command = `touch ${marker} && rm -rf ${marker}`;
    expect(await client.request('check_command', { command })).toEqual({
      action: 'checkpoint',
      class: 'destructive',
      reasons: [`rm deletes ${marker}`, `writes in the workspace: ${marker}`],
      commands: [
        {
          command: `touch ${marker}`,
          program: 'touch',
          action: 'allow',
          class: 'write',
          reasons: [`writes in the workspace: ${marker}`],
        },
        {
          command: `rm -rf ${marker}`,
          program: 'rm',
          action: 'checkpoint',
          class: 'destructive',
          reasons: [`rm deletes ${marker}`],
        },
      ],
      enforced: false,
    });
    expect(existsSync(marker)).toBe(false);
  });

  it('knows a program with arguments, and a directory', async () => {
    expect(await check(client, { command: 'echo', args: ['$(rm x)'] })).toBe('allow read');
    expect(await check(client, { command: 'rm', args: ['x'] })).toBe('checkpoint destructive');
    expect(await check(client, { command: 'touch x', cwd: '/etc' })).toBe('confirm persistence');
    expect(await check(client, { command: 'touch x', cwd: 'sub' })).toBe('allow write');
  });

  it('answers errors as others do', async () => {
    expect(await check(client, { command: 'ls', session_id: 'session_none' })).toBe('SESSION_NOT_FOUND');
    expect(await check(client, {} as RequestInput<'check_command'>)).toBe('INVALID_REQUEST');
  });

  it('protects the files of the adapter itself', async () => {
    const config = join(daemon.directory, 'config.yaml');
    expect(await check(client, { command: `echo x >> ${config}` })).toBe('confirm persistence');
    expect(await check(client, { command: `rm -r ${daemon.directory}/state` })).toBe('confirm persistence');
  });

  describe.each(['bash', 'zsh', 'sh'])('in a session of %s', (shell) => {
    it('knows its directory, aliases and PATH', async (context) => {
      const { session_id, error } = await client.request('open_session', { shell });
      if (error?.code === 'SHELL_NOT_FOUND') context.skip();
      const checked = (command: string) => check(client, { command, session_id });
      // A POSIX shell cannot list its functions: there, a name may be one.
      expect(await checked('ls x')).toMatch(shell === 'bash' ? /^allow read$/ : /^allow (?:read|execute)$/);
      expect(await checked('touch x')).toMatch(/^allow (?:write|execute)$/);
      await client.run('cd /etc', session_id);
      expect(await checked('touch x')).toBe('confirm persistence');
      await client.run('cd /tmp', session_id);
      await client.run("alias ls='rm -rf'", session_id);
      expect(await checked('ls x')).toBe('confirm destructive');
      await client.run('unalias ls', session_id);
      expect(await checked('ls x')).toMatch(/^allow /);
      await client.run('PATH=/tmp:$PATH', session_id);
      expect(await checked('ls x')).toBe('allow execute');
      await client.request('close_session', { session_id });
    });
  });

  it.each(['bash', 'zsh'])('knows the functions of a session of %s', async (shell) => {
    const { session_id, error } = await client.request('open_session', { shell });
    if (error?.code === 'SHELL_NOT_FOUND') return;
    await client.run('deploy() { rm -rf "$1"; }', session_id);
    expect(await check(client, { command: 'deploy x', session_id })).toBe('confirm destructive');
    await client.run('unset -f deploy', session_id);
    expect(await check(client, { command: 'deploy x', session_id })).toBe('allow execute');
    await client.request('close_session', { session_id });
  });

  it('knows the functions while the shell of a session is being replaced', async () => {
    const session_id = await client.openSession();
    await client.run('deploy() { rm -rf "$1"; }', session_id);
    await client.run('kill -9 $$', session_id);
    expect(await check(client, { command: 'ls x', session_id })).toBe('allow read');
    expect(await check(client, { command: 'deploy x', session_id })).toBe('confirm destructive');
    await client.request('close_session', { session_id });
  });

  it('knows the directory, functions and aliases of a session of fish, and asks about its syntax', async () => {
    const { session_id, error } = await client.request('open_session', { shell: 'fish' });
    if (error?.code === 'SHELL_NOT_FOUND') return;
    const checked = (command: string) => check(client, { command, session_id });
    expect(await checked('ls x')).toBe('allow read');
    expect(await checked('if true; ls; end')).toBe('confirm obfuscated');
    expect(await checked('if true; rm -rf /; end')).toBe('deny destructive');
    await client.run('function deploy; rm -rf $argv; end; alias ls="rm -rf"; cd /etc', session_id);
    expect(await checked('deploy x')).toBe('confirm obfuscated');
    expect(await checked('ls x')).toBe('confirm obfuscated');
    expect(await checked('touch x')).toBe('confirm persistence');
    await client.request('close_session', { session_id });
  });

  it('takes a busy session for one of which little is known', async () => {
    const session_id = await client.openSession();
    const running = client.run('cd /etc; read x', session_id);
    await client.event('awaiting_input', (event) => event.session_id === session_id);
    expect(await check(client, { command: 'touch x', session_id })).toBe('confirm obfuscated');
    expect(await check(client, { command: 'ls', session_id })).toBe('allow execute');
    await client.request('send_input', { session_id, data: '\n' });
    await running;
    expect(await check(client, { command: 'touch x', session_id })).toBe('confirm persistence');
  });

  it('leaves the session as it was', async () => {
    const session_id = await client.openSession();
    await client.run('x=1; (exit 7)', session_id);
    await check(client, { command: 'ls', session_id });
    expect((await client.run('echo $? $x', session_id)).stdout).toBe('7 1\n');
  });

  it('is there in the client, with and without a session', async () => {
    await using typed = await connect(daemon.url);
    expect(await typed.check('rm', { args: ['x'] })).toMatchObject({ action: 'checkpoint', class: 'destructive' });
    await using session = await typed.openSession({ cwd: '/etc' });
    expect(await session.check('touch x')).toMatchObject({ class: 'persistence' });
  });
});

describe('with confirmation.mode: off', () => {
  it('everything runs', async () => {
    await using daemon = await TestDaemon.startCold({
      settings: { confirmation: { mode: 'off', classes: { read: 'deny' } } },
    });
    await using client = await WireClient.connect(daemon.url);
    expect(await client.run('touch x; rm x; echo done')).toMatchObject({ stdout: 'done\n' });
  });
});

describe('with a policy and no confirmation.mode', () => {
  it('what it denies is denied, and the client confirms the rest', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { confirmation: { classes: { network: 'deny' } } } });
    await using client = await WireClient.connect(daemon.url);
    expect(await client.request('execute_command', { command: 'curl x' })).toMatchObject({
      error: { code: 'COMMAND_DENIED' },
    });
    expect(await client.run('rm ~/x')).toMatchObject({ status: 'confirmation_required', requires: 'self' });
  });
});

describe('with a gate', () => {
  let daemon: TestDaemon;
  let client: WireClient;
  const rules = [
    { action: 'allow', program: 'rm', path: ['/**/scrap/**'], match: ['rm scrap/x'] },
    { action: 'deny', program: 'yes', reason: 'it never ends' },
  ];
  useDaemon((started) => ({ daemon, client } = started), { settings: { confirmation: { ...ASKING, rules } } });

  const inWorkspace = (name: string) => join(daemon.workspace, name);

  it('ordinary work runs, with and without a session', async () => {
    const session_id = await client.openSession();
    for (const id of [undefined, session_id]) {
      const { stdout } = await client.run('mkdir -p a && echo hi > a/b && cat a/b | tr h H', id);
      expect(stdout).toBe('Hi\n');
    }
  });

  it('what is denied is answered with why, and has not begun', async () => {
    const { error } = await client.run(`echo x > ${inWorkspace('begun')}; rm -rf /`);
    expect(error).toMatchObject({
      code: 'COMMAND_DENIED',
      message: expect.stringContaining(': rm deletes a directory on which everything depends: /') as string,
      details: { action: 'deny', class: 'destructive', commands: ['rm -rf /'] },
    });
    expect(existsSync(inWorkspace('begun'))).toBe(false);
  });

  it('what has to be confirmed does not run', async () => {
    writeFileSync(inWorkspace('kept'), '');
    for (const session_id of [undefined, await client.openSession()]) {
      expect(await client.run('rm kept', session_id)).toMatchObject({
        status: 'confirmation_required',
        exit_code: null,
        class: 'destructive',
      });
    }
    expect(existsSync(inWorkspace('kept'))).toBe(true);
  });

  it('rules say otherwise', async () => {
    expect(await client.run('mkdir scrap; touch scrap/x; rm scrap/x; ls scrap')).toMatchObject({
      exit_code: 0,
      stdout: '',
    });
    expect((await client.run('yes')).error?.message).toContain('it never ends');
  });

  it('a program with arguments, variables and input pass it too', async () => {
    const answers = await Promise.all([
      client.run('rm', undefined, { args: ['kept'] }),
      client.run('ls', undefined, { env: { LD_PRELOAD: 'x' } }),
      client.run('bash', undefined, { stdin: 'rm kept' }),
      client.run('echo x', undefined, { background: true, command_id: 'fine' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([
      'confirmation_required',
      'confirmation_required',
      'confirmation_required',
      'running',
    ]);
  });

  it('variables of a session that would have to be confirmed are set by a command, which can be', async () => {
    const opened = await client.request('open_session', { env: { LANG: 'C', BASH_ENV: 'x' } });
    expect(opened.error).toMatchObject({ code: 'COMMAND_DENIED', details: { variables: ['BASH_ENV'] } });
    expect(opened.error?.message).toContain('open it without BASH_ENV, and set them by a command in it');
    const session_id = await client.openSession({ env: { LANG: 'C' } });
    const { confirmation_id = '', command_sha256 } = await client.run('export BASH_ENV=x', session_id);
    const decision = { confirmation_id, command_sha256, decision: 'approve', justification: 'a test' } as const;
    expect(await client.request('confirm_command', decision)).toMatchObject({ exit_code: 0 });
    expect((await client.run('echo "$BASH_ENV"', session_id)).stdout).toBe('x\n');
    const reset = await client.request('reset_session', { session_id, env: { BASH_ENV: 'x' } });
    expect(reset.error).toMatchObject({ code: 'COMMAND_DENIED', details: { variables: ['BASH_ENV'] } });
  });

  it('a name that was redefined is judged by what it stands for', async () => {
    const session_id = await client.openSession();
    expect((await client.run("alias say='echo said'", session_id)).exit_code).toBe(0);
    expect((await client.run('say hi', session_id)).stdout).toBe('said hi\n');
    expect((await client.run('alias ls=rm', session_id)).status).toBe('confirmation_required');
    expect((await client.run('ls -d .', session_id)).stdout).toBe('.\n');
  });

  it('a command that was allowed is judged again once its name stands for something else', async () => {
    const session_id = await client.openSession();
    const statusOf = async (command: string) => (await client.run(command, session_id)).status;
    const approve = async (command: string) => {
      const { confirmation_id = '', command_sha256 } = await client.run(command, session_id);
      await client.request('confirm_command', {
        confirmation_id,
        command_sha256,
        decision: 'approve',
        justification: 'a test',
      });
    };
    expect([await statusOf('deploy x'), await statusOf('deploy x')]).toEqual(['completed', 'completed']);
    await approve('deploy() { rm -rf "$1"; }');
    expect(await statusOf('deploy x')).toBe('confirmation_required');
    await client.run('unset -f deploy', session_id);
    expect([await statusOf('deploy x'), await statusOf('deploy x')]).toEqual(['completed', 'completed']);
    await approve("alias deploy='rm -rf'");
    expect(await statusOf('deploy x')).toBe('confirmation_required');
  });

  it('commands of one session keep their order, those that need a look at the session too', async () => {
    const session_id = await client.openSession();
    const runs = Array.from({ length: 20 }, (_, index) => {
      const define = index % 3 === 0 ? `alias a${index}='echo'; ` : '';
      return client.run(`${define}echo ${index} >> order`, session_id, { cwd: daemon.workspace });
    });
    const results = await Promise.all(runs);
    const ran = results.flatMap(({ status }, index) => (status === 'completed' ? [index] : []));
    expect(readFileSync(inWorkspace('order'), 'utf8').trim().split('\n').map(Number)).toEqual(ran);
  });

  it('the same request twice runs once, even while the gate looks', async () => {
    const session_id = await client.openSession();
    const twin = () => client.run('echo once >> twice', session_id, { command_id: 'twin', cwd: daemon.workspace });
    const [first, second] = await Promise.all([twin(), twin()]);
    expect([first.error, second.error]).toEqual([undefined, undefined]);
    expect(readFileSync(inWorkspace('twice'), 'utf8')).toBe('once\n');
  });

  describe('J11: input', () => {
    it.each(['bash --norc', 'sleep 0.2; sh', 'python3 -q'])(
      'into %j is asked about when it starts',
      async (command) => {
        const session_id = await client.openSession();
        expect(await client.run(command, session_id)).toMatchObject({
          status: 'confirmation_required',
          class: 'interactive',
        });
      },
    );

    it('into a program that a rule allows passes unjudged', async () => {
      const rules = [{ action: 'allow', program: 'bash' }];
      await using lenient = await TestDaemon.startCold({ settings: { confirmation: { ...ASKING, rules } } });
      await using user = await WireClient.connect(lenient.url);
      const session_id = await user.openSession();
      const running = user.run('bash --norc', session_id, { cwd: lenient.workspace });
      await user.event('awaiting_input');
      const data = 'touch gone; rm gone; exit 4\n';
      expect(await user.request('send_input', { session_id, data })).toEqual({ accepted_bytes: data.length });
      expect(await running).toMatchObject({ exit_code: 4 });
    });

    it('in pieces, into a shell that was started later, is judged as the line that it becomes', async () => {
      writeFileSync(inWorkspace('inner'), 'bash --norc\n');
      const session_id = await client.openSession();
      const running = client.run('sh ./inner', session_id, { cwd: daemon.workspace, tty: true });
      await client.event('awaiting_input', (event) => event.session_id === session_id);
      const type = (data: string, eof = false) => client.request('send_input', { session_id, data, eof });
      const [first, second] = await Promise.all([type('r'), type('m kept\n')]);
      expect([first.status, second.status]).toEqual([undefined, 'confirmation_required']);
      // The end of input hands the line over as well.
      expect((await type('m kept\x04')).status).toBe('confirmation_required');
      expect((await type('m kept')).status).toBeUndefined();
      expect((await type('', true)).status).toBe('confirmation_required');
      expect((await type('\x03')).error).toBeUndefined();
      expect((await type('rm -rf /\n')).error?.code).toBe('COMMAND_DENIED');
      expect((await type('exit\n')).error).toBeUndefined();
      await running;
      expect(existsSync(inWorkspace('kept'))).toBe(true);
    });

    it('for a question is an answer', async () => {
      const session_id = await client.openSession();
      const running = client.run('read -p "sure? " x; echo "got $x"', session_id);
      await client.event('awaiting_input', (event) => event.session_id === session_id);
      expect(await client.request('send_input', { session_id, data: 'rm -rf /\n' })).toMatchObject({
        accepted_bytes: 9,
      });
      expect((await running).stdout).toBe('got rm -rf /\n');
    });
  });
});

describe('the configuration of the gate', () => {
  it('keeps the daemon from starting when a rule fails its tests', async () => {
    const rules = [{ action: 'deny', program: 'npm', match: ['yarn publish'] }];
    await expect(TestDaemon.startCold({ settings: { confirmation: { rules } } })).rejects.toThrow(
      /config\.yaml:\d+:\d+: confirmation\.rules\[0\]\.match\[0\]: this test of the rule fails/,
    );
  });

  it('is read again at SIGHUP; with a rule that fails its tests, the old one stays', async () => {
    await using daemon = await TestDaemon.startCold();
    await using client = await WireClient.connect(daemon.url);
    const config = join(daemon.directory, 'config.yaml');
    const log = join(daemon.directory, 'log');
    const original = readFileSync(config, 'utf8').replace(/^confirmation:.*\n(?: .*\n)*/m, '');
    const reload = async (section: string, until: RegExp) => {
      writeFileSync(config, original);
      appendFileSync(config, section);
      const before = readFileSync(log, 'utf8').length;
      daemon.signal('SIGHUP');
      while (!until.test(readFileSync(log, 'utf8').slice(before))) await once(AbortSignal.timeout(10), 'abort');
    };
    const session_id = await client.openSession();
    await client.run("alias ls='echo aliased'", session_id);
    await reload('confirmation: { mode: self, classes: { network: deny } }\n', /read again/);
    expect((await client.run('curl http://127.0.0.1:1')).error?.code).toBe('COMMAND_DENIED');
    expect(await client.run('ls', session_id)).toMatchObject({ stdout: 'aliased\n' });
    await reload(
      'confirmation: { rules: [{ action: deny, program: a, match: [b] }] }\n',
      /has errors; the old one stays/,
    );
    expect((await client.run('curl http://127.0.0.1:1')).error?.code).toBe('COMMAND_DENIED');
    await reload('confirmation: { mode: off }\n', /was read again/);
    expect((await client.run('curl http://127.0.0.1:1')).error).toBeUndefined();
  });
});

describe.each(['bash', 'zsh', 'sh'] as const)('a text that %s cannot parse', (shell) => {
  let daemon: TestDaemon;
  let client: WireClient;
  useDaemon((started) => ({ daemon, client } = started), {
    settings: { adapter: { shell }, confirmation: ASKING },
  });
  const TEXTS = [
    'echo "abc',
    'if true',
    'echo )',
    'touch marker; rm -rf marker; fi',
    'touch marker\nrm -rf marker\nfi',
  ];

  it.each(TEXTS)("ends with the shell's own message, and nothing of it runs: %j", async (command) => {
    const { session_id } = await client.request('open_session', {});
    for (const place of [{}, { session_id }]) {
      const result = await client.request('execute_command', { command, ...place });
      expect(result).toMatchObject({ status: 'completed', stdout: '', exit_code: shell === 'zsh' ? 1 : 2 });
      expect(result.stderr).toMatch(/syntax|parse error|unexpected|unmatched|unterminated/i);
      expect(result.warnings).toEqual([
        { code: 'SYNTAX_ERROR', message: expect.stringContaining('cannot parse') as string },
      ]);
    }
    expect(existsSync(join(daemon.workspace, 'marker'))).toBe(false);
    expect(await check(client, { command, session_id })).toBe('allow read');
    // The session goes on.
    expect(await client.run('echo on', session_id)).toMatchObject({ stdout: 'on\n', exit_code: 0 });
  });

  it('is still confirmed when only the policy cannot parse it, and denied when it is a catastrophe', async () => {
    const { session_id } = await client.request('open_session', {});
    const { status } = await client.request('execute_command', { command: 'rm -rf build', session_id });
    expect(status).toBe('confirmation_required');
    const { error } = await client.request('execute_command', { command: 'rm -rf /; if', session_id });
    expect(error?.code).toBe('COMMAND_DENIED');
  });
});

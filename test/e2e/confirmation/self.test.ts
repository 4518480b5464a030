import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { ConfirmationRequiredError, connect } from '../../../src/client/index.js';
import { useDaemon } from '../../support/daemon-and-client.js';
import { ASKING, TestDaemon } from '../../support/daemon.js';
import { WireClient, type WireAnswer } from '../../support/wire.js';

let daemon: TestDaemon;
let client: WireClient;
// Saving the workspace before each command that is approved would take most of the time.
useDaemon((started) => ({ daemon, client } = started), {
  settings: { confirmation: { ...ASKING, checkpoint: false } },
});

const inWorkspace = (name: string) => join(daemon.workspace, name);
const fileIn = (name: string): string => {
  writeFileSync(inWorkspace(name), name);
  return name;
};

type Stopped = Pick<WireAnswer<'execute_command'>, 'confirmation_id' | 'command_sha256'>;

const approve = (stopped: Stopped, changes: object = {}, by = client) =>
  by.request('confirm_command', {
    confirmation_id: stopped.confirmation_id!,
    decision: 'approve',
    command_sha256: stopped.command_sha256!,
    justification: 'it is not needed any more',
    ...changes,
  });

/** Runs a command, and approves it where that is needed. */
async function runApproved(command: string, session_id?: string): Promise<void> {
  const stopped = await client.run(command, session_id);
  expect(stopped.status === 'completed' || (await approve(stopped)).status === 'completed').toBe(true);
}

describe('a command that has to be confirmed', () => {
  it('is answered with what is to be confirmed, and runs when it is', async () => {
    const name = fileIn('one');
    const stopped = await client.run(`rm ${name}`);
    expect(stopped).toMatchObject({
      status: 'confirmation_required',
      stdout: '',
      exit_code: null,
      class: 'destructive',
      reasons: [`rm deletes ${inWorkspace(name)}`],
      commands: [{ command: `rm ${name}`, program: 'rm', action: 'confirm' }],
      command_sha256: createHash('sha256').update(`rm ${name}`).digest('hex'),
      requires: 'self',
    });
    expect(Date.parse(stopped.expires_at!) - Date.now()).toBeGreaterThan(30_000);
    expect(existsSync(inWorkspace(name))).toBe(true);
    const done = await approve(stopped);
    expect(done).toMatchObject({ status: 'completed', exit_code: 0, command_id: stopped.command_id });
    expect(existsSync(inWorkspace(name))).toBe(false);
  });

  it('is saved from: the checkpoint in the result brings back what it destroyed', async () => {
    await using saving = await TestDaemon.startCold({ settings: { confirmation: ASKING } });
    await using user = await WireClient.connect(saving.url);
    const file = join(saving.workspace, 'precious');
    writeFileSync(file, 'content');
    const { checkpoint_id } = await approve(await user.run('rm precious'), {}, user);
    expect(existsSync(file)).toBe(false);
    expect((await user.request('list_commands', { limit: 1 })).commands).toMatchObject([{ checkpoint_id }]);
    await user.request('restore_workspace', { checkpoint_id: checkpoint_id!, paths: ['precious'] });
    expect(readFileSync(file, 'utf8')).toBe('content');
    expect((await user.request('list_checkpoints')).checkpoints).toMatchObject([
      { checkpoint_id, kind: 'before_command', label: 'before rm precious' },
      // Before the restore.
      {},
    ]);
  });

  it('F25: runs once, however often and from wherever it is approved at the same time', async () => {
    await using second = await WireClient.connect(daemon.url);
    for (let round = 0; round < 5; round += 1) {
      const stopped = await client.run(`echo ran >> log${round}; rm -f none`);
      const answers = await Promise.all([client, second, client, second].map((by) => approve(stopped, {}, by)));
      const codes = answers.map(({ error, status }) => error?.code ?? status).sort();
      expect(codes).toEqual([...Array.from({ length: 3 }, () => 'CONFIRMATION_NOT_FOUND'), 'completed'].sort());
      expect(readFileSync(inWorkspace(`log${round}`), 'utf8')).toBe('ran\n');
    }
  });

  it('F25: a replay, another hash and another token are refused', async () => {
    const stopped = await client.run(`rm ${fileIn('two')}`);
    await using stranger = await WireClient.connect(daemon.url, ['websocket'], {
      token: daemon.createToken('operator', 'stranger'),
    });
    expect((await approve(stopped, {}, stranger)).error?.code).toBe('CONFIRMATION_NOT_FOUND');
    expect((await approve(stopped, { command_sha256: 'f'.repeat(64) })).error?.code).toBe('CONFIRMATION_MISMATCH');
    expect((await approve(stopped, { justification: '' })).error?.code).toBe('INVALID_REQUEST');
    expect((await approve(stopped)).status).toBe('completed');
    expect((await approve(stopped)).error?.code).toBe('CONFIRMATION_NOT_FOUND');
  });

  it('a rejection is answered as denied, and nothing runs', async () => {
    const stopped = await client.run(`rm ${fileIn('three')}`);
    expect(await approve(stopped, { decision: 'reject' })).toMatchObject({ status: 'denied', exit_code: null });
    expect((await approve(stopped)).error?.code).toBe('CONFIRMATION_NOT_FOUND');
    expect(existsSync(inWorkspace('three'))).toBe(true);
  });

  it('with arguments, variables and input runs with exactly these', async () => {
    const stopped = await client.run('bash', undefined, {
      args: ['-c', 'read line; echo "$line $GREETING"; rm -f none'],
      env: { GREETING: 'hi' },
      stdin: 'said\n',
    });
    const text = ['bash', '-c', 'read line; echo "$line $GREETING"; rm -f none'].join('\0');
    expect(stopped.command_sha256).toBe(createHash('sha256').update(text).digest('hex'));
    expect(await approve(stopped)).toMatchObject({ stdout: 'said hi\n', exit_code: 0 });
  });

  it('is listed until it is decided', async () => {
    const stopped = await client.run('rm listed', undefined, { command_id: 'listed' });
    const listed = async () => (await client.request('list_confirmations')).confirmations;
    expect(await listed()).toContainEqual(
      expect.objectContaining({
        confirmation_id: stopped.confirmation_id,
        command: 'rm listed',
        command_id: 'listed',
        working_directory: daemon.workspace,
        requested_by: 'local',
        may_decide: true,
        kind: 'command',
      }),
    );
    const [before] = await listed();
    expect(Date.parse(before!.expires_at)).toBeGreaterThan(Date.parse(before!.server_time));
    const { checkpoint_id: saved } = await client.request('checkpoint_workspace', {});
    expect((await listed())[0]?.diff_base).toBe(saved);
    await approve(stopped, { decision: 'reject' });
    expect((await listed()).filter(({ command_id }) => command_id === 'listed')).toEqual([]);
  });

  it('that is sent again under the same id waits for the same confirmation', async () => {
    const request = { command_id: 'again' };
    const [first, second] = await Promise.all([
      client.run('rm -f x', undefined, request),
      client.run('rm -f x', undefined, request),
    ]);
    expect(second.confirmation_id).toBe(first.confirmation_id);
    expect((await client.run('rm -f y', undefined, request)).error?.code).toBe('INVALID_REQUEST');
    expect(await client.request('wait_command', { command_id: 'again', timeout_ms: 0 })).toMatchObject({
      status: 'confirmation_required',
      confirmation_id: first.confirmation_id,
    });
    expect((await approve(first)).command_id).toBe('again');
    const { commands } = await client.request('list_commands', { limit: 1 });
    expect(commands[0]).toMatchObject({
      command_id: 'again',
      class: 'destructive',
      confirmation_id: first.confirmation_id,
    });
    expect((await client.run('rm -f x', undefined, request)).status).toBe('completed');
  });

  it('whose workspace cannot be saved runs with a warning', async () => {
    await using full = await TestDaemon.startCold({
      settings: { confirmation: ASKING, checkpoints: { max_files: 1 } },
    });
    await using user = await WireClient.connect(full.url);
    await user.run('touch a b c');
    const done = await approve(await user.run('rm a'), {}, user);
    expect(done).toMatchObject({ exit_code: 0, warnings: [{ code: 'NO_CHECKPOINT' }] });
    expect(done.checkpoint_id).toBeUndefined();
  });
});

describe('in a session', () => {
  it('it runs in the session, when that is where it was', async () => {
    const session_id = await client.openSession();
    const stopped = await client.run('x=kept; rm -f none', session_id);
    expect((await approve(stopped)).session_id).toBe(session_id);
    expect((await client.run('echo $x', session_id)).stdout).toBe('kept\n');
  });

  it('another directory is a mismatch, until the session is back', async () => {
    mkdirSync(inWorkspace('sub'), { recursive: true });
    const session_id = await client.openSession();
    const stopped = await client.run('rm -rf sub', session_id);
    await client.run('cd sub', session_id);
    expect((await approve(stopped)).error?.code).toBe('CONFIRMATION_MISMATCH');
    await client.run('cd ..', session_id);
    expect((await approve(stopped)).status).toBe('completed');
  });

  it('a link that leads elsewhere by now is a mismatch', async () => {
    mkdirSync(inWorkspace('build'), { recursive: true });
    mkdirSync(inWorkspace('victim'), { recursive: true });
    writeFileSync(inWorkspace('victim/f'), '');
    const session_id = await client.openSession();
    const stopped = await client.run('rm -rf build/f', session_id);
    await client.run('mv build build2; ln -s victim build');
    const { error } = await approve(stopped);
    expect(error).toMatchObject({
      code: 'CONFIRMATION_MISMATCH',
      message: expect.stringContaining('victim') as string,
    });
    expect(existsSync(inWorkspace('victim/f'))).toBe(true);
  });

  it('a script that has changed is a mismatch', async () => {
    writeFileSync(inWorkspace('tool.sh'), 'echo one\n');
    const session_id = await client.openSession();
    const stopped = await client.run('sh ./tool.sh; rm -f none', session_id);
    writeFileSync(inWorkspace('tool.sh'), 'echo two\n');
    expect((await approve(stopped)).error?.code).toBe('CONFIRMATION_MISMATCH');
    writeFileSync(inWorkspace('tool.sh'), 'echo one\n');
    expect(await approve(stopped)).toMatchObject({ status: 'completed', stdout: 'one\n' });
  });

  const CHANGED_VALUES: readonly (readonly [
    what: string,
    before: string,
    question: string,
    after: string,
    says: string,
  ])[] = [
    ['a variable', 'D=none', 'rm -rf $D/f', 'D=victim', "$D was 'none' and is 'victim' now"],
    ['one that is not set any more', 'F=a', 'rm -rf ./$F', 'unset F', "$F was 'a' and is not set now"],
    ['an array', 'A=(a b)', 'rm -f ${A[@]}', 'A+=(c)', "$A was 'a b' and is 'a b c' now"],
    ['one in a function', 'G=a; tidy() { rm -f $G; }', 'tidy', 'G=b', "$G was 'a' and is 'b' now"],
    ['a positional one', 'set -- a', 'rm -f $1', 'set -- b', 'may have changed variables'],
  ];

  it.each(CHANGED_VALUES)('%s that has changed is a mismatch', async (_what, before, question, after, says) => {
    const session_id = await client.openSession();
    await runApproved(before, session_id);
    const stopped = await client.run(question, session_id);
    await runApproved(after, session_id);
    expect((await approve(stopped)).error).toMatchObject({
      code: 'CONFIRMATION_MISMATCH',
      message: expect.stringContaining(says) as string,
    });
    const again = await client.run(question, session_id);
    expect((await approve(again)).status).toBe('completed');
    await client.request('close_session', { session_id });
  });

  it('other commands that leave the variables alone change nothing', async () => {
    const session_id = await client.openSession();
    await client.run('D=none', session_id);
    const stopped = await client.run('rm -rf $D/f', session_id);
    await client.run('other=1', session_id);
    expect((await approve(stopped)).status).toBe('completed');
  });

  it('a trap that a background job sets off has changed the variable', async () => {
    const session_id = await client.openSession();
    await runApproved("D=none; trap 'D=victim' USR1", session_id);
    const stopped = await client.run('rm -rf $D/f', session_id);
    const pid = (await client.run('echo $$', session_id)).stdout.trim();
    process.kill(Number(pid), 'SIGUSR1');
    expect((await approve(stopped)).error?.message).toContain("$D was 'none' and is 'victim' now");
  });

  it('a link that a variable names and that leads elsewhere by now is a mismatch', async () => {
    mkdirSync(inWorkspace('first'), { recursive: true });
    mkdirSync(inWorkspace('second'), { recursive: true });
    writeFileSync(inWorkspace('second/f'), '');
    const session_id = await client.openSession();
    await client.run('ln -sfn first current; L=current', session_id);
    const stopped = await client.run('rm -rf $L/f', session_id);
    await client.run('ln -sfn second current');
    expect((await approve(stopped)).error).toMatchObject({
      code: 'CONFIRMATION_MISMATCH',
      message: expect.stringContaining('second') as string,
    });
    expect(existsSync(inWorkspace('second/f'))).toBe(true);
  });

  it('another shell is a mismatch', async () => {
    const session_id = await client.openSession();
    const stopped = await client.run('rm -f none', session_id);
    await client.request('reset_session', { session_id });
    expect((await approve(stopped)).error?.code).toBe('CONFIRMATION_MISMATCH');
  });

  it('a name that means something else by now is a mismatch', async () => {
    const session_id = await client.openSession();
    await runApproved('tidy() { rm -f none; }', session_id);
    const stopped = await client.run('tidy', session_id);
    expect(stopped.status).toBe('confirmation_required');
    await runApproved(`tidy() { rm -f ${fileIn('other')}; }`, session_id);
    expect((await approve(stopped)).error?.code).toBe('CONFIRMATION_MISMATCH');
    expect(existsSync(inWorkspace('other'))).toBe(true);
    expect((await approve(stopped)).error?.code).toBe('CONFIRMATION_NOT_FOUND');
  });

  it('what has become a catastrophe is denied', async () => {
    writeFileSync(inWorkspace('defs'), 'tidy() { rm -rf /; }\n');
    const session_id = await client.openSession();
    await runApproved('tidy() { rm -rf build; }', session_id);
    const stopped = await client.run('tidy', session_id);
    await runApproved('. ./defs', session_id);
    expect((await approve(stopped)).error?.code).toBe('COMMAND_DENIED');
  });

  it('a busy session has to be waited for; the confirmation stays open', async () => {
    const session_id = await client.openSession();
    const stopped = await client.run('rm -f none', session_id);
    const running = client.run('read x', session_id);
    await client.event('awaiting_input', (event) => event.session_id === session_id);
    expect((await approve(stopped)).error?.code).toBe('SESSION_BUSY');
    await client.request('send_input', { session_id, data: '\n' });
    await running;
    expect((await approve(stopped)).status).toBe('completed');
  });

  it('its end ends what waits', async () => {
    const session_id = await client.openSession();
    const stopped = await client.run('rm -f none', session_id);
    await client.request('close_session', { session_id });
    const resolved = await client.event('confirmation_resolved', (event) => event.session_id === session_id);
    expect(resolved).toMatchObject({ outcome: 'withdrawn', justification: 'its session has ended' });
    expect((await approve(stopped)).error?.code).toBe('CONFIRMATION_NOT_FOUND');
  });
});

describe('typed text', () => {
  /** Starts a shell that the policy does not see at the start of the command. */
  async function startHiddenShell(): Promise<{ session_id: string; running: Promise<WireAnswer<'execute_command'>> }> {
    writeFileSync(inWorkspace('inner'), 'exec bash --norc\n');
    const session_id = await client.openSession();
    const running = client.run('sh ./inner', session_id, { cwd: daemon.workspace, tty: true });
    await client.event('awaiting_input', (event) => event.session_id === session_id);
    return { session_id, running };
  }

  it('for a shell that was not asked about is judged by the line, and typed when it is confirmed', async () => {
    const { session_id, running } = await startHiddenShell();
    const type = (data: string) => client.request('send_input', { session_id, data });
    expect(await type('r')).toEqual({ accepted_bytes: 1 });
    const stopped = await type('m -f none; exit 5\n');
    expect(stopped).toMatchObject({ accepted_bytes: 0, status: 'confirmation_required', class: 'destructive' });
    await type('x');
    expect((await approve(stopped)).error?.code).toBe('CONFIRMATION_MISMATCH');
    await type('\x03');
    const next = await type('rm -f none; exit 5\n');
    expect(await approve(next)).toMatchObject({ status: 'running', accepted_bytes: 'rm -f none; exit 5\n'.length });
    expect(await running).toMatchObject({ exit_code: 5 });
  });

  it('is in no list, answer, log or audit record', async () => {
    const { session_id, running } = await startHiddenShell();
    const stopped = await client.request('send_input', { session_id, data: 'rm -f my-secret-word\n' });
    const { confirmations } = await client.request('list_confirmations');
    const listed = confirmations.find(({ confirmation_id }) => confirmation_id === stopped.confirmation_id);
    expect(listed).toMatchObject({
      kind: 'input',
      command: '20 characters typed into bash',
      commands: [{ command: 'rm', program: 'rm' }],
      command_sha256: createHash('sha256').update('20 characters typed into bash').digest('hex'),
    });
    await approve(stopped, { decision: 'reject' });
    await client.request('send_input', { session_id, data: 'rm -rf / # my-secret-word\n' });
    await client.request('send_input', { session_id, data: 'exit\n' });
    await running;
    const written = [JSON.stringify([stopped, listed]), daemon.output];
    for (const file of [join(daemon.directory, 'log'), daemon.auditFile]) written.push(readFileSync(file, 'utf8'));
    expect(written.join('\n')).not.toContain('my-secret-word');
  });

  it('for a program that cannot be judged is asked about once', async () => {
    writeFileSync(inWorkspace('inner-python'), 'exec python3 -q\n');
    const session_id = await client.openSession();
    const running = client.run('sh ./inner-python', session_id, { cwd: daemon.workspace });
    await client.event('awaiting_input', (event) => event.session_id === session_id);
    const type = (data: string) => client.request('send_input', { session_id, data });
    const stopped = await type('import os\n');
    expect(stopped).toMatchObject({
      status: 'confirmation_required',
      class: 'interactive',
      reasons: ['python3 takes typed input that the policy cannot judge'],
    });
    expect(await approve(stopped)).toMatchObject({ accepted_bytes: 10 });
    expect(await type('os._exit(7)\n')).toEqual({ accepted_bytes: 12 });
    expect(await running).toMatchObject({ exit_code: 7 });
  });

  it('passes unjudged into a program that was confirmed at its start', async () => {
    const session_id = await client.openSession();
    const stopped = await client.run('python3 -q', session_id, { background: true });
    expect(stopped).toMatchObject({ status: 'confirmation_required', class: 'interactive' });
    const { command_id } = await approve(stopped);
    for (const data of ['import os\n', 'x = 6 * 7\n', 'os._exit(x)\n']) {
      expect(await client.request('send_input', { command_id, data })).toEqual({ accepted_bytes: data.length });
    }
    expect(await client.request('wait_command', { command_id })).toMatchObject({ exit_code: 42 });
  });
});

describe('the typed client', () => {
  it('tells that a command has to be confirmed, and confirms it', async () => {
    await using typed = await connect(daemon.url);
    await using session = await typed.openSession();
    const seen: string[] = [];
    typed.on('confirmation_required', ({ command }) => seen.push(command));
    const command = session.execute('echo gone; rm -f none', { stream: true });
    const read = async () => {
      for await (const { data } of command) expect(data).toBe('none');
    };
    await expect(read()).rejects.toThrow(ConfirmationRequiredError);
    const stopped = await command.then(
      () => expect.fail('it has run'),
      (error: unknown) => error as ConfirmationRequiredError,
    );
    expect(stopped).toMatchObject({
      code: 'CONFIRMATION_REQUIRED',
      name: 'ConfirmationRequiredError',
      confirmation: { requires: 'self', class: 'destructive' },
      result: { status: 'confirmation_required' },
    });
    expect(seen).toEqual(['echo gone; rm -f none']);
    await expect(command.wait({ forMs: 0 })).rejects.toThrow(ConfirmationRequiredError);
    expect(await typed.listConfirmations()).toContainEqual(expect.objectContaining({ command_id: command.id }));
    const { confirmation_id: id, command_sha256: commandSha256 } = stopped.confirmation;
    const done = await typed.confirm(id, {
      decision: 'approve',
      commandSha256,
      justification: 'a test',
    });
    expect(done.stdout).toBe('gone\n');
  });
});

it('ordinary work runs without a question', async () => {
  const session_id = await client.openSession({ cwd: daemon.workspace });
  writeFileSync(inWorkspace('script.py'), 'print("py")\n');
  writeFileSync(inWorkspace('Makefile'), 'all:\n\t@echo made\n');
  writeFileSync(inWorkspace('package.json'), '{"scripts":{"test":"echo tested"}}');
  for (const command of [
    'ls',
    'git status || true',
    'npm test',
    'make || true',
    'python3 script.py || true',
    'ls | sort | head -3',
    'echo x > out.txt && cat < out.txt',
    'mkdir -p d/e && cp out.txt d/e/ && grep -r x d 2>/dev/null',
    'for i in 1 2; do echo $i; done',
  ]) {
    expect(await client.run(command, session_id), command).toMatchObject({ status: 'completed' });
  }
});

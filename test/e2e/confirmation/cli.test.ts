import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';
import { callCli } from '../cli/in-process.js';
import { CliProcess, CliTerminal, urlVariable } from '../cli/support.js';

let daemon: TestDaemon;
let agent: WireClient;
let operatorToken: string;
beforeAll(async () => {
  daemon = await TestDaemon.start({
    settings: {
      confirmation: { mode: 'operator', checkpoint: false, classes: { privilege: 'self', destructive: 'operator' } },
    },
  });
  agent = await WireClient.connect(daemon.url, ['websocket'], { token: daemon.createToken('agent', 'agent-7') });
  operatorToken = daemon.createToken('operator', 'olga');
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

const env = () => urlVariable(daemon);
const asOperator = () => ({ ...env(), SHELL_ADAPTER_TOKEN: operatorToken });
const asked = (command: string) => agent.event('confirmation_required', (event) => event.command === command);

describe('confirm', () => {
  it('lists what waits, and decides by id', async () => {
    expect((await callCli(['confirm'], { env: asOperator() })).stdout).toBe('Nothing waits for a confirmation.\n');
    const running = agent.run('echo out; echo err >&2; rm -f none; exit 6');
    const { confirmation_id: id } = await asked('echo out; echo err >&2; rm -f none; exit 6');
    const { stdout } = await callCli(['confirm'], { env: asOperator() });
    expect(stdout).toMatch(/^CONFIRMATION +BY WHOM +CLASS +LEFT +ASKED BY +DIRECTORY +COMMAND\n/);
    expect(stdout).toMatch(new RegExp(`^${id}  operator  destructive  \\d+s +agent-7 .* echo out; echo err`, 'm'));
    const decided = await callCli(['confirm', id, '--approve'], { env: asOperator() });
    expect({ code: decided.code, stdout: decided.stdout, stderr: decided.stderr }).toEqual({
      code: 6,
      stdout: 'out\n',
      stderr: 'err\n',
    });
    expect((await running).exit_code).toBe(6);
    const again = await callCli(['confirm', id, '--approve'], { env: asOperator() });
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing waits for') as string });
  });

  it('rejects, with JSON for programs', async () => {
    const running = agent.run('rm -f rejected');
    const { confirmation_id: id } = await asked('rm -f rejected');
    const listed = await callCli(['confirm', '--json'], { env: asOperator() });
    expect((JSON.parse(listed.stdout) as { confirmations: object[] }).confirmations).toMatchObject([
      { confirmation_id: id },
    ]);
    const { code, stdout } = await callCli(['confirm', id, '--reject', '-j', 'not today'], { env: asOperator() });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `rejected ${id}\n` });
    expect((await running).error?.message).toContain('olga has refused it: not today');
  });

  it.each([
    ['a decision without an id', ['--approve']],
    ['an id without a decision', ['confirmation_x']],
    ['both decisions', ['confirmation_x', '--approve', '--reject']],
    ['an id to watch', ['confirmation_x', '--watch']],
  ])('refuses %s', async (_what, args) => {
    const { code, stderr } = await callCli(['confirm', ...args], { env: env() });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('give an id with either') as string });
  });
});

describe('exec', () => {
  it('says what has to be confirmed, and how; the output comes whole then', async () => {
    const stopped = await callCli(['exec', 'seq 20000; sudo -n true 2>/dev/null; true'], { env: env() });
    expect({ code: stopped.code, stdout: stopped.stdout }).toEqual({ code: 126, stdout: '' });
    const [, id = ''] = /confirm (confirmation_\S+) --approve --justification/.exec(stopped.stderr) ?? [];
    const run = await callCli(['confirm', id, '--approve', '-j', 'a test'], { env: env() });
    expect(run.code).toBe(0);
    expect(run.stdout).toBe(Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join(''));
  });

  it('gives 126 when it is denied, and waits for an operator', async () => {
    expect((await callCli(['exec', 'rm -rf /'], { env: env() })).code).toBe(126);
    await using operator = await WireClient.connect(daemon.url, ['websocket'], { token: operatorToken });
    await using waiting = new CliProcess(['exec', 'echo waited; rm -f none'], { env: env() });
    const question = await operator.event('confirmation_required', ({ command }) => command.startsWith('echo waited'));
    await operator.request('confirm_command', { confirmation_id: question.confirmation_id, decision: 'approve' });
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'waited\n' });
  });
});

describe('confirm --watch', () => {
  it('at a terminal shows what comes, asks, and is ended by Ctrl-C', async () => {
    writeFileSync(join(daemon.workspace, 'kept'), '');
    await using terminal = new CliTerminal(['confirm', '--watch'], { env: asOperator() });
    const first = agent.run('rm -f none; echo first');
    await terminal.until(
      /Confirm this command \(destructive\), requested by agent-7; \d+s left\S*\r\n {2}- rm deletes .*\/none\r\n {2}in .*workspace/,
    );
    await terminal.until(/\| rm -f none; echo first\r\n/);
    await terminal.until(/approve\? \[y\/N\]/);
    terminal.type('y looks fine\r');
    expect((await first).stdout).toBe('first\n');
    await terminal.until(/approved by olga/);
    const second = agent.run('rm kept');
    await terminal.until(/\| rm kept\r\n[^]*approve\?/);
    terminal.type('\r');
    expect((await second).error?.message).toContain('olga has refused it: decided at a terminal');
    expect(existsSync(join(daemon.workspace, 'kept'))).toBe(true);
    await terminal.until(/rejected by olga/);
    terminal.type('\x03');
    expect(await terminal.ended).toBe(0);
  });

  it('shows a command as it is: it cannot draw over the question', async () => {
    await using terminal = new CliTerminal(['confirm', '--watch'], { env: asOperator() });
    const command = 'rm -f a\x1b[2J\x1b[Hls \u202Efdp.exe\u202C\x9b1A\r ls\u200b';
    const running = agent.run(command);
    const { confirmation_id: id } = await asked(command);
    await terminal.until(/approve\?/);
    const shown = terminal.output;
    expect(shown).toContain('| rm -f a\\e[2J\\e[Hls \ufffdfdp.exe\ufffd\ufffd1A\\r ls\ufffd');
    for (const hidden of ['\x1b[2J', '\x1b[H', '\u202e', '\x9b']) expect(shown).not.toContain(hidden);
    await agent.request('signal_command', { command_id: (await asked(command)).command_id, signal: 'SIGINT' });
    await terminal.until(new RegExp(`withdrawn by agent-7: ${id}`));
    expect((await running).error?.code).toBe('COMMAND_DENIED');
    terminal.type('\x03');
    expect(await terminal.ended).toBe(0);
  });

  it('an answer is never for a question that was not on the screen when it was begun', async () => {
    await using other = await WireClient.connect(daemon.url, ['websocket'], { token: operatorToken });
    await using terminal = new CliTerminal(['confirm', '--watch'], { env: asOperator(), cols: 40, rows: 8 });
    const [first, second] = [agent.run('rm -f first'), agent.run('rm -f second')];
    const { confirmation_id: id } = await asked('rm -f first');
    await terminal.until(/rm -f first\r\n[^]*approve\?/);
    // Begun for the first one, which somebody else decides over; then two lines at once.
    terminal.type('y');
    await other.request('confirm_command', { confirmation_id: id, decision: 'reject' });
    expect((await first).error?.code).toBe('COMMAND_DENIED');
    await terminal.until(/rm -f second\r\n[^]*Press Enter first/);
    const third = agent.run('rm -f third');
    await asked('rm -f third');
    terminal.type('\r');
    await terminal.until(/Press Enter first[^]*approve\?/);
    terminal.type('y\ry\r');
    expect(await second).toMatchObject({ status: 'completed' });
    await terminal.until(/rm -f third\r\n[^]*approve\?/);
    terminal.type('n\r');
    expect((await third).error?.code).toBe('COMMAND_DENIED');
    // Nobody is there any more to answer.
    terminal.type('\x04');
    expect(await terminal.ended).toBe(0);
  });

  it('outlives the daemon: says that it is away, and shows what waits when it is back', async () => {
    const settings = { confirmation: { mode: 'operator', checkpoint: false } };
    await using first = await TestDaemon.startCold({ settings });
    const tokens = [first.createToken('operator', 'olga'), first.createToken('agent', 'agent-7')];
    const [token = '', agentToken] = tokens;
    const url = { ...urlVariable(first), SHELL_ADAPTER_TOKEN: token };
    await using terminal = new CliTerminal(['confirm', '--watch'], { env: url });
    {
      await using client = await WireClient.connect(first.url, ['websocket'], { token: agentToken });
      void client.run('rm -f before').catch(() => undefined);
      await terminal.until(/rm -f before\r\n[^]*approve\?/);
      first.signal('SIGKILL');
      await first.exited;
    }
    await terminal.until(/the connection to the daemon was lost; trying again for 30 s/);
    const port = Number(new URL(first.url).port);
    await using second = await TestDaemon.startCold({ settings: { ...settings, socketio: { port } } }, first.directory);
    await using client = await WireClient.connect(second.url, ['websocket'], { token: agentToken });
    const running = client.run('rm -f after');
    await terminal.until(/no longer there: confirmation_[^]*rm -f after\r\n[^]*Press Enter first/);
    terminal.type('\r');
    await terminal.until(/Press Enter first[^]*approve\?/);
    terminal.type('y\r');
    expect(await running).toMatchObject({ status: 'completed' });
  });

  it('gives programs a line for each event', async () => {
    await using watching = new CliProcess(['confirm', '--watch', '--json'], { env: asOperator() });
    const running = agent.run('rm -f watched', undefined, { command_id: 'watched' });
    const [line] = await watching.until('stdout', /^\{"event":"confirmation_required".*"command":"rm -f watched".*$/m);
    const { confirmation_id: id } = JSON.parse(line) as { confirmation_id: string };
    await agent.request('signal_command', { command_id: 'watched', signal: 'SIGTERM' });
    await watching.until(
      'stdout',
      new RegExp(`"event":"confirmation_resolved","confirmation_id":"${id}".*"withdrawn"`),
    );
    await running;
    watching.child.kill('SIGINT');
    expect((await watching.ended).code).toBe(0);
  });
});

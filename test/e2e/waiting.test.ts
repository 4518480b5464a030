import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../support/daemon.js';
import { eventually } from '../support/measure.js';
import { WireClient } from '../support/wire.js';
import { callCli } from './cli/in-process.js';
import { urlVariable } from './cli/support.js';

let daemon: TestDaemon;
let client: WireClient;

/** Listens on a port that the kernel chooses, says which, and stays. */
const SERVER = `node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => console.log('port ' + s.address().port))"`;

/** Starts a server in a session; gives its port. */
async function serveIn(session_id: string): Promise<{ readonly command_id: string; readonly port: number }> {
  const { command_id } = await client.run(SERVER, session_id, { background: true });
  const { match } = await client.request('wait_for', { command_id, pattern: '^port \\d+$', regex: true });
  return { command_id, port: Number(/\d+/.exec(match?.text ?? '')?.[0]) };
}

beforeAll(async () => {
  daemon = await TestDaemon.start({ settings: { confirmation: { mode: 'self' } } });
  client = await WireClient.connect(daemon.url);
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

describe('wait_for', () => {
  it('a port that a session opens, and list_ports says whose it is', async () => {
    const session_id = await client.openSession();
    const other = await client.openSession();
    const { command_id, port } = await serveIn(session_id);
    const met = { met: true, condition: 'port' };
    expect(await client.request('wait_for', { port })).toMatchObject(met);
    expect(await client.request('wait_for', { port, session_id })).toMatchObject(met);
    expect(await client.request('wait_for', { port, session_id: other, timeout_ms: 100 })).toMatchObject({
      met: false,
      condition: null,
    });
    const { ports } = await client.request('list_ports', {});
    expect(ports).toEqual([
      {
        port,
        address: '127.0.0.1',
        session_id,
        pid: expect.any(Number) as number,
        command: expect.stringContaining('node') as string,
        on_machine: true,
      },
    ]);
    expect(await client.request('list_ports', { session_id: other })).toEqual({ ports: [] });
    await client.request('signal_command', { command_id, signal: 'SIGTERM' });
    expect(await client.request('wait_for', { command_id })).toMatchObject({
      met: true,
      condition: 'end',
      exit_code: 143,
    });
    expect(await client.request('list_ports', { session_id })).toEqual({ ports: [] });
  });

  it('a port that opens while it waits', async () => {
    const server = createServer();
    const reserved = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => reserved.once('listening', resolve));
    const { port } = reserved.address() as AddressInfo;
    await new Promise((resolve) => reserved.close(resolve));
    const waiting = client.request('wait_for', { port, timeout_ms: 10_000 });
    expect(await client.request('wait_for', { port, timeout_ms: 0 })).toMatchObject({ met: false });
    server.listen(port, '127.0.0.1');
    expect(await waiting).toMatchObject({ met: true, condition: 'port' });
    await new Promise((resolve) => server.close(resolve));
  });

  it('a line of an output, from an offset, also one without its end', async () => {
    const session_id = await client.openSession();
    const command = 'echo first; read -r go; printf "then ready> "; read -r end';
    const { command_id } = await client.run(command, session_id, { background: true });
    const waiting = client.request('wait_for', { command_id, pattern: 'ready>' });
    expect(await client.request('wait_for', { command_id, pattern: 'first' })).toMatchObject({
      match: { offset: 0, line: 1, text: 'first' },
    });
    expect(
      await client.request('wait_for', { command_id, pattern: 'first', from_offset: 6, timeout_ms: 100 }),
    ).toMatchObject({ met: false });
    await eventually(async () =>
      expect(await client.request('send_input', { session_id, data: 'go\n' })).toHaveProperty('accepted_bytes'),
    );
    expect(await waiting).toMatchObject({
      met: true,
      condition: 'pattern',
      match: { offset: 6, line: 2, text: 'then ready> ' },
    });
    await client.request('send_input', { session_id, data: '\n' });
    // It ends without what is waited for.
    expect(await client.request('wait_for', { command_id, pattern: 'never' })).toMatchObject({
      met: false,
      condition: 'end',
      exit_code: 0,
    });
  });

  it('a file, or whatever comes first', async () => {
    const { command_id } = await client.run('sleep 60', undefined, { background: true });
    const waiting = client.request('wait_for', { path: 'made', command_id, port: 1 });
    writeFileSync(join(daemon.workspace, 'made'), '');
    expect(await waiting).toMatchObject({ met: true, condition: 'path' });
    await client.request('signal_command', { command_id, signal: 'SIGKILL' });
    expect(await client.request('wait_for', { path: 'never', command_id })).toMatchObject({
      condition: 'end',
      exit_code: 137,
    });
  });

  it('a file in a directory that comes later, at once', async () => {
    const waiting = client.request('wait_for', { path: 'later/deep/made', timeout_ms: 10_000 });
    expect(await client.request('wait_for', { path: 'later/deep/made', timeout_ms: 0 })).toMatchObject({ met: false });
    mkdirSync(join(daemon.workspace, 'later/deep'), { recursive: true });
    writeFileSync(join(daemon.workspace, 'later/deep/made'), '');
    expect(await waiting).toMatchObject({ met: true, condition: 'path' });
  });

  it('a text on the screen, wrapped or by a regular expression, and gives the screen', async () => {
    const session_id = await client.openSession({ cols: 20, rows: 5 });
    const command = String.raw`printf '\033[31mfirst\033[0m'; read -r x; printf '\033[2J\033[Hthis line is wider than the screen'; read -r x`;
    const { command_id } = await client.run(command, session_id, { tty: true, background: true });
    expect(await client.request('wait_for', { command_id, screen_text: '^f.rst', regex: true })).toMatchObject({
      met: true,
      condition: 'screen_text',
      screen: { text: 'first', rows: 5, cols: 20, cursor: { row: 1, col: 6 }, alternate: false },
    });
    const waiting = client.request('wait_for', { session_id, screen_text: 'wider than', timeout_ms: 10_000 });
    expect(await client.request('wait_for', { session_id, screen_text: 'wider', timeout_ms: 60 })).toMatchObject({
      met: false,
      condition: null,
      screen: { text: 'first' },
    });
    await client.request('send_input', { session_id, keys: ['Enter'] });
    expect(await waiting).toMatchObject({
      condition: 'screen_text',
      screen: { text: 'this line is wider t\nhan the screen' },
    });
    // The command ends without it. Its last screen is still there.
    const never = client.request('wait_for', { session_id, screen_text: 'never' });
    await client.request('send_input', { session_id, keys: ['Enter'] });
    expect(await never).toMatchObject({
      met: false,
      condition: 'end',
      exit_code: 0,
    });
    expect(await client.request('wait_for', { command_id, screen_text: 'wider' })).toMatchObject({ met: true });
  });

  it('a screen that is still, which one that only changes its colours is not', async () => {
    const session_id = await client.openSession({ cols: 20, rows: 5 });
    const blink = String.raw`until [ -e enough ]; do printf '\033[H\033[31mx'; read -rt 0.03 x; printf '\033[H\033[32mx'; read -rt 0.02 x; done`;
    const blinking = await client.run(`${blink}; echo done; cat`, session_id, { tty: true, background: true });
    expect(blinking).toMatchObject({ status: 'running' });
    await client.request('wait_for', { session_id, screen_text: 'x' });
    expect(await client.request('wait_for', { session_id, screen_stable_ms: 600, timeout_ms: 700 })).toMatchObject({
      met: false,
      condition: null,
      screen: { text: 'x' },
    });
    writeFileSync(join(daemon.workspace, 'enough'), '');
    const still = await client.request('wait_for', { session_id, screen_stable_ms: 150 });
    expect(still).toMatchObject({ met: true, condition: 'screen_stable' });
    expect(still.screen?.text).toContain('done');
    expect(still.waited_ms).toBeGreaterThanOrEqual(149);
    // Which comes first.
    expect(await client.request('wait_for', { session_id, screen_text: 'never', screen_stable_ms: 50 })).toMatchObject({
      condition: 'screen_stable',
    });
    await client.request('close_session', { session_id });
  });

  it('refuses what cannot be waited for', async () => {
    const failing = (code: string) => ({ error: { code } });
    expect(await client.request('wait_for', {})).toMatchObject(failing('INVALID_REQUEST'));
    expect(await client.request('wait_for', { pattern: 'x', port: 1 })).toMatchObject(failing('INVALID_REQUEST'));
    expect(await client.request('wait_for', { command_id: 'none' })).toMatchObject(failing('COMMAND_NOT_FOUND'));
    expect(await client.request('wait_for', { port: 1, session_id: 'none' })).toMatchObject(
      failing('SESSION_NOT_FOUND'),
    );
    expect(await client.request('wait_for', { screen_text: 'x' })).toMatchObject({
      error: { code: 'INVALID_REQUEST', message: expect.stringContaining('give session_id or command_id') as string },
    });
    const { command_id } = await client.run('true');
    expect(await client.request('wait_for', { command_id, screen_stable_ms: 100 })).toMatchObject(
      failing('NO_RUNNING_COMMAND'),
    );
    expect(await client.request('wait_for', { session_id: 'none', screen_text: 'x' })).toMatchObject(
      failing('SESSION_NOT_FOUND'),
    );
    const session_id = await client.openSession();
    await client.run('true', session_id, { tty: true });
    expect(await client.request('wait_for', { session_id, screen_text: '(', regex: true })).toMatchObject({
      error: { code: 'INVALID_REQUEST', message: expect.stringContaining('`screen_text`') as string },
    });
    expect(await client.request('wait_for', { command_id, pattern: '(', regex: true })).toMatchObject(
      failing('INVALID_REQUEST'),
    );
    writeFileSync(join(daemon.workspace, '.env'), 'KEY=1\n');
    expect(await client.request('wait_for', { path: '.env' })).toMatchObject(failing('COMMAND_DENIED'));
  });

  it('is done by the command line, whose exit code says what came', async () => {
    const cli = (...args: readonly string[]) => callCli(args, { env: urlVariable(daemon) });
    const session_id = await client.openSession();
    const { port, command_id } = await serveIn(session_id);
    expect(await cli('wait', '--port', String(port), '--session', session_id)).toMatchObject({ code: 0, stdout: '' });
    const [head = '', row = ''] = (await cli('ports', session_id)).stdout.split('\n');
    expect(head).toMatch(/^PORT +ADDRESS +REACHABLE +SESSION +PID +COMMAND$/);
    expect(row).toMatch(new RegExp(`^${port} +127.0.0.1 +yes +${session_id} +\\d+ +node`));
    const printed = await cli('wait', '--command', command_id, '--pattern', 'p.rt', '--regex', '--json');
    expect(JSON.parse(printed.stdout)).toMatchObject({ met: true, match: { text: `port ${port}` } });
    expect(await cli('wait', '--command', command_id, '--timeout', '0.1')).toMatchObject({ code: 124 });
    const screen = await client.openSession();
    await client.run('echo shown; read -r x', screen, { tty: true, background: true });
    expect(await cli('wait', '-s', screen, '--screen-still', '0.05')).toMatchObject({ code: 0, stdout: 'shown\n' });
    expect(await cli('wait', '-s', screen, '--screen-text', 'sh.wn', '--regex')).toMatchObject({ stdout: 'shown\n' });
    const late = await cli('wait', '-s', screen, '--screen-text', 'never', '--timeout', '0.1');
    expect(late).toMatchObject({ code: 124, stdout: 'shown\n' });
    writeFileSync(join(daemon.workspace, 'for the command line'), '');
    expect(await cli('wait', '--path', 'for the command line')).toMatchObject({ code: 0, stdout: '' });
    expect(await cli('wait', '--path', 'never', '--timeout', '0.1')).toMatchObject({ code: 124 });
    await client.request('signal_command', { command_id, signal: 'SIGTERM' });
    expect(await cli('wait', '--command', command_id, '--pattern', 'never')).toMatchObject({ code: 1 });
    const gone = await cli('wait', '--command', 'none');
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('none') as string });
    for (const [words, hint] of [
      [[], '--port'],
      [['--screen-text', 'x'], '--session'],
    ] as const) {
      const wrong = await cli('wait', ...words);
      expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining(hint) as string });
    }
  });

  it('lists no ports of sessions that the client may not see', async () => {
    const session_id = await client.openSession();
    await serveIn(session_id);
    await using agent = await WireClient.connect(daemon.url, ['websocket'], {
      token: daemon.createToken('agent', 'a'),
    });
    expect(await agent.request('list_ports', {})).toEqual({ ports: [] });
    expect(await agent.request('list_ports', { session_id })).toMatchObject({ error: { code: 'SESSION_NOT_FOUND' } });
  });
});

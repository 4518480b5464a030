import { setTimeout as pause } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { useDaemon } from '../../support/daemon-and-client.js';
import type { TestDaemon } from '../../support/daemon.js';
import type { WireClient } from '../../support/wire.js';
import { callCli } from './in-process.js';
import { CliProcess, type CliOptions, CliTerminal, urlVariable } from './support.js';

let daemon: TestDaemon;
let wire: WireClient;
useDaemon((started) => ({ daemon, client: wire } = started));

const cli = (args: readonly string[], options: CliOptions = {}) =>
  callCli(args, { ...options, env: urlVariable(daemon) });
const attach = (...args: readonly string[]) => new CliProcess(['attach', ...args], { env: urlVariable(daemon) });

/** Waits until so many clients follow a session: the wire client that opened it is one of them. */
const untilFollowed = async (id: string, clients: number) => {
  for (let rounds = 0; rounds < 500; rounds++) {
    if ((await wire.request('get_session', { session_id: id })).attached_clients === clients) return;
    await pause(20);
  }
  throw new Error(`not ${clients} clients follow session ${id}`);
};

describe('sessions', () => {
  it('says so when there is none', async () => {
    expect(await cli(['sessions'])).toMatchObject({ code: 0, stdout: 'No session is open.\n' });
    expect(JSON.parse((await cli(['sessions', '--json'])).stdout)).toEqual({ sessions: [] });
  });

  it('lists them in aligned columns, and control characters do no harm', async () => {
    const first = await wire.openSession({ label: 'plain', cwd: '/usr' });
    const second = await wire.openSession({ label: 'evil\u001b[2J\nlabel' });
    const running = wire.run('echo up; sleep 60', second, { stream: true });
    await wire.event('command_output');
    const { stdout } = await cli(['sessions']);
    const [head = '', ...rows] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^SESSION +SHELL +STATE +AGE +IDLE +ENDS IN +LABEL +DIRECTORY +RUNNING$/);
    expect(rows).toHaveLength(2);
    const column = head.indexOf('DIRECTORY');
    expect(rows.find((row) => row.startsWith(first))?.slice(column)).toMatch(/^\/usr +-$/);
    expect(rows.find((row) => row.startsWith(second))).toMatch(/busy .*evil\\e\[2J\\nlabel .*echo up; sleep 60$/);
    await wire.request('close_session', { session_id: first });
    await wire.request('close_session', { session_id: second });
    await running;
  });
});

describe('open and close', () => {
  it('opens a session as asked and prints its id; closes it', async () => {
    const { stdout } = await cli(['open', '--cwd', '/usr', '--env', 'A=1', '--label', 'mine', '--shell', 'bash']);
    const id = stdout.trim();
    expect(await wire.request('get_session', { session_id: id })).toMatchObject({
      label: 'mine',
      working_directory: '/usr',
    });
    expect((await wire.run('echo $A', id)).stdout).toBe('1\n');
    expect(await cli(['close', id])).toMatchObject({ code: 0, stdout: `closed ${id}\n` });
    expect((await wire.request('get_session', { session_id: id })).error?.code).toBe('SESSION_NOT_FOUND');
  });

  it('closes those it can, and says which it could not', async () => {
    const id = await wire.openSession();
    const { code, stdout, stderr } = await cli(['close', 'session_nope', id, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ closed: [id] });
    expect(stderr).toContain('there is no session session_nope');
  });

  it('says which shell is not there', async () => {
    const { code, stderr } = await cli(['open', '--shell', 'tcsh']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^shell-adapter: .*tcsh/);
    expect(stderr).toMatch(/ doctor` lists the shells that are installed/);
  });
});

describe('attach', () => {
  it('shows what a command prints as it comes, on the stream it came on, until the session ends', async () => {
    const id = await wire.openSession();
    await using viewer = attach(id);
    await untilFollowed(id, 2);
    const running = wire.run('echo out; echo err >&2; read x; echo "$x"', id, { stream: true });
    await viewer.until('stdout', /^out\n$/);
    await viewer.until('stderr', /^err\n$/);
    await wire.request('send_input', { session_id: id, data: 'typed\n' });
    await running;
    await viewer.until('stdout', /^out\ntyped\n$/);
    await wire.request('close_session', { session_id: id });
    expect(await viewer.ended).toMatchObject({ code: 0, stdout: 'out\ntyped\n' });
  });

  it('shows the output of a command that was not streamed, once', async () => {
    const id = await wire.openSession();
    await using viewer = attach(id);
    await untilFollowed(id, 2);
    await wire.run('echo quiet', id);
    await viewer.until('stdout', /^quiet\n/);
    await wire.request('close_session', { session_id: id });
    expect((await viewer.ended).stdout).toBe('quiet\n');
  });

  it('shows what came before with --from-seq', async () => {
    const id = await wire.openSession();
    await wire.run('echo one', id, { stream: true });
    await wire.run('echo two', id, { stream: true });
    await using viewer = attach(id, '--from-seq', '0');
    await viewer.until('stdout', /^one\ntwo\n$/);
    viewer.child.kill('SIGINT');
    expect((await viewer.ended).code).toBe(0);
    expect((await wire.run('echo still here', id)).stdout).toBe('still here\n');
    await wire.request('close_session', { session_id: id });
  });

  it('prints each event as a line of JSON with --json', async () => {
    const id = await wire.openSession();
    await using viewer = attach(id, '--json');
    await untilFollowed(id, 2);
    await wire.run(String.raw`printf 'text\n'; printf '\xff'`, id, { stream: true });
    await wire.request('close_session', { session_id: id });
    const { code, stdout } = await viewer.ended;
    expect(code).toBe(0);
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events.map(({ event }) => event)).toContain('command_finished');
    expect(events.at(-1)).toMatchObject({ event: 'session_closed', session_id: id, reason: 'client' });
    const data = events.filter(({ event }) => event === 'command_output').map((event) => event['data']);
    const bytes = data.map((piece) => {
      return typeof piece === 'string'
        ? Buffer.from(piece)
        : Buffer.from((piece as { base64: string }).base64, 'base64');
    });
    expect(Buffer.concat(bytes)).toEqual(Buffer.from('text\n\u00ff', 'latin1'));
  });

  it('sends the lines that are typed with --input, and nothing without it', async () => {
    const id = await wire.openSession();
    const running = wire.run('read x; echo "got $x"', id, { stream: true });
    await wire.event('awaiting_input');
    const env = urlVariable(daemon);
    await using reader = new CliTerminal(['attach', id], { env });
    await reader.until(/waits for input|^$/);
    reader.type('ignored\r');
    await using writer = new CliTerminal(['attach', id, '--input'], { env });
    await untilFollowed(id, 3);
    writer.type('a line\r');
    await reader.until(/got a line/);
    expect((await running).stdout).toBe('got a line\n');
    // At a terminal Ctrl-C is a key for the command; Ctrl-] leaves.
    writer.type('\u0003');
    await writer.until(/not sent: nothing runs in session/);
    writer.type('\u001d');
    expect(await writer.ended).toBe(0);
    await wire.request('close_session', { session_id: id });
    expect(await reader.ended).toBe(0);
  });

  it('says that there is no such session', async () => {
    const { code, stderr } = await cli(['attach', 'session_nope']);
    expect(code).toBe(1);
    expect(stderr).toContain('there is no session session_nope');
  });
});

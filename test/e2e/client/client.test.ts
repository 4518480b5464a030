import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type AdapterClient, ClientError, connect, type EventPayload } from '../../../src/client/index.js';
import { TestDaemon } from '../../support/daemon.js';

let daemon: TestDaemon;
let client: AdapterClient;

beforeAll(async () => {
  daemon = await TestDaemon.start();
  client = await connect(daemon.url);
});

afterAll(async () => {
  await client.close();
  await daemon[Symbol.asyncDispose]();
});

describe('requests', () => {
  test('are typed by the protocol and answered', async () => {
    const metadata = await client.metadata();
    expect(metadata).toMatchObject({ workspace_directory: daemon.workspace, protocol_version: 1 });
    expect(await client.request('list_sessions', {})).toEqual({ sessions: [] });
  });

  test('that the daemon turns down reject with its code, message and details', async () => {
    const error = await client.openSession({ cwd: '/no/such/place' }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ClientError);
    expect(error).toMatchObject({ code: 'BAD_DIRECTORY', details: { directory: '/no/such/place' } });
  });

  test('that wait have no time limit but their own', async () => {
    await using hasty = await connect(daemon.url, { requestTimeoutMs: 50 });
    expect(await hasty.request('wait_for', { path: 'never', timeout_ms: 150 })).toMatchObject({ met: false });
  });

  test('reject when they are aborted, before or after they were sent', async () => {
    await expect(client.request('list_sessions', {}, { signal: AbortSignal.abort('no') })).rejects.toBe('no');
    const abort = new AbortController();
    const command = client.execute('sleep 60', { background: true });
    const { command_id } = await command;
    const wait = client.request('wait_command', { command_id }, { signal: abort.signal });
    abort.abort('enough');
    await expect(wait).rejects.toBe('enough');
    expect(await command.cancel()).toMatchObject({ status: 'interrupted' });
  });

  test('reject when the answer takes longer than it may', async () => {
    const command = client.execute('sleep 60', { background: true });
    await command;
    const error = command.wait({ timeoutMs: 20 });
    await expect(error).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT', details: { request: 'wait_command' } });
    await command.cancel();
  });

  test('that are too large for the daemon reject, and the connection stays', async () => {
    const { limits } = await client.metadata();
    const command = client.execute('cat', { stdin: 'x'.repeat(limits.max_message_bytes) });
    await expect(command).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    const stdin = 'x'.repeat(limits.max_message_bytes - 1000);
    expect(await client.execute('wc -c', { stdin })).toMatchObject({ stdout: `${stdin.length}\n` });
    expect(client.isConnected).toBe(true);
  });
});

describe('a command without a session', () => {
  test('gives its result', async () => {
    const command = client.execute('echo out; echo err >&2; exit 3');
    expect(await command).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exit_code: 3, command_id: command.id });
    expect(await command.result).toBe(await command);
  });

  test('takes every option', async () => {
    const result = await client.execute('sh', {
      args: ['-c', 'echo "$A $0"; pwd; cat', 'zero'],
      cwd: '/tmp',
      env: { A: 'a' },
      stdin: 'in',
      timeoutMs: 5000,
      noOutputTimeoutMs: 5000,
      output: { encoding: 'base64' },
    });
    expect(Buffer.from(result.stdout, 'base64').toString()).toBe('a zero\n/tmp\nin');
  });

  test('runs once under an id, however often it is asked for', async () => {
    const file = join(daemon.directory, 'once');
    const run = () => client.execute(`echo x >> ${file}; cat ${file}`, { commandId: 'only-once' });
    const results = await Promise.all([run(), run(), run()]);
    expect(results.map(({ stdout }) => stdout)).toEqual(['x\n', 'x\n', 'x\n']);
  });

  test('in the background is answered at once, and waited for', async () => {
    const command = client.execute('sleep 60', { background: true });
    expect(await command).toMatchObject({ status: 'running', exit_code: null });
    expect(await command.wait({ forMs: 1 })).toMatchObject({ status: 'running' });
    await command.cancel();
    const ended = client.execute('exit 4', { background: true });
    await ended;
    expect(await ended.wait()).toMatchObject({ status: 'completed', exit_code: 4 });
  });
});

describe('a session', () => {
  test('keeps its state, and tells its directory', async () => {
    await using session = await client.openSession({ env: { A: '1' }, label: 'mine' });
    expect(session).toMatchObject({ shell: 'bash', workingDirectory: daemon.workspace });
    await session.execute('B=2; cd /tmp');
    expect(session.workingDirectory).toBe('/tmp');
    expect(await session.execute('echo $A$B; pwd')).toMatchObject({ stdout: '12\n/tmp\n', session_id: session.id });
    expect(await session.info()).toMatchObject({ session_id: session.id, label: 'mine', state: 'idle' });
    expect((await client.listSessions()).map(({ session_id }) => session_id)).toContain(session.id);
    expect(await session.resize(100, 30)).toEqual({ cols: 100, rows: 30 });
    expect(await session.execute('stty size < /dev/tty')).toMatchObject({ stdout: '30 100\n' });
    expect(await session.reset()).toMatchObject({ session_id: session.id });
    expect(session.workingDirectory).toBe(daemon.workspace);
    expect(await session.execute('echo "$A$B"')).toMatchObject({ stdout: '1\n' });
  });

  test('takes input and signals for what runs in it', async () => {
    await using session = await client.openSession();
    const awaiting = new Promise((resolve) => session.on('awaiting_input', resolve));
    const reading = session.execute('read -r a; cat; echo "got $a"');
    await awaiting;
    expect(await session.sendInput('one\n')).toEqual({ accepted_bytes: 4 });
    await reading.sendInput('two\n', { eof: true });
    expect(await reading).toMatchObject({ stdout: 'two\ngot one\n' });
    await expect(session.sendInput('x')).rejects.toMatchObject({ code: 'NO_RUNNING_COMMAND' });

    const sleeping = session.execute('echo up; sleep 60', { stream: true });
    const chunks = sleeping[Symbol.asyncIterator]();
    await chunks.next();
    await session.signal('SIGTERM');
    expect(await sleeping).toMatchObject({ exit_code: 143, status: 'killed' });
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });

  test('is closed when it is disposed of, and closing it twice is harmless', async () => {
    const session = await client.openSession();
    const closed = new Promise<EventPayload<'session_closed'>>((resolve) => session.on('session_closed', resolve));
    await session[Symbol.asyncDispose]();
    expect(await closed).toMatchObject({ session_id: session.id, reason: 'client' });
    expect(session.end).toMatchObject({ reason: 'client' });
    await session.close();
    await expect(session.execute('true')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  test('that another client closes is known to have ended', async () => {
    await using other = await connect(daemon.url);
    const session = await client.openSession();
    const closed = new Promise((resolve) => session.on('session_closed', resolve));
    await (await other.attachSession(session.id)).close();
    await closed;
    expect(session.end).toEqual({ reason: 'client', detail: 'a client closed it' });
  });

  test('that was detached stays open when it is disposed of', async () => {
    const session = await client.openSession();
    await session.detach();
    await session[Symbol.asyncDispose]();
    const again = await client.attachSession(session.id);
    expect(again).toMatchObject({ id: session.id, shell: 'bash', workingDirectory: daemon.workspace });
    expect(await again.execute('echo there')).toMatchObject({ stdout: 'there\n' });
    await again.close();
  });

  test('that is not there cannot be attached', async () => {
    await expect(client.attachSession('session_none')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });
});

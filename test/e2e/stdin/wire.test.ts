import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import type { RequestInput } from '../../../src/core/protocol/requests.js';
import { type DaemonAndClient, useDaemon } from '../../support/daemon-and-client.js';
import { descriptorCount } from '../../support/processes.js';
import { canSandbox } from '../../support/sandbox.js';
import { WireClient } from '../../support/wire.js';

const CHUNK_BYTES = 256 * 1024;
/** What the daemon takes at most of a command that does not read, and one pipe of the kernel. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024 + CHUNK_BYTES + 64 * 1024;

let on: DaemonAndClient;
useDaemon(
  (started) => {
    on = started;
  },
  { settings: { confirmation: { mode: 'off' }, adapter: { reconnect_grace: 0.5 } } },
);

let count = 0;
const nextId = () => `streamed-${++count}`;
const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

/** Starts a command with a streamed input; gives its id and its answer to come. */
function start(command: string, options: Partial<RequestInput<'execute_command'>> = {}, client = on.client) {
  const id = nextId();
  const result = client.request('execute_command', { command, command_id: id, stdin_stream: true, ...options });
  return { id, result };
}

const feed = (id: string, data: string | Uint8Array, more: Partial<RequestInput<'send_input'>> = {}) =>
  on.client.request('send_input', { command_id: id, data, ...more });

async function feedAll(id: string, data: Uint8Array): Promise<void> {
  for (let at = 0; at < data.length; at += CHUNK_BYTES)
    await feed(id, data.subarray(at, at + CHUNK_BYTES), { offset: at });
  await feed(id, '', { eof: true });
}

const PLACES = [
  ...['bash', 'zsh', 'sh'].map((shell) => ({ name: `a session of ${shell}`, shell, sandbox: 'none' as const })),
  { name: 'no session', shell: undefined, sandbox: 'none' as const },
  ...(canSandbox
    ? [
        { name: 'a sandboxed session', shell: 'bash', sandbox: 'workspace' as const },
        { name: 'a sandbox without a session', shell: undefined, sandbox: 'workspace' as const },
      ]
    : []),
];

describe.each(PLACES)('a streamed standard input in $name', ({ shell, sandbox }) => {
  const placeFor = async () =>
    shell === undefined ? { sandbox } : { session_id: await on.client.openSession({ shell, sandbox }) };

  it('arrives byte for byte, and ends', async () => {
    const place = await placeFor();
    for (const data of [Buffer.alloc(0), randomBytes(1), randomBytes(3 * 1024 * 1024 + 17)]) {
      const { id, result } = start('sha256sum', place);
      await feedAll(id, data);
      expect(await result).toMatchObject({ exit_code: 0, stdout: `${sha256(data)}  -\n` });
    }
  });

  it('reaches the command while it stays open', async () => {
    const { id, result } = start('read -r a; echo "got $a"; read -r b; echo "got $b"', {
      ...(await placeFor()),
      stream: true,
    });
    await feed(id, 'one\n');
    await on.client.event(
      'command_output',
      ({ command_id, data }) => command_id === id && String(data).includes('one'),
    );
    await feed(id, Buffer.from('two\n'));
    expect(await result).toMatchObject({ exit_code: 0, stdout: 'got one\ngot two\n' });
  });

  it('is given to a program with arguments too, with its directory and variables', async () => {
    const { id, result } = start('sh', {
      ...(await placeFor()),
      args: ['-c', 'cat; pwd; echo "$X"'],
      cwd: '/',
      env: { X: 'y' },
    });
    await feed(id, 'in\n', { eof: true });
    expect(await result).toMatchObject({ exit_code: 0, stdout: 'in\n/\ny\n' });
  });

  it('is told to be closed when the reader has gone', async () => {
    const { id, result } = start('head -c 3; exec 0<&-; sleep 300', await placeFor());
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let answer = await feed(id, chunk);
    while (answer.stdin_closed !== true) answer = await feed(id, chunk);
    expect(answer).toMatchObject({ stdin_closed: true });
    expect(await feed(id, chunk)).toMatchObject({ accepted_bytes: 0, stdin_closed: true });
    await on.client.request('signal_command', { command_id: id, signal: 'SIGKILL' });
    expect(await result).toMatchObject({ exit_code: 137, stdout: '\0\0\0' });
    expect(await feed(id, chunk)).toMatchObject({ error: { code: 'NO_RUNNING_COMMAND' } });
  });

  it('answers what is under way when the command ends', async () => {
    const { id, result } = start('head -c 1 | wc -c; sleep 0.1', await placeFor());
    const sent = Array.from({ length: 8 }, () => feed(id, Buffer.alloc(CHUNK_BYTES)));
    expect(await result).toMatchObject({ exit_code: 0, stdout: '1\n' });
    for (const answer of await Promise.all(sent)) {
      expect(
        answer.stdin_closed === true || answer.error?.code === 'NO_RUNNING_COMMAND' || answer.accepted_bytes > 0,
      ).toBe(true);
    }
  });

  it('ends with its command, and leaves text for the next one as it was', async () => {
    const place = await placeFor();
    const first = start('true', place);
    await first.result;
    const text = await on.client.request('execute_command', { command: 'cat', stdin: 'text', ...place });
    expect(text).toMatchObject({ exit_code: 0, stdout: 'text' });
  });
});

describe('a streamed standard input', () => {
  it('is bounded: a command that does not read makes the client wait, and one that does not wait is told', async () => {
    const { id, result } = start('sleep 300');
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const answers: Promise<unknown>[] = [];
    let refusal: unknown;
    let taken = 0;
    while (refusal === undefined) {
      const answer = feed(id, chunk);
      answers.push(answer);
      // The answer to a later request shows that this one was handled.
      await on.client.request('list_confirmations', {});
      const settled = await Promise.race([answer, Promise.resolve(undefined)]);
      if (settled?.error) refusal = settled.error;
      else taken += chunk.length;
    }
    expect(refusal).toMatchObject({ code: 'INPUT_FULL' });
    expect(taken).toBeLessThanOrEqual(MAX_KEPT_BYTES);
    await on.client.request('signal_command', { command_id: id, signal: 'SIGKILL' });
    await result;
    await Promise.all(answers);
  });

  it('takes a repeated chunk once, and refuses one that leaves a gap or comes after the end', async () => {
    const { id, result } = start('cat');
    expect(await feed(id, 'abc', { offset: 0 })).toMatchObject({ accepted_bytes: 3, stdin_bytes: 3 });
    expect(await feed(id, 'abc', { offset: 0 })).toMatchObject({ accepted_bytes: 3, stdin_bytes: 3 });
    expect(await feed(id, 'bcd', { offset: 1 })).toMatchObject({ accepted_bytes: 3, stdin_bytes: 4 });
    expect(await feed(id, 'x', { offset: 9 })).toMatchObject({
      error: { code: 'INVALID_REQUEST', details: { stdin_bytes: 4 } },
    });
    const sleeper = start('read -r x; echo has read; sleep 300', { stream: true });
    await feed(sleeper.id, 'a\n', { eof: true });
    await on.client.event('command_output', ({ command_id }) => command_id === sleeper.id);
    expect(await feed(sleeper.id, 'b')).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
    await on.client.request('signal_command', { command_id: sleeper.id, signal: 'SIGKILL' });
    await feed(id, '', { eof: true });
    expect(await result).toMatchObject({ stdout: 'abcd' });
    await sleeper.result;
  });

  it('can be sent ahead of a command that waits for its turn', async () => {
    const session = await on.client.openSession();
    const before = start('read -r x; echo first', { session_id: session });
    const { id, result } = start('cat', { session_id: session });
    await feed(id, 'ahead', { eof: true });
    await feed(before.id, 'go\n');
    expect(await before.result).toMatchObject({ stdout: 'first\n' });
    expect(await result).toMatchObject({ stdout: 'ahead' });
  });

  it('is addressed by the session, too', async () => {
    const session = await on.client.openSession();
    const { id, result } = start('cat', { session_id: session, stream: true });
    await feed(id, 'a');
    await on.client.event('command_output', ({ command_id }) => command_id === id);
    await on.client.request('send_input', { session_id: session, data: 'b', eof: true });
    expect(await result).toMatchObject({ stdout: 'ab' });
  });

  it('is not shared with what an earlier command has left running', async () => {
    const session = await on.client.openSession();
    const first = start('{ cat <&3 >stolen; } 3<&0 >/dev/null 2>&1 & disown; echo left', { session_id: session });
    await first.result;
    const { id, result } = start('sha256sum', { session_id: session });
    const data = randomBytes(1024 * 1024);
    await feedAll(id, data);
    expect(await result).toMatchObject({ stdout: `${sha256(data)}  -\n` });
  });

  it('works on a terminal, and after the shell was replaced', async () => {
    const session = await on.client.openSession();
    const first = start('cat; exec true', { session_id: session, tty: true });
    await feed(first.id, 'on a terminal', { eof: true });
    expect(await first.result).toMatchObject({ stdout: 'on a terminal', session_state: 'restarted' });
    const { id, result } = start('cat', { session_id: session });
    await feed(id, 'again', { eof: true });
    expect(await result).toMatchObject({ stdout: 'again' });
    const alone = start('cat', { tty: true });
    await feed(alone.id, 'alone', { eof: true });
    expect(await alone.result).toMatchObject({ stdout: 'alone' });
  });

  it.each([
    ['without a command_id', { command: 'cat', stdin_stream: true }, /command_id/],
    ['beside a text', { command: 'cat', stdin_stream: true, command_id: 'both', stdin: 'x' }, /not both/],
  ])('is refused %s', async (_what, request, message) => {
    const { error } = await on.client.request('execute_command', request);
    expect(error).toMatchObject({ code: 'INVALID_REQUEST', message: expect.stringMatching(message) as string });
  });

  it('is over when its command cannot be run', async () => {
    const { id, result } = start('cat', { cwd: '/not/there' });
    expect(await result).toMatchObject({ error: { code: 'BAD_DIRECTORY' } });
    expect(await feed(id, 'x')).toMatchObject({ error: { code: 'COMMAND_NOT_FOUND' } });
    const missing = start('/not/there', { args: [] });
    expect(await missing.result).toMatchObject({ exit_code: 127 });
    expect(await feed(missing.id, 'x')).toMatchObject({ error: { code: 'NO_RUNNING_COMMAND' } });
  });

  it('takes no bytes for a terminal', async () => {
    const session = await on.client.openSession();
    const running = on.client.run('echo up; sleep 300', session, { command_id: 'on-terminal', stream: true });
    await on.client.event('command_output', ({ command_id }) => command_id === 'on-terminal');
    expect(await feed('on-terminal', Buffer.from('x'))).toMatchObject({ error: { code: 'NO_RUNNING_COMMAND' } });
    await on.client.request('signal_command', { command_id: 'on-terminal', signal: 'SIGINT' });
    await running;
  });

  it.each(['a session', 'no session'])(
    'is not ended as if it were complete when its client goes: the command in %s is ended',
    async (place) => {
      const client = await WireClient.connect(on.daemon.url);
      const session = place === 'a session' ? await on.client.openSession() : undefined;
      const { id, result } = start('trap "" PIPE; cat >/dev/null; echo complete', { session_id: session }, client);
      result.catch(() => undefined);
      await client.request('send_input', { command_id: id, data: 'half' });
      client.socket.io.engine.close();
      expect(await on.client.request('wait_command', { command_id: id })).toMatchObject({
        status: 'killed',
        killed_by: 'client',
        stdout: '',
      });
    },
  );

  it('goes on when its client comes back in time', async () => {
    const client = await WireClient.connect(on.daemon.url);
    const { id, result } = start('cat', {}, client);
    result.catch(() => undefined);
    await client.request('send_input', { command_id: id, data: 'one ' });
    client.socket.io.engine.close();
    const again = await WireClient.connect(on.daemon.url);
    const repeated = again.request('execute_command', { command: 'cat', command_id: id, stdin_stream: true });
    await again.request('send_input', { command_id: id, data: 'one two', offset: 0, eof: true });
    expect(await repeated).toMatchObject({ exit_code: 0, stdout: 'one two' });
    await again[Symbol.asyncDispose]();
  });

  it('leaves no descriptor and no file', async () => {
    const session = await on.client.openSession();
    const run = async (place: Partial<RequestInput<'execute_command'>>) => {
      const { id, result } = start('cat', place);
      await feed(id, 'x', { eof: true });
      await result;
    };
    for (const place of [{}, { session_id: session }]) await run(place);
    const before = descriptorCount(on.daemon.pid);
    for (let round = 0; round < 20; round++) for (const place of [{}, { session_id: session }]) await run(place);
    // One left by each of the 40 commands would be 40; shells that are started ahead of need come and go.
    await expect.poll(() => descriptorCount(on.daemon.pid)).toBeLessThan(before + 20);
    const { instance_id: instance } = await on.client.request('shell_metadata', {});
    const directories = ['/dev/shm', '/run/user', '/tmp'].flatMap((base) => [
      `${base}/shell-adapter-${process.getuid?.()}/${instance}/stdin`,
      `${base}/${process.getuid?.()}/shell-adapter-${process.getuid?.()}/${instance}/stdin`,
    ]);
    const found = directories.flatMap((directory) => {
      try {
        return [readdirSync(directory)];
      } catch {
        return [];
      }
    });
    expect(found).toEqual([[]]);
  });
});

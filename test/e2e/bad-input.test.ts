import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { RequestName } from '../../src/core/protocol/requests.js';
import { TestDaemon } from '../support/daemon.js';
import { WireClient } from '../support/wire.js';

let daemon: TestDaemon;
let client: WireClient;
/** A session that must not notice anything. */
let witness: string;
let session: string;

beforeAll(async () => {
  daemon = await TestDaemon.start({ settings: { adapter: { queue_limit: 2 } } });
  client = await WireClient.connect(daemon.url);
  witness = await client.openSession();
  await client.run('WITNESS=$$', witness);
  session = await client.openSession();
});

afterAll(async () => {
  const { stdout, session_state: state } = await client.run('[ "$WITNESS" = $$ ] && echo unharmed', witness);
  expect([stdout, state]).toEqual(['unharmed\n', 'alive']);
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

/** Sends anything at all; `SESSION` stands for the id of the session. */
async function send(name: string, ...args: unknown[]): Promise<unknown> {
  const text = JSON.stringify(args).replaceAll('"SESSION"', JSON.stringify(session));
  return client.socket.timeout(5000).emitWithAck(name, ...(JSON.parse(text) as unknown[]));
}

const invalid = (field: string) => ({ error: { code: 'INVALID_REQUEST', details: { problems: [{ field }] } } });

type Case = readonly [title: string, name: RequestName, payload: unknown, answer: object];

const CASES: readonly Case[] = [
  // wrong types
  ['a text as payload', 'execute_command', 'echo hi', invalid('')],
  ['a list as payload', 'execute_command', ['echo hi'], invalid('')],
  ['a number as payload', 'open_session', 42, invalid('')],
  ['a boolean as payload', 'open_session', true, invalid('')],
  ['a command that is a number', 'execute_command', { command: 1 }, invalid('command')],
  ['a command that is a list', 'execute_command', { command: ['ls'] }, invalid('command')],
  ['a session id that is a number', 'execute_command', { command: 'true', session_id: 7 }, invalid('session_id')],
  ['args that are a text', 'execute_command', { command: 'ls', args: '-l' }, invalid('args')],
  ['an argument that is a number', 'execute_command', { command: 'ls', args: [1] }, invalid('args.0')],
  ['tty that is a text', 'execute_command', { command: 'ls', tty: 'yes' }, invalid('tty')],
  ['env that is a list', 'execute_command', { command: 'ls', env: ['A=1'] }, invalid('env')],
  ['a variable that is a number', 'execute_command', { command: 'ls', env: { A: 1 } }, invalid('env.A')],
  ['output that is a number', 'execute_command', { command: 'ls', output: 5 }, invalid('output')],
  [
    'an encoding nobody knows',
    'execute_command',
    { command: 'ls', output: { encoding: 'x' } },
    invalid('output.encoding'),
  ],
  ['a signal nobody knows', 'signal_command', { session_id: 'SESSION', signal: 'SIGNOPE' }, invalid('signal')],
  ['a stream nobody knows', 'read_output', { command_id: 'x', stream: 'stdin' }, invalid('stream')],
  // missing and unknown fields
  ['no command', 'execute_command', {}, invalid('command')],
  ['null as command', 'execute_command', { command: null }, invalid('command')],
  ['no session id', 'close_session', {}, invalid('session_id')],
  ['nothing to send input to', 'send_input', { data: 'x' }, invalid('session_id')],
  ['no signal', 'signal_command', { session_id: 'SESSION' }, invalid('signal')],
  ['a misspelt field', 'execute_command', { command: 'true', timout_ms: 5 }, invalid('timout_ms')],
  [
    'a field under both of its names',
    'execute_command',
    { command: 'true', timeout: 5, timeout_ms: 5 },
    invalid('timeout'),
  ],
  ['a field too many', 'open_session', { colour: 'red' }, invalid('colour')],
  [
    'an unknown field inside output',
    'execute_command',
    { command: 'true', output: { size: 1 } },
    invalid('output.size'),
  ],
  // text that cannot be
  ['NUL in a command', 'execute_command', { command: 'echo a\0b', session_id: 'SESSION' }, invalid('command')],
  ['NUL in an argument', 'execute_command', { command: 'echo', args: ['a\0b'] }, invalid('args.0')],
  ['NUL in a variable', 'execute_command', { command: 'true', env: { A: 'a\0b' } }, invalid('env.A')],
  ['NUL in cwd', 'execute_command', { command: 'true', cwd: '/tmp\0' }, invalid('cwd')],
  ['NUL in a shell', 'open_session', { shell: 'ba\0sh' }, invalid('shell')],
  // names of variables
  ['a variable name with a digit first', 'open_session', { env: { '1BAD': 'x' } }, invalid('env.1BAD')],
  ['a variable name with a blank', 'execute_command', { command: 'true', env: { 'A B': 'x' } }, invalid('env.A B')],
  ['an empty variable name', 'execute_command', { command: 'true', env: { '': 'x' } }, invalid('env.')],
  ['a variable name with =', 'execute_command', { command: 'true', env: { 'A=B': 'x' } }, invalid('env.A=B')],
  ['a variable name with code', 'execute_command', { command: 'true', env: { 'A;id': 'x' } }, invalid('env.A;id')],
  // numbers out of range
  ['a negative time-out', 'execute_command', { command: 'true', timeout_ms: -1 }, invalid('timeout_ms')],
  ['a time-out of nothing', 'execute_command', { command: 'true', timeout_ms: 0 }, invalid('timeout_ms')],
  ['a fractional time-out', 'execute_command', { command: 'true', timeout_ms: 1.5 }, invalid('timeout_ms')],
  ['a time-out that is a text', 'execute_command', { command: 'true', timeout_ms: '5' }, invalid('timeout_ms')],
  ['a time-out beyond every timer', 'execute_command', { command: 'true', timeout_ms: 1e15 }, invalid('timeout_ms')],
  ['a negative wait', 'wait_command', { command_id: 'x', timeout_ms: -1 }, invalid('timeout_ms')],
  ['a negative offset', 'read_output', { command_id: 'x', offset: -1 }, invalid('offset')],
  ['a read of nothing', 'read_output', { command_id: 'x', length: 0 }, invalid('length')],
  ['a read of too much', 'read_output', { command_id: 'x', length: 1e9 }, invalid('length')],
  ['a terminal without columns', 'open_session', { cols: 0 }, invalid('cols')],
  ['a terminal as wide as the sea', 'open_session', { cols: 1e9 }, invalid('cols')],
  [
    'a negative size of output',
    'execute_command',
    { command: 'true', output: { max_size: -1 } },
    invalid('output.max_size'),
  ],
  ['a label without end', 'open_session', { label: 'x'.repeat(1000) }, invalid('label')],
  ['a command id with blanks', 'execute_command', { command: 'true', command_id: 'a b' }, invalid('command_id')],
  // what the configuration does not allow
  [
    'a time-out above command_max_lifetime',
    'execute_command',
    { command: 'true', timeout_ms: 2_000_000_000 },
    { error: { code: 'INVALID_REQUEST', details: { field: 'timeout_ms', max: 86_400_000 } } },
  ],
  [
    'ends that are larger than the whole',
    'execute_command',
    { command: 'true', output: { max_size: 10, begin_size: 8, end_size: 8 } },
    { error: { code: 'INVALID_REQUEST', details: { field: 'output' } } },
  ],
  // what is not there
  ...(['get_session', 'close_session', 'reset_session', 'attach_session', 'send_input'] as const).map((name): Case => [
    `${name} of an unknown session`,
    name,
    { session_id: 'nope' },
    { error: { code: 'SESSION_NOT_FOUND' } },
  ]),
  [
    'a command in an unknown session',
    'execute_command',
    { command: 'true', session_id: 'nope' },
    { error: { code: 'SESSION_NOT_FOUND', details: { session_id: 'nope' } } },
  ],
  ['an unknown command', 'wait_command', { command_id: 'nope' }, { error: { code: 'COMMAND_NOT_FOUND' } }],
  ['output of an unknown command', 'read_output', { command_id: 'nope' }, { error: { code: 'COMMAND_NOT_FOUND' } }],
  [
    'input when nothing runs',
    'send_input',
    { session_id: 'SESSION', data: 'x' },
    { error: { code: 'NO_RUNNING_COMMAND' } },
  ],
  [
    'a cwd that does not exist',
    'open_session',
    { cwd: '/no/such/dir' },
    { error: { code: 'BAD_DIRECTORY', details: { directory: '/no/such/dir' } } },
  ],
  ['a cwd that is a file', 'open_session', { cwd: '/etc/passwd' }, { error: { code: 'BAD_DIRECTORY' } }],
  ['an empty cwd', 'open_session', { cwd: '' }, invalid('cwd')],
  [
    'a cwd for one command that does not exist',
    'execute_command',
    { command: 'true', session_id: 'SESSION', cwd: '/no/such/dir' },
    { error: { code: 'BAD_DIRECTORY' } },
  ],
  [
    'a cwd for a one-shot that does not exist',
    'execute_command',
    { command: 'true', cwd: '/no/such/dir' },
    { error: { code: 'BAD_DIRECTORY' } },
  ],
  [
    'a reset to nowhere',
    'reset_session',
    { session_id: 'SESSION', cwd: '/no/such/dir' },
    { error: { code: 'BAD_DIRECTORY' } },
  ],
  ['a shell that cannot be driven', 'open_session', { shell: 'powershell' }, { error: { code: 'SHELL_NOT_FOUND' } }],
  ['a shell that does not exist', 'open_session', { shell: '/no/such/bash' }, { error: { code: 'SHELL_NOT_FOUND' } }],
  ['a shell that is no program', 'open_session', { shell: '/etc/passwd' }, { error: { code: 'SHELL_NOT_FOUND' } }],
];

describe('bad input', () => {
  it.each(CASES)('%s: %s', async (_, name, payload, answer) => {
    const given = (await send(name, payload)) as { error: { code: string; message: string } };
    expect(given).toMatchObject(answer);
    expect(given.error.message).toMatch(/\w/);
    expect(await client.run('echo unharmed', session)).toMatchObject({ stdout: 'unharmed\n', session_state: 'alive' });
  });

  it('an unknown event: UNKNOWN_REQUEST, and what there is', async () => {
    for (const name of ['no_such_request', 'constructor', '__proto__', 'toString', '']) {
      const answer = (await send(name, {})) as { error: { code: string; details: { requests: string[] } } };
      expect(answer.error.code).toBe('UNKNOWN_REQUEST');
      expect(answer.error.details.requests).toContain('execute_command');
    }
  });

  it('an event named `error`: UNKNOWN_REQUEST too, and nothing else', async () => {
    for (const payload of [null, { message: 'text of a client' }])
      expect(await client.socket.emitWithAck('error', payload)).toMatchObject({ error: { code: 'UNKNOWN_REQUEST' } });
    expect(daemon.output).not.toMatch(/uncaught|text of a client/);
  });

  it('no callback: the answer comes as an event with the request_id, errors too', async () => {
    client.socket.emit('execute_command', { command: 'echo hi', request_id: 'a' });
    client.socket.emit('execute_command', { command: 1, request_id: 'b' });
    client.socket.emit('no_such_request', { request_id: 'c' });
    const result = (name: string, id: string) =>
      client.until(
        () => client.events.find(({ name: seen, payload }) => seen === name && idOf(payload) === id)?.payload,
      );
    expect(await result('execute_command_result', 'a')).toMatchObject({ stdout: 'hi\n' });
    expect(await result('execute_command_result', 'b')).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
    expect(await result('no_such_request_result', 'c')).toMatchObject({ error: { code: 'UNKNOWN_REQUEST' } });
  });

  it('no payload at all counts as an empty one', async () => {
    expect(await send('list_sessions')).toHaveProperty('sessions');
    expect(await send('shell_metadata', null)).toHaveProperty('operating_system');
    expect(await send('execute_command')).toMatchObject(invalid('command'));
  });

  it('null in an optional field counts as absent', async () => {
    const payload = { command: 'echo hi', session_id: null, cwd: null, env: null, timeout_ms: null, stream: null };
    expect(await send('execute_command', payload)).toMatchObject({ stdout: 'hi\n', session_id: null });
  });

  it('a command id that belongs to another command', async () => {
    const taken = { session_id: session, command_id: 'taken' };
    expect(await send('execute_command', { command: 'echo 1', ...taken })).toMatchObject({ stdout: '1\n' });
    expect(await send('execute_command', { command: 'echo 1', ...taken })).toMatchObject({ stdout: '1\n' });
    const other = { error: { code: 'INVALID_REQUEST', details: { field: 'command_id' } } };
    expect(await send('execute_command', { command: 'echo 2', ...taken })).toMatchObject(other);
  });

  it('more commands than the queue holds: SESSION_BUSY, with what runs', async () => {
    const id = await client.openSession();
    const { command_id: running } = await client.run('sleep 300', id, { background: true });
    const waiting = [client.run('echo 1', id), client.run('echo 2', id)];
    const busy = await client.run('echo 3', id);
    expect(busy.error).toMatchObject({ code: 'SESSION_BUSY', details: { running_command_id: running, queued: 2 } });
    await client.request('signal_command', { command_id: running, signal: 'SIGINT' });
    expect((await Promise.all(waiting)).map(({ stdout }) => stdout)).toEqual(['1\n', '2\n']);
    await client.request('close_session', { session_id: id });
  });

  it('a command that is empty or only blanks does nothing, successfully', async () => {
    for (const command of ['', ' ', '\n\n', '# only a comment']) {
      for (const id of [session, undefined]) {
        expect(await client.run(command, id)).toMatchObject({ exit_code: 0, stdout: '', stderr: '' });
      }
    }
  });

  it('half of a surrogate pair is no reason to fail', async () => {
    expect(await client.run("printf %s '\uD800' | wc -c", session)).toMatchObject({ exit_code: 0, stdout: '3\n' });
  });
});

const idOf = (payload: unknown): unknown => (payload as { request_id?: unknown }).request_id;

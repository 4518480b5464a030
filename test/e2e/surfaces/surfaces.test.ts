import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ErrorCode } from '../../../src/core/errors.js';
import type { RequestName } from '../../../src/core/protocol/requests.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';
import { type Surface, SURFACES } from './surfaces.js';

/** Listens on a port that the kernel chooses, says which, and stays. */
const SERVER = `node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => console.log('port ' + s.address().port))"`;

let daemon: TestDaemon;
/** Prepares what is asked for. */
let client: WireClient;
let server: { readonly session_id: string; readonly command_id: string; readonly port: number };

beforeAll(async () => {
  daemon = await TestDaemon.start({
    settings: { confirmation: { mode: 'self', rules: [{ action: 'deny', path: '**/forbidden', reason: 'no' }] } },
    // Larger files than the limit of the shells are what a full disk looks like.
    launcher: ['prlimit', '--fsize=4194304'],
  });
  client = await WireClient.connect(daemon.url);
  const at = (name: string) => join(daemon.workspace, name);
  writeFileSync(at('text'), 'one\ntwo\n');
  writeFileSync(at('twice'), 'x x');
  writeFileSync(at('binary'), Buffer.from([0, 255]));
  writeFileSync(at('long'), Buffer.alloc(4_194_300, 'x'));
  writeFileSync(at('.env'), 'KEY=1\n');
  mkdirSync(at('full'));
  writeFileSync(at('full/inner'), '');
  const session_id = await client.openSession();
  const { command_id } = await client.run(SERVER, session_id, { background: true });
  const { match } = await client.request('wait_for', { command_id, pattern: 'port' });
  server = { session_id, command_id, port: Number(/\d+/.exec(match?.text ?? '')?.[0]) };
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

describe.each(SURFACES)('over %s', (title, connect) => {
  let surface: Surface;

  beforeAll(async () => {
    surface = await connect(daemon.url);
  });
  afterAll(() => surface[Symbol.asyncDispose]());

  /** Asks, where the surface has the request. */
  async function gives(name: RequestName, payload: Record<string, unknown>, expected: object): Promise<void> {
    if (!surface.has(name, payload)) return;
    const answer = await surface.ask(name, payload);
    expect({ name, payload, answer }).toMatchObject({ name, payload, answer: expected });
  }

  it('files are read, changed and found', async () => {
    const at = (name: string) => `of ${title}/${name}`;
    const [path, moved] = [at('file'), at('moved')];
    await gives('write_file', { path, data: 'one\ntwo\n', create_directories: true }, { size: 8 });
    await gives('read_file', { path, from_line: 2 }, { data: 'two\n', eof: true });
    await gives('edit_file', { path, old_text: 'two', new_text: '2' }, { replaced: 1 });
    await gives('search_files', { path: at(''), pattern: '^2', regex: true }, { matches: [{ path: 'file', line: 2 }] });
    await gives('find_files', { path: at(''), pattern: 'f*' }, { matches: [{ path: 'file' }] });
    await gives('stat_path', { path }, { type: 'file', size: 6 });
    await gives('make_directory', { path: at('a/b'), parents: true }, { created: true });
    await gives('list_directory', { path: at('') }, { entries: [{ name: 'a' }, { name: 'file' }] });
    await gives('move_path', { path, to: moved }, { replaced: false });
    await gives('remove_path', { path: at(''), recursive: true }, { removed: 4 });
  });

  it('what comes is waited for: a port, a file, a line, the end of a command', async () => {
    const { port, command_id, session_id } = server;
    await gives('wait_for', { port }, { met: true, condition: 'port' });
    await gives('wait_for', { port, session_id }, { met: true, condition: 'port' });
    await gives('list_ports', { session_id }, { ports: [{ port, session_id, address: '127.0.0.1' }] });
    const pattern = '^port \\d+$';
    await gives(
      'wait_for',
      { command_id, pattern, regex: true },
      { condition: 'pattern', match: { text: `port ${port}` } },
    );
    await gives('wait_for', { command_id, pattern: 'never', timeout_ms: 1 }, { met: false });
    const path = `comes for ${title}`;
    const coming = gives('wait_for', { path }, { met: true, condition: 'path' });
    await gives('wait_for', { path, timeout_ms: 1 }, { met: false });
    writeFileSync(join(daemon.workspace, path), '');
    await coming;
    const ended = await client.run('exit 3');
    await gives('wait_for', { command_id: ended.command_id }, { met: true, condition: 'end', exit_code: 3 });
  });

  it('a screen is waited for, read, and driven by keys', async () => {
    const session_id = await client.openSession({ cols: 40, rows: 5 });
    const text = 'shownmy\nafter <my>';
    const command = 'printf shown; read -r x; printf "after <$x>"; read -r y';
    const { command_id } = await client.run(command, session_id, { tty: true, background: true });
    await gives('wait_for', { session_id, screen_text: 'sh.wn', regex: true }, { met: true, condition: 'screen_text' });
    await gives('send_input', { session_id, keys: ['Upp'] }, { error: { code: 'INVALID_REQUEST' } });
    await gives('send_input', { session_id, data: 'me', keys: ['Backspace', 'y', 'Enter'] }, { accepted_bytes: 5 });
    await gives('wait_for', { session_id, screen_text: 'after' }, { condition: 'screen_text', screen: { text } });
    await gives('wait_for', { session_id, screen_stable_ms: 50 }, { condition: 'screen_stable', screen: { text } });
    await gives('wait_for', { session_id, screen_text: 'never', timeout_ms: 1 }, { met: false, screen: { text } });
    await gives('read_screen', { session_id }, { text, running: true });
    await gives('send_input', { session_id, keys: ['C-c'] }, { accepted_bytes: 1 });
    await gives('wait_for', { command_id }, { met: true, condition: 'end', exit_code: 130 });
    await client.request('close_session', { session_id });
  });

  it('both outputs come as one, in the order of writing', async () => {
    const output = { merge: true };
    const command = 'for i in 1 2; do echo o$i; echo e$i >&2; done';
    const expected = { stdout: 'o1\ne1\no2\ne2\n', stderr: '', original_stderr_size: 0 };
    await gives('execute_command', { command, output }, expected);
    await gives('execute_command', { command: 'sh', args: ['-c', command], output }, expected);
    const missing = { stdout: 'no_such_program: command not found\n', stderr: '', exit_code: 127 };
    await gives('execute_command', { command: 'no_such_program', args: [], output }, missing);
  });

  it('an output is read by lines, and searched', async () => {
    const { command_id } = await client.run('printf "one\\ntwo\\nthree is long"');
    await gives('read_output', { command_id, from_line: 2, max_lines: 1 }, { data: 'two\n', from_line: 2 });
    await gives('read_output', { command_id, last_lines: 1 }, { data: 'three is long' });
    await gives(
      'search_output',
      { command_id, pattern: 'T.*S', regex: true, ignore_case: true },
      { matches: [{ line: 3, offset: 8, text: 'three is long' }] },
    );
  });

  it('what has to be confirmed is not done', async () => {
    await gives('read_file', { path: '.env', encoding: 'utf8' }, { status: 'confirmation_required' });
    await gives('write_file', { path: '.npmrc', data: 'x' }, { status: 'confirmation_required' });
    await gives('stat_path', { path: '.npmrc' }, { error: { code: 'FILE_NOT_FOUND' } });
  });

  it.each<readonly [RequestName, Record<string, unknown>, ErrorCode]>([
    ['read_file', { path: 'missing' }, 'FILE_NOT_FOUND'],
    ['read_file', { path: 'full' }, 'NOT_A_FILE'],
    ['read_file', { path: 'text/below' }, 'NOT_A_DIRECTORY'],
    ['read_file', { path: 'binary', from_line: 1 }, 'NOT_TEXT'],
    ['read_file', { path: 'forbidden' }, 'COMMAND_DENIED'],
    ['read_file', { path: 'text', session_id: 'gone' }, 'SESSION_NOT_FOUND'],
    ['read_file', { path: 'text', length: 1e9 }, 'INVALID_REQUEST'],
    ['write_file', { path: 'text/below', data: 'x' }, 'NOT_A_DIRECTORY'],
    ['write_file', { path: 'forbidden', data: 'x' }, 'COMMAND_DENIED'],
    ['write_file', { path: 'long', data: 'too much', mode: 'append' }, 'FILE_TOO_LARGE'],
    ['write_file', { path: 'full', data: 'x' }, 'NOT_A_FILE'],
    ['write_file', { path: 'text', data: 'x', mode: 'create' }, 'FILE_EXISTS'],
    ['write_file', { path: 'text', data: 'x', expected_sha256: '0'.repeat(64) }, 'FILE_CHANGED'],
    ['edit_file', { path: 'missing', old_text: 'a', new_text: 'b' }, 'FILE_NOT_FOUND'],
    ['edit_file', { path: 'full', old_text: 'a', new_text: 'b' }, 'NOT_A_FILE'],
    ['edit_file', { path: 'forbidden', old_text: 'a', new_text: 'b' }, 'COMMAND_DENIED'],
    ['edit_file', { path: 'text', old_text: 'one', new_text: '', expected_sha256: '0'.repeat(64) }, 'FILE_CHANGED'],
    ['edit_file', { path: 'twice', old_text: 'x', new_text: 'y' }, 'TEXT_NOT_UNIQUE'],
    ['edit_file', { path: 'twice', old_text: 'no', new_text: 'y' }, 'TEXT_NOT_FOUND'],
    ['edit_file', { path: 'binary', old_text: 'x', new_text: 'y' }, 'NOT_TEXT'],
    ['list_directory', { path: 'text' }, 'NOT_A_DIRECTORY'],
    ['list_directory', { path: 'missing' }, 'FILE_NOT_FOUND'],
    ['list_directory', { path: 'forbidden' }, 'COMMAND_DENIED'],
    ['stat_path', { path: 'missing' }, 'FILE_NOT_FOUND'],
    ['stat_path', { path: 'forbidden' }, 'COMMAND_DENIED'],
    ['make_directory', { path: 'full' }, 'FILE_EXISTS'],
    ['make_directory', { path: 'no/such' }, 'FILE_NOT_FOUND'],
    ['make_directory', { path: 'forbidden' }, 'COMMAND_DENIED'],
    ['move_path', { path: 'missing', to: 'x' }, 'FILE_NOT_FOUND'],
    ['move_path', { path: 'text', to: 'forbidden' }, 'COMMAND_DENIED'],
    ['move_path', { path: 'text', to: 'twice' }, 'FILE_EXISTS'],
    ['remove_path', { path: 'missing' }, 'FILE_NOT_FOUND'],
    ['remove_path', { path: 'forbidden' }, 'COMMAND_DENIED'],
    ['remove_path', { path: 'full' }, 'DIRECTORY_NOT_EMPTY'],
    ['find_files', { path: 'missing', pattern: '*' }, 'FILE_NOT_FOUND'],
    ['search_files', { path: 'forbidden', pattern: 'x' }, 'COMMAND_DENIED'],
    ['search_files', { path: '.', pattern: '(', regex: true }, 'INVALID_REQUEST'],
    ['search_files', { path: 'missing', pattern: 'x' }, 'FILE_NOT_FOUND'],
    ['watch_paths', { paths: [] }, 'INVALID_REQUEST'],
    ['unwatch_paths', { watch_id: 'watch_none' }, 'INVALID_REQUEST'],
    ['wait_for', {}, 'INVALID_REQUEST'],
    ['wait_for', { port: 65_536 }, 'INVALID_REQUEST'],
    ['wait_for', { port: 1, session_id: 'gone' }, 'SESSION_NOT_FOUND'],
    ['wait_for', { path: '.env' }, 'COMMAND_DENIED'],
    ['wait_for', { command_id: 'none' }, 'COMMAND_NOT_FOUND'],
    ['wait_for', { screen_text: 'x' }, 'INVALID_REQUEST'],
    ['wait_for', { session_id: 'gone', screen_text: 'x' }, 'SESSION_NOT_FOUND'],
    ['wait_for', { session_id: 'gone', screen_stable_ms: 100 }, 'SESSION_NOT_FOUND'],
    ['list_ports', { session_id: 'gone' }, 'SESSION_NOT_FOUND'],
    ['preview_port', { session_id: 'gone', port: 1 }, 'SESSION_NOT_FOUND'],
    ['read_output', { command_id: 'none', from_line: 1 }, 'COMMAND_NOT_FOUND'],
    ['read_output', { command_id: 'none', from_line: 0 }, 'INVALID_REQUEST'],
    ['search_output', { command_id: 'none', pattern: 'x' }, 'COMMAND_NOT_FOUND'],
    ['send_input', { session_id: 'gone', keys: ['Up'] }, 'SESSION_NOT_FOUND'],
    ['read_screen', { session_id: 'gone' }, 'SESSION_NOT_FOUND'],
  ])('%s %j fails with %s', async (name, payload, code) => {
    await gives(name, payload, { error: { code, message: expect.stringMatching(/\w/) as string } });
  });
});

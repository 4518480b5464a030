import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { RequestInput } from '../../../src/core/protocol/requests.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';

let daemon: TestDaemon;
let client: WireClient;

const SECRET = 'correct-horse-battery';
const at = (...names: string[]) => join(daemon.workspace, ...names);
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const read = (request: RequestInput<'read_file'>) => client.request('read_file', request);
const write = (request: RequestInput<'write_file'>) => client.request('write_file', request);
const edit = (request: RequestInput<'edit_file'>) => client.request('edit_file', request);
const failing = (code: string) => ({ error: { code } });
/** Names of what a failed request must not leave. */
const leftovers = (directory = daemon.workspace) =>
  readdirSync(directory).filter((name) => name.startsWith('.shell-adapter'));

beforeAll(async () => {
  // Larger files than the limit of the shells are what a full disk looks like.
  daemon = await TestDaemon.start({
    settings: { secrets: { values: [SECRET] } },
    launcher: ['prlimit', '--fsize=8388608'],
  });
  client = await WireClient.connect(daemon.url);
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

describe('read_file', () => {
  it('gives exact bytes, in parts', async () => {
    const content = Buffer.from(Array.from({ length: 3000 }, (_, index) => index % 256));
    writeFileSync(at('bytes'), content);
    const whole = await read({ path: 'bytes' });
    expect(Buffer.from(whole.data as Uint8Array)).toEqual(content);
    expect(whole).toMatchObject({ offset: 0, length: 3000, size: 3000, sha256: sha256(content), eof: true });
    const part = await read({ path: at('bytes'), offset: 2000, length: 500, encoding: 'base64' });
    expect(Buffer.from(part.data as string, 'base64')).toEqual(content.subarray(2000, 2500));
    expect(part).toMatchObject({ offset: 2000, length: 500, sha256: sha256(content), eof: false });
    expect(await read({ path: 'bytes', offset: 9999 })).toMatchObject({ length: 0, eof: true });
    expect(await read({ path: 'bytes', encoding: 'utf8' })).toMatchObject(failing('NOT_TEXT'));
  });

  it('gives text between whole characters, and lines with their numbers', async () => {
    writeFileSync(at('text'), 'één\ntwo\nthree\n');
    const middle = await read({ path: 'text', offset: 1, length: 3, encoding: 'utf8' });
    expect(middle).toMatchObject({ data: 'é', offset: 2, length: 2, eof: false });
    expect(await read({ path: 'text', from_line: 2, max_lines: 1 })).toMatchObject({
      data: 'two\n',
      from_line: 2,
      lines: 1,
      offset: 6,
      eof: false,
    });
    expect(await read({ path: 'text', from_line: 2, line_numbers: true })).toMatchObject({
      data: '2\ttwo\n3\tthree\n',
      eof: true,
    });
    expect(await read({ path: 'text', from_line: 9 })).toMatchObject({ data: '', lines: 0, eof: true });
    expect(await read({ path: 'text', from_line: 1, encoding: 'bytes' })).toMatchObject(failing('INVALID_REQUEST'));
  });

  it('resolves paths as the session does', async () => {
    const id = await client.openSession();
    mkdirSync(at('sub'));
    writeFileSync(at('sub', 'file'), 'in sub');
    await client.run('cd sub', id);
    expect(await read({ path: 'file', session_id: id, encoding: 'utf8' })).toMatchObject({ data: 'in sub' });
    expect(await read({ path: 'file' })).toMatchObject(failing('FILE_NOT_FOUND'));
    expect(await read({ path: 'file', session_id: 'session_none' })).toMatchObject(failing('SESSION_NOT_FOUND'));
  });

  it('masks configured secrets in bytes and in text', async () => {
    writeFileSync(at('masked'), `key=${SECRET}\n`);
    expect(await read({ path: 'masked', encoding: 'utf8' })).toMatchObject({ data: 'key=***\n' });
    const { data } = await read({ path: 'masked' });
    expect(Buffer.from(data as Uint8Array).toString()).toBe('key=***\n');
  });

  it('refuses what is no file, without waiting for it', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(at('socket'), resolve));
    mkdirSync(at('directory'));
    symlinkSync('nowhere', at('dangling'));
    try {
      for (const path of ['pipe', 'socket', 'directory', '/proc/self/environ', '/dev/zero']) {
        expect({ path, ...(await read({ path })) }).toMatchObject({ path, ...failing('NOT_A_FILE') });
        expect({ path, ...(await write({ path, data: 'x' })) }).toMatchObject({ path, ...failing('NOT_A_FILE') });
      }
      expect(await read({ path: 'dangling' })).toMatchObject(failing('FILE_NOT_FOUND'));
      expect(await read({ path: 'none/file' })).toMatchObject(failing('FILE_NOT_FOUND'));
      expect(await read({ path: 'text/file' })).toMatchObject(failing('NOT_A_DIRECTORY'));
    } finally {
      server.close();
    }
  });
});

describe('write_file', () => {
  it('creates, overwrites and appends', async () => {
    const created = await write({ path: 'new/deep/file', data: 'one\n', create_directories: true, permissions: '640' });
    expect(created).toMatchObject({ size: 4, sha256: sha256('one\n'), created: true });
    expect(statSync(at('new/deep/file')).mode & 0o777).toBe(0o640);
    expect(await write({ path: 'new/deep/file', data: Buffer.from('two\n') })).toMatchObject({ created: false });
    expect(statSync(at('new/deep/file')).mode & 0o777).toBe(0o640);
    expect(await write({ path: 'new/deep/file', data: 'dGhyZWUK', encoding: 'base64', mode: 'append' })).toMatchObject({
      size: 10,
      sha256: sha256('two\nthree\n'),
    });
    expect(await write({ path: 'new/deep/file', data: '', mode: 'create' })).toMatchObject(failing('FILE_EXISTS'));
    expect(readFileSync(at('new/deep/file'), 'utf8')).toBe('two\nthree\n');
    expect(leftovers(at('new/deep'))).toEqual([]);
  });

  it('loses nobody’s change', async () => {
    writeFileSync(at('shared'), 'theirs');
    const wrong = await write({ path: 'shared', data: 'mine', expected_sha256: sha256('old') });
    expect(wrong).toMatchObject({ error: { code: 'FILE_CHANGED', details: { sha256: sha256('theirs') } } });
    expect(await write({ path: 'shared', data: 'x', expected_mtime_ms: 1 })).toMatchObject(failing('FILE_CHANGED'));
    expect(await write({ path: 'absent', data: 'x', expected_sha256: sha256('') })).toMatchObject({
      error: { code: 'FILE_CHANGED', details: { sha256: null } },
    });
    expect(readFileSync(at('shared'), 'utf8')).toBe('theirs');
    const right = await write({ path: 'shared', data: 'both', expected_sha256: sha256('theirs') });
    expect(right).toMatchObject({ sha256: sha256('both') });
    expect(leftovers()).toEqual([]);
  });

  it('writes through a link, to the file that it leads to', async () => {
    writeFileSync(at('target'), 'old');
    symlinkSync('target', at('link'));
    await write({ path: 'link', data: 'new' });
    expect(readFileSync(at('target'), 'utf8')).toBe('new');
    expect(await client.request('stat_path', { path: 'link' })).toMatchObject({
      type: 'file',
      real_path: at('target'),
      target: 'target',
      size: 3,
    });
  });

  it('leaves the old content, and nothing else, when there is no room', async () => {
    writeFileSync(at('grown'), 'old');
    truncateSync(at('grown'), 8_388_600);
    const before = statSync(at('grown')).mtimeMs;
    expect(await write({ path: 'grown', data: 'x'.repeat(100), mode: 'append' })).toMatchObject(
      failing('FILE_TOO_LARGE'),
    );
    expect(statSync(at('grown'))).toMatchObject({ size: 8_388_600 });
    expect(before).toBeGreaterThan(0);
    expect(await write({ path: 'no/such/file', data: 'x' })).toMatchObject(failing('FILE_NOT_FOUND'));
    expect(existsSync(at('no'))).toBe(false);
    expect(leftovers()).toEqual([]);
  });

  it('is refused where the user may not write', async () => {
    mkdirSync(at('closed'));
    writeFileSync(at('read-only'), 'old');
    chmodSync(at('closed'), 0o555);
    chmodSync(at('read-only'), 0o444);
    const isRoot = process.getuid?.() === 0;
    const expected = isRoot ? { size: 1 } : failing('FILE_ACCESS_DENIED');
    expect(await write({ path: 'closed/file', data: 'x' })).toMatchObject(expected);
    expect(await write({ path: 'read-only', data: 'x' })).toMatchObject(expected);
    chmodSync(at('closed'), 0o755);
  });

  it('refuses what is too large for a message, and text that is not base64', async () => {
    const data = Buffer.alloc(2 * 1024 * 1024);
    expect(await write({ path: 'large', data })).toMatchObject(failing('PAYLOAD_TOO_LARGE'));
    expect(await write({ path: 'large', data: 'a!', encoding: 'base64' })).toMatchObject(failing('INVALID_REQUEST'));
    expect(existsSync(at('large'))).toBe(false);
  });
});

describe('edit_file', () => {
  it('replaces a text, and answers with the difference', async () => {
    writeFileSync(at('code'), 'a\nreturn 1;\nb\n', { mode: 0o750 });
    const answer = await edit({ path: 'code', old_text: 'return 1;', new_text: 'return 0;' });
    expect(answer).toMatchObject({
      replaced: 1,
      diff: `--- ${at('code')}\n+++ ${at('code')}\n@@ -1,3 +1,3 @@\n a\n-return 1;\n+return 0;\n b\n`,
      sha256: sha256('a\nreturn 0;\nb\n'),
    });
    expect(readFileSync(at('code'), 'utf8')).toBe('a\nreturn 0;\nb\n');
    expect(statSync(at('code')).mode & 0o777).toBe(0o750);
  });

  it('changes nothing when the text is not there once', async () => {
    writeFileSync(at('twice'), 'x\nx\n');
    expect(await edit({ path: 'twice', old_text: 'x', new_text: 'y' })).toMatchObject({
      error: { code: 'TEXT_NOT_UNIQUE', details: { occurrences: 2, lines: [1, 2] } },
    });
    expect(await edit({ path: 'twice', old_text: 'z', new_text: 'y' })).toMatchObject(failing('TEXT_NOT_FOUND'));
    const stale = { path: 'twice', old_text: 'x', new_text: 'y', all: true, expected_sha256: sha256('') };
    expect(await edit(stale)).toMatchObject(failing('FILE_CHANGED'));
    expect(readFileSync(at('twice'), 'utf8')).toBe('x\nx\n');
    expect(await edit({ path: 'twice', old_text: 'x', new_text: 'y', all: true })).toMatchObject({ replaced: 2 });
  });

  it('refuses binary files, and large ones', async () => {
    writeFileSync(at('binary'), Buffer.from([0, 1, 2]));
    writeFileSync(at('huge'), '');
    truncateSync(at('huge'), 9_000_000);
    expect(await edit({ path: 'binary', old_text: 'a', new_text: 'b' })).toMatchObject(failing('NOT_TEXT'));
    expect(await edit({ path: 'huge', old_text: 'a', new_text: 'b' })).toMatchObject(failing('FILE_TOO_LARGE'));
  });
});

describe('directories', () => {
  it('are made, listed in pages, and removed', async () => {
    expect(await client.request('make_directory', { path: 'tree/leaf' })).toMatchObject(failing('FILE_NOT_FOUND'));
    const made = { path: 'tree/leaf', parents: true };
    expect(await client.request('make_directory', made)).toMatchObject({ path: at('tree/leaf'), created: true });
    expect(await client.request('make_directory', made)).toMatchObject({ created: false });
    writeFileSync(at('tree/b'), 'bb');
    symlinkSync('b', at('tree/a'));
    const first = await client.request('list_directory', { path: 'tree', limit: 2 });
    expect(first).toMatchObject({
      path: at('tree'),
      entries: [
        { name: 'a', type: 'link', target: 'b' },
        { name: 'b', type: 'file', size: 2 },
      ],
      next: 'b',
    });
    expect(await client.request('list_directory', { path: 'tree', after: 'b' })).toMatchObject({
      entries: [{ name: 'leaf', type: 'directory', size: null }],
      next: null,
    });
    expect(await client.request('list_directory', { path: 'tree/b' })).toMatchObject(failing('NOT_A_DIRECTORY'));
    expect(await client.request('remove_path', { path: 'tree' })).toMatchObject(failing('DIRECTORY_NOT_EMPTY'));
    expect(await client.request('remove_path', { path: 'tree', recursive: true })).toMatchObject({ removed: 4 });
    expect(existsSync(at('tree'))).toBe(false);
  });

  // Not recursively: without the check, that would succeed.
  it.each(['/', '/usr/..'])('%s is not removed', async (path) => {
    expect(await client.request('remove_path', { path })).toMatchObject({
      error: { code: 'FILE_ACCESS_DENIED', message: expect.stringContaining('the root directory') as string },
    });
  });

  it('a link is moved and removed itself, not what it leads to', async () => {
    mkdirSync(at('kept'));
    writeFileSync(at('kept/file'), 'kept');
    symlinkSync('kept', at('way'));
    expect(await client.request('move_path', { path: 'way', to: 'other-way' })).toMatchObject({
      path: at('other-way'),
      replaced: false,
    });
    expect(await client.request('remove_path', { path: 'other-way', recursive: true })).toMatchObject({ removed: 1 });
    expect(readFileSync(at('kept/file'), 'utf8')).toBe('kept');
  });

  it('a move replaces nothing that it was not told to', async () => {
    writeFileSync(at('from'), 'from');
    writeFileSync(at('to'), 'to');
    expect(await client.request('move_path', { path: 'from', to: 'to' })).toMatchObject(failing('FILE_EXISTS'));
    expect(await client.request('move_path', { path: 'from', to: 'kept', overwrite: true })).toMatchObject(
      failing('NOT_A_FILE'),
    );
    expect(readFileSync(at('to'), 'utf8')).toBe('to');
    const moved = await client.request('move_path', { path: 'from', to: 'to', overwrite: true });
    expect(moved).toMatchObject({ replaced: true });
    expect(readFileSync(at('to'), 'utf8')).toBe('from');
    expect(await client.request('move_path', { path: 'from', to: 'x' })).toMatchObject(failing('FILE_NOT_FOUND'));
  });
});

it('a viewer may do none of this', async () => {
  const token = daemon.createToken('viewer', 'v');
  await using viewer = await WireClient.connect(daemon.url, ['websocket'], { token });
  expect(await viewer.request('read_file', { path: 'text' })).toMatchObject(failing('FORBIDDEN'));
  expect(await viewer.request('stat_path', { path: 'text' })).toMatchObject(failing('FORBIDDEN'));
});

it('the audit log has each request with its path, and no content', async () => {
  await write({ path: 'recorded', data: 'content-that-is-not-recorded' });
  await edit({ path: 'recorded', old_text: 'content-that', new_text: 'content-which' });
  await daemon.stop();
  const log = readFileSync(daemon.auditFile, 'utf8');
  expect(log).toMatch(/"request":"write_file".*"path":"recorded"/);
  expect(log).toMatch(/"request":"edit_file".*"path":"recorded"/);
  expect(log).not.toContain('content-');
});

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ERROR_CATALOGUE } from '../../../src/core/error-catalogue.js';
import type { RequestName } from '../../../src/core/protocol/requests.js';
import { TestDaemon } from '../../support/daemon.js';
import { askRest } from '../../support/network/rest.js';

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await TestDaemon.start({
    settings: { confirmation: { mode: 'self', rules: [{ action: 'deny', path: '**/forbidden', reason: 'no' }] } },
    // Larger files than the limit of the shells are what a full disk looks like.
    launcher: ['prlimit', '--fsize=4194304'],
  });
  const at = (name: string) => join(daemon.workspace, name);
  writeFileSync(at('text'), 'one\ntwo\n');
  writeFileSync(at('binary'), Buffer.from([0, 255]));
  writeFileSync(at('twice'), 'x x');
  writeFileSync(at('long'), Buffer.alloc(4_194_300, 'x'));
  mkdirSync(at('full'));
  writeFileSync(at('full/inner'), '');
  symlinkSync('nowhere', at('dangling'));
  chmodSync(at('binary'), 0o640);
});
afterAll(() => daemon[Symbol.asyncDispose]());

type Row = readonly [name: RequestName, payload: object, expected: object];

describe('over HTTP', () => {
  it.each<Row>([
    ['write_file', { path: 'w', data: { base64: 'AP8=' } }, { size: 2, created: true }],
    ['write_file', { path: 'w', data: 'x', mode: 'append' }, { size: 3, created: false }],
    ['read_file', { path: 'w' }, { data: { base64: 'AP94' }, size: 3, eof: true }],
    ['read_file', { path: 'text', encoding: 'utf8' }, { data: 'one\ntwo\n' }],
    ['read_file', { path: 'text', from_line: 2, line_numbers: true }, { data: '2\ttwo\n', lines: 1 }],
    ['edit_file', { path: 'text', old_text: 'two', new_text: '2' }, { replaced: 1 }],
    ['list_directory', { path: 'full' }, { entries: [{ name: 'inner', type: 'file', size: 0 }], next: null }],
    ['stat_path', { path: 'binary', hash: true }, { type: 'file', size: 2, mode: '640' }],
    ['stat_path', { path: 'dangling' }, { type: 'link', target: 'nowhere' }],
    ['make_directory', { path: 'a/b', parents: true }, { created: true }],
    ['move_path', { path: 'w', to: 'a/w' }, { replaced: false }],
    ['find_files', { path: 'a', pattern: 'w' }, { matches: [{ path: 'w', size: 3 }], stopped: null }],
    ['search_files', { pattern: 'one', glob: 'text' }, { matches: [{ path: 'text', line: 1, text: 'one' }] }],
    ['remove_path', { path: 'a', recursive: true }, { removed: 3 }],
  ])('%s %j', async (name, payload, expected) => {
    const { status, body } = await askRest(daemon.url, name, payload);
    expect(body).toMatchObject(expected);
    expect(status).toBe(200);
  });

  it.each<readonly [RequestName, object, keyof typeof ERROR_CATALOGUE]>([
    ['read_file', { path: 'missing' }, 'FILE_NOT_FOUND'],
    ['read_file', { path: 'full' }, 'NOT_A_FILE'],
    ['read_file', { path: 'text/below' }, 'NOT_A_DIRECTORY'],
    ['read_file', { path: 'binary', encoding: 'utf8' }, 'NOT_TEXT'],
    ['read_file', { path: 'dangling' }, 'FILE_NOT_FOUND'],
    ['read_file', { path: 'forbidden' }, 'COMMAND_DENIED'],
    ['read_file', { path: 'text', session_id: 'gone' }, 'SESSION_NOT_FOUND'],
    ['read_file', { path: 'text', offset: -1 }, 'INVALID_REQUEST'],
    ['write_file', { path: 'full', data: '' }, 'NOT_A_FILE'],
    ['write_file', { path: 'no/such', data: '' }, 'FILE_NOT_FOUND'],
    ['write_file', { path: 'text', data: '', mode: 'create' }, 'FILE_EXISTS'],
    ['write_file', { path: 'text', data: '', expected_sha256: '0'.repeat(64) }, 'FILE_CHANGED'],
    ['write_file', { path: 'x', data: '?', encoding: 'base64' }, 'INVALID_REQUEST'],
    ['write_file', { path: 'long', data: 'too much', mode: 'append' }, 'FILE_TOO_LARGE'],
    ['write_file', { path: 'n'.repeat(300), data: '' }, 'INVALID_REQUEST'],
    ['edit_file', { path: 'missing', old_text: 'a', new_text: 'b' }, 'FILE_NOT_FOUND'],
    ['edit_file', { path: 'twice', old_text: 'no', new_text: 'b' }, 'TEXT_NOT_FOUND'],
    ['edit_file', { path: 'twice', old_text: 'x', new_text: 'y' }, 'TEXT_NOT_UNIQUE'],
    ['edit_file', { path: 'binary', old_text: 'x', new_text: 'y' }, 'NOT_TEXT'],
    ['list_directory', { path: 'text' }, 'NOT_A_DIRECTORY'],
    ['list_directory', { path: 'missing' }, 'FILE_NOT_FOUND'],
    ['stat_path', { path: 'missing' }, 'FILE_NOT_FOUND'],
    ['stat_path', { path: '/proc/version' }, 'NOT_A_FILE'],
    ['make_directory', { path: 'full' }, 'FILE_EXISTS'],
    ['make_directory', { path: 'no/such' }, 'FILE_NOT_FOUND'],
    ['move_path', { path: 'missing', to: 'x' }, 'FILE_NOT_FOUND'],
    ['move_path', { path: 'text', to: 'twice' }, 'FILE_EXISTS'],
    ['remove_path', { path: 'missing' }, 'FILE_NOT_FOUND'],
    ['remove_path', { path: 'full' }, 'DIRECTORY_NOT_EMPTY'],
    ['find_files', { path: 'missing' }, 'FILE_NOT_FOUND'],
    ['search_files', { pattern: '(', regex: true }, 'INVALID_REQUEST'],
    ['search_files', { path: 'missing', pattern: 'x' }, 'FILE_NOT_FOUND'],
  ])('%s %j fails with %s and its status', async (name, payload, code) => {
    const { status, body } = await askRest(daemon.url, name, payload);
    expect([body.error?.code, status]).toEqual([code, ERROR_CATALOGUE[code].status]);
    expect(body.error?.message).toBeTruthy();
  });
});

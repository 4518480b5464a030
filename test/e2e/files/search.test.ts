import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { RequestInput } from '../../../src/core/protocol/requests.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';

let daemon: TestDaemon;
let client: WireClient;

const FILES: Readonly<Record<string, string | Buffer>> = {
  '.gitignore': '*.log\n/out/\n',
  '.git/config': 'needle\n',
  'a.c': 'one\nneedle in a\n',
  'out/built.c': 'needle\n',
  'src/b.c': 'Needle\nneedle in b',
  'src/x.log': 'needle\n',
  'src/kept/.gitignore': '!*.log\n',
  'src/kept/y.log': 'needle\n',
  'src/binary': Buffer.from('needle\0'),
};

beforeAll(async () => {
  daemon = await TestDaemon.start({ settings: { confirmation: { mode: 'self' } } });
  client = await WireClient.connect(daemon.url);
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(daemon.workspace, path)), { recursive: true });
    writeFileSync(join(daemon.workspace, path), content);
  }
  symlinkSync('src', join(daemon.workspace, 'link'));
  execFileSync('mkfifo', [join(daemon.workspace, 'pipe')]);
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

describe('find_files', () => {
  const found = async (request: RequestInput<'find_files'>) => {
    const { matches, ...rest } = await client.request('find_files', request);
    expect(rest).toMatchObject({ stopped: null });
    return matches.map(({ path }) => path);
  };

  it('finds by glob and kind, without what is ignored, and without following links', async () => {
    expect(await found({ pattern: '*.c' })).toEqual(['a.c', 'src/b.c']);
    expect(await found({ pattern: '*.{c,log}', include_ignored: true })).toEqual([
      'a.c',
      'out/built.c',
      'src/b.c',
      'src/kept/y.log',
      'src/x.log',
    ]);
    expect(await found({ type: 'directory' })).toEqual(['src', 'src/kept']);
    expect(await found({ type: 'link' })).toEqual(['link']);
    expect(await found({ path: 'src', pattern: '*' })).toEqual([
      'b.c',
      'binary',
      'kept',
      'kept/.gitignore',
      'kept/y.log',
    ]);
  });

  it('says that it has stopped at the limit', async () => {
    const answer = await client.request('find_files', { type: 'file', limit: 2 });
    expect(answer).toMatchObject({ matches: [{ path: '.gitignore', size: 12 }, { path: 'a.c' }], stopped: 'limit' });
  });

  it('refuses what is no glob, and what is no directory', async () => {
    expect(await client.request('find_files', { pattern: '[z-a]' })).toMatchObject({
      error: { code: 'INVALID_REQUEST' },
    });
    expect(await client.request('find_files', { path: 'none' })).toMatchObject({ error: { code: 'FILE_NOT_FOUND' } });
  });
});

describe('search_files', () => {
  const search = (request: RequestInput<'search_files'>) => client.request('search_files', request);

  it('finds lines, with their number, place and file', async () => {
    expect(await search({ pattern: 'needle' })).toMatchObject({
      path: daemon.workspace,
      matches: [
        { path: 'a.c', line: 2, offset: 4, text: 'needle in a' },
        { path: 'src/b.c', line: 2, offset: 7, text: 'needle in b' },
        { path: 'src/kept/y.log', line: 1, offset: 0, text: 'needle' },
      ],
      skipped: 1,
      stopped: null,
    });
  });

  it('takes regular expressions, globs, a single file, and a limit', async () => {
    const { matches } = await search({ pattern: '^needle.*b$', regex: true, ignore_case: true, glob: '*.c' });
    expect(matches).toMatchObject([{ path: 'src/b.c', line: 2 }]);
    expect(await search({ path: 'src/b.c', pattern: 'n' })).toMatchObject({ matches: [{ path: 'b.c', line: 2 }] });
    expect(await search({ pattern: 'needle', limit: 1 })).toMatchObject({
      matches: [{ path: 'a.c' }],
      stopped: 'limit',
    });
    expect(await search({ pattern: '(', regex: true })).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
  });

  it('has a search in credentials confirmed', async () => {
    writeFileSync(join(daemon.workspace, '.env'), 'KEY=1\n');
    expect(await search({ path: '.env', pattern: 'KEY' })).toMatchObject({
      status: 'confirmation_required',
      matches: [],
    });
  });
});

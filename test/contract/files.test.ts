import { EventEmitter, once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, symlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { performerWith } from '../../src/engine/files/perform.js';
import { linux } from '../../src/engine/platform/linux/linux.js';
import { posix } from '../../src/engine/platform/posix/posix.js';
import { CheckpointBench } from '../integration/engine/checkpoints/bench.js';
import { makeTree, removeTree } from '../support/tree.js';

/** How files are reached, by each platform. */
describe.each([linux, posix])('files on the platform $name', ({ name: platform, can, directories }) => {
  const files = performerWith(directories);
  const writing = { kind: 'write', createDirectories: true, permissions: undefined, expected: {} } as const;
  let folder: string;
  const path = (...names: string[]) => join(folder, ...names);
  const at = (...names: string[]) => ({ path: path(...names) });

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'shell-adapter-files-')));
  });
  afterEach(() => {
    removeTree(folder);
  });

  it('are written into new directories, read, described and edited', async () => {
    const content = Buffer.from('one\ntwo\n');
    await files.perform({ ...writing, at: at('a/b/c'), mode: 'create' }, content);
    const read = await files.perform({ kind: 'read', at: at('a/b/c'), offset: 0, length: 100 });
    expect(Buffer.from(read.data)).toEqual(content);
    const edit = { kind: 'edit', at: at('a/b/c'), oldText: 'two', newText: 'ten', all: false, expected: {} } as const;
    expect(await files.perform(edit)).toMatchObject({ replaced: 1 });
    symlinkSync('a/b/c', path('link'));
    const described = await files.perform({ kind: 'describe', at: at('link'), hash: false });
    expect(described).toMatchObject({ type: 'file', size: 8, realPath: path('a/b/c'), target: 'a/b/c' });
    expect(readFileSync(path('link'), 'utf8')).toBe('one\nten\n');
  });

  it('are listed, found and searched without following links', async () => {
    makeTree(folder, { 'dir/x.txt': 'needle\n', 'dir/deep/y.txt': 'hay\n', out: { link: '/etc' } });
    const listed = await files.perform({ kind: 'list', at: { path: folder }, after: undefined, limit: 10 });
    expect(listed.entries.map(({ name, type }) => [name, type])).toEqual([
      ['dir', 'directory'],
      ['out', 'link'],
    ]);
    const top = { at: { path: folder }, includeIgnored: true, limit: 10 };
    const found = await files.perform({ kind: 'find', ...top, pattern: undefined, type: undefined });
    expect(found.matches.map((match) => match.path)).toEqual(['dir', 'dir/deep', 'dir/deep/y.txt', 'dir/x.txt', 'out']);
    const search = {
      kind: 'search',
      ...top,
      glob: undefined,
      pattern: 'needle',
      regex: false,
      ignoreCase: false,
    } as const;
    expect((await files.perform(search)).matches).toMatchObject([{ path: 'dir/x.txt' }]);
    const root = await files.perform({ kind: 'list', at: { path: '/' }, after: undefined, limit: 1000 });
    expect(root.entries.map(({ name }) => name)).toContain('etc');
  });

  it('are moved, and removed with all that is below', async () => {
    makeTree(folder, { 'dir/x/y/z.txt': 'z', 'dir/out': { link: '/etc' } });
    await files.perform({ kind: 'move', at: at('dir'), to: at('moved'), overwrite: false });
    expect(readFileSync(path('moved/x/y/z.txt'), 'utf8')).toBe('z');
    expect(await files.perform({ kind: 'remove', at: at('moved'), recursive: true })).toEqual({ removed: 5 });
    expect([existsSync(path('moved')), existsSync('/etc/passwd')]).toEqual([false, true]);
  });

  it('are watched', async () => {
    makeTree(folder, { 'dir/x.txt': '1' });
    const seen = new EventEmitter();
    const batch = once(seen, 'batch');
    const job = { at: [{ path: folder }], isRecursive: true, debounceMs: 10 };
    await using _ = await files.watch(job, (changes) => seen.emit('batch', changes));
    await writeFile(path('dir/y.txt'), '2');
    expect((await batch)[0]).toMatchObject({ changes: [{ path: path('dir/y.txt'), change: 'created' }] });
  });

  it('are not changed where the path leads elsewhere than it did', async () => {
    makeTree(folder, { 'dir/': '', 'other/': '' });
    const judged = { path: path('dir/x'), real: path('dir/x') };
    renameSync(path('dir'), path('old'));
    symlinkSync('other', path('dir'));
    const refused = files.perform({ ...writing, at: judged, mode: 'create' }, Buffer.from('x'));
    await expect(refused).rejects.toMatchObject({ code: 'FILE_CHANGED' });
    expect([existsSync(path('other/x')), existsSync(path('old/x'))]).toEqual([false, false]);
  });

  it('that are received while their directory is exchanged are not placed in another one', async () => {
    makeTree(folder, { 'dir/': '' });
    async function* exchanging() {
      yield await Promise.resolve(Buffer.from('x'));
      renameSync(path('dir'), path('old'));
      mkdirSync(path('dir'));
      yield Buffer.from('y');
    }
    const received = files.receive({ ...writing, at: at('dir/x'), mode: 'create' }, exchanging());
    if (can.heldPaths) await received;
    else await expect(received).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    expect([existsSync(path('old/x')), existsSync(path('dir/x'))]).toEqual([can.heldPaths, false]);
  });

  it('come back from a checkpoint as they were', async () => {
    using bench = new CheckpointBench(
      {
        'a.txt': 'a',
        'dir/b.txt': 'b',
        'dir/empty/': '',
        'caf\xe9 \xff': 'odd',
        link: { link: '/etc' },
        'shut/inner': 'i',
        'shut/': { mode: 0o500 },
      },
      { platform, workspace: path('workspace') },
    );
    const saved = bench.tree;
    const { id } = await bench.save();
    removeTree(bench.workspace);
    makeTree(bench.workspace, { 'a.txt/x': '', dir: { link: '/etc' }, new: 'n' });
    expect(await bench.changes(id)).toContain('added new');
    await bench.restore(id);
    expect(bench.tree).toEqual(saved);
    expect(await bench.changes(id)).toEqual([]);
  });
});

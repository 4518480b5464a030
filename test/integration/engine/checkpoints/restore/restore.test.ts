import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { fromText } from '../../../../../src/engine/checkpoints/git/git.js';
import { describeTree, makeTree } from '../../../../support/tree.js';
import { CheckpointBench } from '../bench.js';

const SPEC = {
  'a.txt': 'a\n',
  'dir/b.txt': 'b\n',
  'dir/c.txt': 'c\n',
  'dir/sub/d.txt': 'd\n',
  'dir/empty/': '',
  link: { link: 'dir' },
  'other/e.txt': 'e\n',
};

describe('a restore', () => {
  it('tells what came back and what went', async () => {
    using bench = new CheckpointBench(SPEC);
    const { workspace } = bench;
    const { id } = await bench.save();
    writeFileSync(join(workspace, 'a.txt'), 'changed\n');
    rmSync(join(workspace, 'dir/sub'), { recursive: true });
    rmSync(join(workspace, 'dir/empty'), { recursive: true });
    chmodSync(join(workspace, 'dir/b.txt'), 0o600);
    makeTree(workspace, { 'new/deep/f.txt': '', 'bare/': '' });
    expect(await bench.changes(id)).toEqual([
      'modified a.txt',
      'added bare/',
      'mode_changed dir/b.txt',
      'deleted dir/empty/',
      'deleted dir/sub/d.txt',
      'added new/deep/f.txt',
    ]);
    const { restored, removed, skipped } = await bench.restore(id);
    expect(restored).toEqual({ shown: ['a.txt', 'dir/b.txt', 'dir/empty', 'dir/sub/d.txt'], count: 4 });
    expect(removed).toEqual({ shown: ['bare', 'new/deep/f.txt'], count: 2 });
    expect(skipped.count).toBe(0);
  });

  it('of a path of which not all bytes are UTF-8 takes it as it is shown', async () => {
    using bench = new CheckpointBench({ 'caf\xe9': '1', 'caf\xc3\xa9': '2' });
    const { id } = await bench.save();
    for (const name of ['caf\xe9', 'caf\xc3\xa9']) makeTree(bench.workspace, { [name]: 'changed' });
    const { restored } = await bench.restore(id, [fromText('caf\u{fffd}')]);
    expect(restored.shown).toEqual(['caf\u{fffd}']);
    expect(await bench.changes(id)).toEqual(['modified café']);
  });

  it('of a workspace that has not changed does nothing, and says so', async () => {
    using bench = new CheckpointBench(SPEC);
    const { id } = await bench.save();
    const { restored, removed } = await bench.restore(id);
    expect([restored.count, removed.count]).toEqual([0, 0]);
  });

  it.each([
    ['a file', ['a.txt'], ['a.txt']],
    ['a directory, with all in it', ['dir'], ['dir/b.txt', 'dir/c.txt', 'dir/empty', 'dir/sub/d.txt']],
    ['a file in a directory that has gone, which is made for it', ['dir/sub/d.txt'], ['dir/sub/d.txt']],
    ['several', ['other', 'dir/empty'], ['dir/empty', 'other/e.txt']],
    ['a link, not what it leads to', ['link'], ['link']],
  ])('of paths touches nothing else: %s', async (_what, paths, expected) => {
    using bench = new CheckpointBench(SPEC);
    const saved = bench.tree;
    const { id } = await bench.save();
    rmSync(bench.workspace, { recursive: true });
    makeTree(bench.workspace, { 'new.txt': 'stays' });
    const { restored, removed } = await bench.restore(id, paths);
    expect(restored.shown).toEqual(expected);
    expect(removed.count).toBe(0);
    const { 'new.txt': fresh, ...rest } = bench.tree;
    expect(fresh).toContain('stays');
    expect(saved).toMatchObject(rest);
    expect(Object.keys(rest)).not.toContain(paths.includes('a.txt') ? 'link' : 'a.txt');
  });

  it('of a path that the checkpoint does not have removes it', async () => {
    using bench = new CheckpointBench(SPEC);
    const { id } = await bench.save();
    makeTree(bench.workspace, { 'new/x': '1', 'new/y': '2', 'dir/z': '3' });
    const { removed } = await bench.restore(id, ['new/x', 'dir/z']);
    expect(removed.shown).toEqual(['dir/z', 'new/x']);
    expect(await bench.changes(id)).toEqual(['added new/y']);
  });

  it('of a path below what is a file by now puts the directory back in its place', async () => {
    using bench = new CheckpointBench(SPEC);
    const { id } = await bench.save();
    rmSync(join(bench.workspace, 'dir'), { recursive: true });
    writeFileSync(join(bench.workspace, 'dir'), 'in the way');
    await bench.restore(id, ['dir/sub']);
    expect(Object.keys(bench.tree)).toEqual([
      'a.txt',
      'dir/',
      'dir/sub/',
      'dir/sub/d.txt',
      'link',
      'other/',
      'other/e.txt',
    ]);
  });

  it('of a path that is nowhere is refused', async () => {
    using bench = new CheckpointBench(SPEC);
    const { id } = await bench.save();
    await expect(bench.restore(id, ['dir/typo'])).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'paths', path: 'dir/typo' },
    });
    await expect(bench.diff(id, { paths: ['typo'] })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('of an unknown checkpoint is refused', async () => {
    using bench = new CheckpointBench(SPEC);
    await bench.save();
    await expect(bench.restore('checkpoint_unknown')).rejects.toMatchObject({
      code: 'CHECKPOINT_NOT_FOUND',
      details: { checkpoint_id: 'checkpoint_unknown' },
    });
  });

  it('never writes through a link that leads out, whatever has become one', async () => {
    using bench = new CheckpointBench(SPEC);
    const outside = join(bench.folder, 'outside');
    makeTree(outside, { 'b.txt': 'theirs', 'sub/d.txt': 'theirs', file: 'theirs' });
    const before = describeTree(outside);
    const { id } = await bench.save();
    const saved = bench.tree;
    rmSync(join(bench.workspace, 'dir'), { recursive: true });
    rmSync(join(bench.workspace, 'a.txt'));
    rmSync(join(bench.workspace, 'other/e.txt'));
    symlinkSync(outside, join(bench.workspace, 'dir'));
    symlinkSync(join(outside, 'file'), join(bench.workspace, 'a.txt'));
    symlinkSync('../../outside/none', join(bench.workspace, 'other/e.txt'));
    await bench.restore(id, ['dir/b.txt', 'dir/sub']);
    expect(describeTree(outside)).toEqual(before);
    await bench.restore(id);
    expect(bench.tree).toEqual(saved);
    expect(describeTree(outside)).toEqual(before);
  });

  it('does not change the other names of a file with several', async () => {
    using bench = new CheckpointBench(SPEC);
    const { id } = await bench.save();
    const outside = join(bench.folder, 'outside');
    writeFileSync(outside, 'mine');
    rmSync(join(bench.workspace, 'a.txt'));
    execFileSync('ln', [outside, join(bench.workspace, 'a.txt')]);
    await bench.restore(id);
    expect(describeTree(bench.folder)['outside']).toContain('mine');
  });
});

describe('what cannot be saved', () => {
  const makeFifo = (path: string) => execFileSync('mkfifo', [path]);

  it('is skipped and told, and a restore neither removes nor replaces it', async () => {
    using bench = new CheckpointBench({ ...SPEC, 'big.bin': Buffer.alloc(2000, 1) });
    bench.limit({ maxFileBytes: 1000 });
    makeFifo(join(bench.workspace, 'dir/pipe'));
    const { id, skipped, files } = await bench.save();
    expect(files).toBe(6);
    expect(skipped.shown).toEqual([
      { path: 'big.bin', reason: 'too_large' },
      { path: 'dir/pipe', reason: 'special' },
    ]);
    const saved = bench.tree;
    writeFileSync(join(bench.workspace, 'dir/b.txt'), 'x');
    makeTree(bench.workspace, { 'later.bin': Buffer.alloc(2000, 2), 'new/later.bin': Buffer.alloc(2000, 3) });
    const { skipped: left, removed } = await bench.restore(id);
    expect(left.shown).toEqual([{ path: 'new/later.bin', reason: 'too_large' }]);
    expect(removed.count).toBe(0);
    const rest = Object.entries(bench.tree).filter(([path]) => !path.includes('later') && path !== 'new/');
    expect(Object.fromEntries(rest)).toEqual(saved);
  });

  it('is left in the way of what was there, and told', async () => {
    using bench = new CheckpointBench(SPEC);
    const { id } = await bench.save();
    rmSync(join(bench.workspace, 'dir'), { recursive: true });
    rmSync(join(bench.workspace, 'a.txt'));
    makeFifo(join(bench.workspace, 'dir'));
    mkdirSync(join(bench.workspace, 'a.txt'));
    makeFifo(join(bench.workspace, 'a.txt/pipe'));
    writeFileSync(join(bench.workspace, 'other/e.txt'), 'changed');
    const { skipped, restored } = await bench.restore(id);
    expect(skipped.shown).toEqual([
      { path: 'a.txt/pipe', reason: 'special' },
      { path: 'dir', reason: 'special' },
    ]);
    expect(restored.shown).toEqual(['other/e.txt']);
  });

  it('is told when it was not saved and is gone or another file by now', async () => {
    using bench = new CheckpointBench({ 'big.bin': Buffer.alloc(2000, 1), 'bigger.bin': Buffer.alloc(3000, 1) });
    bench.limit({ maxFileBytes: 1000 });
    const { id } = await bench.save();
    rmSync(join(bench.workspace, 'big.bin'));
    writeFileSync(join(bench.workspace, 'bigger.bin'), 'small now');
    const { skipped, removed } = await bench.restore(id);
    expect(skipped.shown).toEqual([
      { path: 'big.bin', reason: 'too_large' },
      { path: 'bigger.bin', reason: 'too_large' },
    ]);
    expect(removed.count).toBe(0);
    expect(bench.tree['bigger.bin']).toContain('small now');
  });

  it('what is the daemon’s own is no part of the workspace', async () => {
    using bench = new CheckpointBench({ 'logs/adapter.log': 'then', 'state/secret': '1', 'logs/mine.txt': 'm' });
    bench.options = {
      ...bench.options,
      excluded: [join(bench.workspace, 'logs/adapter.log'), join(bench.workspace, 'state'), '/somewhere/else'],
    };
    const { id, skipped, files } = await bench.save();
    expect([files, skipped.count]).toEqual([1, 0]);
    appendFileSync(join(bench.workspace, 'logs/adapter.log'), ' and now');
    rmSync(join(bench.workspace, 'logs/mine.txt'));
    await bench.restore(id);
    expect(bench.tree).toMatchObject({ 'logs/adapter.log': expect.stringContaining('then and now') as string });
    expect(Object.keys(bench.tree)).toEqual(['logs/', 'logs/adapter.log', 'logs/mine.txt', 'state/', 'state/secret']);
  });
});

describe('a workspace with too much', () => {
  it.each([
    ['max_files', { maxFiles: 8 }],
    ['max_workspace_mb', { maxWorkspaceBytes: 9 }],
  ])('in terms of %s is refused with the limit, and nothing is stored or changed', async (limit, limits) => {
    using bench = new CheckpointBench(SPEC);
    const { id } = await bench.save();
    bench.limit(limits);
    const tooLarge = { code: 'CHECKPOINT_TOO_LARGE', details: { limit: `checkpoints.${limit}` } };
    const before = bench.tree;
    await expect(bench.save()).rejects.toMatchObject(tooLarge);
    await expect(bench.restore(id)).rejects.toMatchObject(tooLarge);
    expect(bench.tree).toEqual(before);
    expect((await bench.run({ kind: 'list', scope: null })).map((checkpoint) => checkpoint.id)).toEqual([id]);
  });
});

describe('a diff', () => {
  it('is with the newest checkpoint unless told otherwise', async () => {
    using bench = new CheckpointBench(SPEC);
    await expect(bench.diff(null)).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
    await bench.save();
    writeFileSync(join(bench.workspace, 'a.txt'), 'b\n');
    const { id } = await bench.save();
    expect(await bench.diff(null)).toMatchObject({ checkpointId: id, changes: { count: 0 } });
  });

  it('counts lines, and knows what is not text', async () => {
    using bench = new CheckpointBench({ 't.txt': '1\n2\n3\n', 'b.bin': 'a\0b', 'x.sh': 'x', d: '1\n' });
    const { id } = await bench.save();
    makeTree(bench.workspace, { 't.txt': '1\n3\n4\n5\n', 'b.bin': 'a\0c', 'tab\tname': 'n\n', 'new/': '' });
    chmodSync(join(bench.workspace, 'x.sh'), 0o755);
    rmSync(join(bench.workspace, 'd'));
    symlinkSync('t.txt', join(bench.workspace, 'd'));
    const { changes } = await bench.diff(id, { format: 'stat' });
    expect(changes.shown).toEqual([
      { path: 'b.bin', status: 'modified', insertions: null, deletions: null },
      { path: 'd', status: 'type_changed', insertions: 1, deletions: 1 },
      { path: 'new/', status: 'added' },
      { path: 't.txt', status: 'modified', insertions: 2, deletions: 1 },
      { path: 'tab\tname', status: 'added', insertions: 1, deletions: 0 },
      { path: 'x.sh', status: 'mode_changed', insertions: 0, deletions: 0 },
    ]);
  });

  it('makes a patch that patch programs take, of the paths alone that are wanted', async () => {
    using bench = new CheckpointBench({ 'src/a.c': 'int a;\n', 'b.bin': everyByte(), [bytesOf('café "x"')]: 'old\n' });
    const { id } = await bench.save();
    makeTree(bench.workspace, { 'src/a.c': 'int b;\n', [bytesOf('café "x"')]: 'new\n', 'src/n.c': 'new\n' });
    const { patch } = await bench.diff(id, { format: 'patch' });
    expect(patch?.text).toContain('--- a/src/a.c\n+++ b/src/a.c\n@@ -1 +1 @@\n-int a;\n+int b;\n');
    await bench.restore(id);
    execFileSync('git', ['apply', '-'], { cwd: bench.workspace, input: patch?.text });
    expect(bench.tree['src/n.c']).toContain('new');
    const only = await bench.diff(id, { format: 'patch', paths: ['src/n.c', bytesOf('café "x"')] });
    expect(only.patch?.text).not.toContain('src/a.c');
    expect(only.changes.shown.map(({ path }) => path)).toEqual(['café "x"', 'src/n.c']);
  });

  it('trims a long patch, and tells how long it was', async () => {
    using bench = new CheckpointBench({ 'a.txt': '' });
    const { id } = await bench.save();
    writeFileSync(join(bench.workspace, 'a.txt'), 'line\n'.repeat(50_000));
    const { patch } = await bench.diff(id, { format: 'patch' });
    expect(patch).toMatchObject({ isTruncated: true, isLossy: false });
    expect(patch!.characters).toBeGreaterThan(300_000);
    expect(patch!.text.length).toBeLessThan(31_000);
    expect(patch!.text).toMatch(/characters left out; HINT \.\.\.\]\n/);
  });

  it('shows paths of which not all bytes are UTF-8 as well as can be', async () => {
    using bench = new CheckpointBench();
    const { id } = await bench.save();
    makeTree(bench.workspace, { 'caf\xe9': '1', 'caf\xc3\xa9': '2' });
    expect(await bench.changes(id)).toEqual(['added café', 'added caf\u{fffd}']);
  });
});

const bytesOf = (text: string) => Buffer.from(text).toString('latin1');

const everyByte = () => Buffer.from(Uint8Array.from({ length: 256 }, (_, index) => index));

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from 'vitest';

import { useDaemon } from '../support/daemon-and-client.js';
import { TestDaemon } from '../support/daemon.js';
import { eventually } from '../support/measure.js';
import { describeTree, makeTree } from '../support/tree.js';
import { WireClient } from '../support/wire.js';
import { makeFolder } from './cli/support.js';

let daemon: TestDaemon;
let client: WireClient;
const file = (name: string) => join(daemon.workspace, name);

useDaemon((started) => ({ daemon, client } = started), { settings: { checkpoints: { max_files: 50, max_count: 6 } } });

/** Empties the workspace and fills it anew. */
function fill(spec: Parameters<typeof makeTree>[1]): void {
  for (const name of readdirSync(daemon.workspace)) rmSync(file(name), { recursive: true });
  makeTree(daemon.workspace, spec);
}

describe('checkpoints over the wire', () => {
  it('save, list, compare and restore what commands have done, and undo it', async () => {
    fill({ 'src/main.c': 'int main;\n', 'notes.txt': 'keep\n', '.gitignore': 'build\n', 'build/out': 'ignored' });
    const saved = await client.request('checkpoint_workspace', { label: 'before' });
    expect(saved.error).toBeUndefined();
    expect(saved).toMatchObject({
      kind: 'requested',
      label: 'before',
      files: 4,
      bytes: 28,
      skipped: [],
      skipped_count: 0,
      dropped: [],
    });
    const { checkpoint_id: id } = saved;
    expect(id).toMatch(/^checkpoint_[\w-]{22}$/);
    expect(Date.parse(saved.created_at)).toBeLessThanOrEqual(Date.now());
    const before = describeTree(daemon.workspace);
    await client.run('rm -rf src build; echo more >> notes.txt; mkdir -p new; date > new/file');
    const after = describeTree(daemon.workspace);
    const diff = await client.request('diff_workspace', { checkpoint_id: id });
    expect(diff).toMatchObject({
      checkpoint_id: id,
      change_count: 4,
      changes: [
        { path: 'build/out', status: 'deleted' },
        { path: 'new/file', status: 'added' },
        { path: 'notes.txt', status: 'modified' },
        { path: 'src/main.c', status: 'deleted' },
      ],
      patch: null,
    });
    const stat = await client.request('diff_workspace', { format: 'stat', paths: ['notes.txt'] });
    expect(stat.changes).toEqual([{ path: 'notes.txt', status: 'modified', insertions: 1, deletions: 0 }]);
    const restored = await client.request('restore_workspace', { checkpoint_id: id });
    expect(restored).toMatchObject({
      restored: ['build/out', 'notes.txt', 'src/main.c'],
      restored_count: 3,
      removed: ['new/file'],
      removed_count: 1,
      skipped: [],
    });
    expect(describeTree(daemon.workspace)).toEqual(before);
    await client.request('restore_workspace', { checkpoint_id: restored.undo_checkpoint_id ?? '' });
    expect(describeTree(daemon.workspace)).toEqual(after);
    const { checkpoints } = await client.request('list_checkpoints', {});
    expect(checkpoints.map(({ kind, label }) => [kind, label])).toEqual([
      ['requested', 'before'],
      ['before_restore', `before the restore of ${id}`],
      ['before_restore', `before the restore of ${restored.undo_checkpoint_id}`],
    ]);
  });

  it('trim a patch as any output, and give its bytes when they are wanted', async () => {
    fill({ 'a.txt': 'caf\u00e9\n' });
    await client.request('checkpoint_workspace', {});
    writeFileSync(file('a.txt'), Buffer.concat([Buffer.from('x\n'.repeat(100_000)), Buffer.from([0xff])]));
    const format = 'patch';
    const trimmed = await client.request('diff_workspace', { format, output: { max_size: 1000 } });
    expect(trimmed).toMatchObject({ patch_truncated: true, encoding: 'utf8', lossy: true });
    expect(trimmed.original_patch_size).toBeGreaterThan(300_000);
    expect(trimmed.patch!.length).toBeLessThan(1200);
    expect(trimmed.patch).toContain('characters left out; name `paths`');
    const exact = await client.request('diff_workspace', {
      format,
      output: { max_size: 1_000_000, encoding: 'base64' },
    });
    expect(exact).toMatchObject({ patch_truncated: false, lossy: false });
    expect(Buffer.from(exact.patch!, 'base64').includes(0xff)).toBe(true);
    const bad = await client.request('diff_workspace', { format, output: { max_size: 1, begin_size: 2 } });
    expect(bad.error).toMatchObject({ code: 'INVALID_REQUEST', details: { field: 'output' } });
  });

  it('make room: a client is told what has gone', async () => {
    fill({ a: '1' });
    const made: string[] = [];
    const dropped: string[] = [];
    for (let time = 0; time < 7; time += 1) {
      const answer = await client.request('checkpoint_workspace', { label: String(time) });
      made.push(answer.checkpoint_id);
      dropped.push(...answer.dropped);
    }
    expect(dropped).toContain(made[0]);
    const gone = await client.request('restore_workspace', { checkpoint_id: made[0]! });
    expect(gone.error).toMatchObject({ code: 'CHECKPOINT_NOT_FOUND', details: { checkpoint_id: made[0] } });
    expect((await client.request('list_checkpoints', {})).checkpoints).toHaveLength(6);
  });
});

describe('what cannot be done', () => {
  const refusals: readonly (readonly [title: string, request: object, error: object])[] = [
    ['an unknown checkpoint', { checkpoint_id: 'nope' }, { code: 'CHECKPOINT_NOT_FOUND' }],
    ['an id that looks like an option', { checkpoint_id: '--all' }, { code: 'CHECKPOINT_NOT_FOUND' }],
    ['an id that leads elsewhere', { checkpoint_id: '../cached' }, { code: 'CHECKPOINT_NOT_FOUND' }],
    ['no id', {}, { code: 'INVALID_REQUEST' }],
    [
      'a path outside',
      { checkpoint_id: 'ID', paths: ['../x'] },
      { code: 'INVALID_REQUEST', details: { path: '../x' } },
    ],
    ['an absolute path outside', { checkpoint_id: 'ID', paths: ['/etc'] }, { code: 'INVALID_REQUEST' }],
    ['a path in a git directory', { checkpoint_id: 'ID', paths: ['.git/hooks'] }, { code: 'INVALID_REQUEST' }],
    ['a path that is nowhere', { checkpoint_id: 'ID', paths: ['typo'] }, { code: 'INVALID_REQUEST' }],
    ['a path with a NUL', { checkpoint_id: 'ID', paths: ['a\0b'] }, { code: 'INVALID_REQUEST' }],
    ['no paths at all', { checkpoint_id: 'ID', paths: [] }, { code: 'INVALID_REQUEST' }],
  ];

  let id: string;
  let before: readonly unknown[];
  beforeAll(async () => {
    fill({ 'a.txt': '1' });
    id = (await client.request('checkpoint_workspace', {})).checkpoint_id;
    writeFileSync(file('a.txt'), '2');
    before = (await client.request('list_checkpoints', {})).checkpoints;
  });

  it.each(refusals)('%s: an error, and the workspace is as it was', async (_title, request, error) => {
    const payload = JSON.parse(JSON.stringify(request).replace('"ID"', JSON.stringify(id))) as {
      checkpoint_id: string;
    };
    const answer = await client.request('restore_workspace', payload);
    expect(answer.error).toMatchObject(error);
    expect(readFileSync(file('a.txt'), 'utf8')).toBe('2');
    // Nor was anything saved for it.
    expect(await client.request('list_checkpoints', {})).toEqual({ checkpoints: before });
  });

  it('a workspace that is gone, or something else by now: an error; a restore makes it anew', async () => {
    fill({ 'a.txt': '1' });
    const saved = await client.request('checkpoint_workspace', {});
    const aside = `${daemon.workspace}.aside`;
    renameSync(daemon.workspace, aside);
    const gone = { code: 'BAD_DIRECTORY', details: { directory: daemon.workspace } };
    expect((await client.request('checkpoint_workspace', {})).error).toMatchObject(gone);
    expect((await client.request('diff_workspace', {})).error).toMatchObject(gone);
    symlinkSync('/etc', daemon.workspace);
    const { checkpoint_id } = saved;
    expect((await client.request('restore_workspace', { checkpoint_id })).error).toMatchObject(gone);
    rmSync(daemon.workspace);
    writeFileSync(daemon.workspace, 'a file');
    expect((await client.request('checkpoint_workspace', {})).error).toMatchObject(gone);
    expect((await client.request('restore_workspace', { checkpoint_id })).error).toMatchObject(gone);
    rmSync(daemon.workspace);
    const restored = await client.request('restore_workspace', { checkpoint_id });
    expect(restored).toMatchObject({ restored: ['a.txt'] });
    expect(describeTree(daemon.workspace)).toEqual(describeTree(aside));
    rmSync(aside, { recursive: true });
  });

  it('a workspace with too many files: an error that names the limit', async () => {
    fill(Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`f${index}`, ''])));
    const { error } = await client.request('checkpoint_workspace', {});
    expect(error).toMatchObject({ code: 'CHECKPOINT_TOO_LARGE', details: { limit: 'checkpoints.max_files', max: 50 } });
  });
});

describe('where things are', () => {
  it('a daemon that is started anew has the checkpoints of its workspace, and not those of another', async () => {
    using folder = makeFolder();
    const state = join(folder.path, 'state');
    const start = (name: string) => {
      mkdirSync(join(folder.path, name), { recursive: true });
      return TestDaemon.startCold({
        settings: { adapter: { state_directory: state, workspace_directory: join(folder.path, name) } },
      });
    };
    const list = async (name: string) => {
      await using one = await start(name);
      await using wire = await WireClient.connect(one.url);
      const before = (await wire.request('list_checkpoints', {})).checkpoints.map(({ label }) => label);
      writeFileSync(join(folder.path, name, 'f'), name);
      await wire.request('checkpoint_workspace', { label: name });
      return before;
    };
    expect(await list('one')).toEqual([]);
    expect(await list('two')).toEqual([]);
    expect(await list('one')).toEqual(['one']);
    symlinkSync('one', join(folder.path, 'alias'));
    expect(await list('alias')).toEqual(['one', 'one']);
  });

  it('the daemon’s own files are left alone when they are in the workspace', async () => {
    using folder = makeFolder();
    const own = {
      adapter: { workspace_directory: folder.path, state_directory: join(folder.path, '.state') },
      logging: { log_file_path: join(folder.path, 'logs/adapter.log'), logging_level: 'debug' },
    };
    await using one = await TestDaemon.startCold({ settings: own });
    await using wire = await WireClient.connect(one.url);
    writeFileSync(join(folder.path, 'mine.txt'), '1');
    const { checkpoint_id: id, files } = await wire.request('checkpoint_workspace', {});
    expect(files).toBe(1);
    await wire.run('echo between; rm mine.txt');
    expect(await wire.request('restore_workspace', { checkpoint_id: id })).toMatchObject({ removed: [] });
    const second = await wire.request('diff_workspace', { checkpoint_id: id });
    expect(second.change_count).toBe(0);
    await wire.openSession();
    // It is the file that the daemon has open: what comes later arrives there.
    await eventually(() => {
      const log = readFileSync(join(folder.path, 'logs/adapter.log'), 'utf8');
      expect(log).toMatch(/the workspace was restored[^]*session opened/);
    });
  });

  it('without git: an error that says so, and everything else works', async () => {
    using folder = makeFolder();
    for (const program of ['bash', 'mkfifo', 'sh']) symlinkSync(`/usr/bin/${program}`, join(folder.path, program));
    await using one = await TestDaemon.startCold({ env: { PATH: folder.path } });
    await using wire = await WireClient.connect(one.url);
    for (const [name, payload] of [
      ['checkpoint_workspace', {}],
      ['list_checkpoints', {}],
      ['diff_workspace', {}],
      ['restore_workspace', { checkpoint_id: 'x' }],
    ] as const) {
      expect((await wire.request(name, payload)).error).toMatchObject({ code: 'GIT_NOT_FOUND' });
    }
    expect(await wire.run('echo works')).toMatchObject({ stdout: 'works\n' });
  });
});

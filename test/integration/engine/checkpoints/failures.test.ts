import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { itRootIf } from '../../../support/root.js';
import { planRestore, type RestorePlan } from '../../../../src/core/restore.js';
import { applyRestore, applyStep, journalOf, recover } from '../../../../src/engine/checkpoints/restore.js';
import { OpenTree } from '../../../../src/engine/checkpoints/files/held-directory.js';
import { Repository } from '../../../../src/engine/checkpoints/git/repository.js';
import { readSavedTree, type Snapshot, takeSnapshot } from '../../../../src/engine/checkpoints/snapshot.js';
import { CAN_SET_OWNERS, StagingDirectory } from '../../../../src/engine/checkpoints/files/staging.js';
import { StatCache } from '../../../../src/engine/checkpoints/files/stat-cache.js';
import { linux } from '../../../../src/engine/platform/linux/linux.js';
import { makeTree, removeTree } from '../../../support/tree.js';
import { canMount, Tmpfs } from '../../../support/machine/tmpfs.js';
import { CheckpointBench } from './bench.js';

const { directories } = linux;
const SPEC = {
  'a.txt': 'a\n',
  'dir/b.txt': 'b\n',
  'dir/sub/d.txt': 'd\n',
  'dir/empty/': '',
  'swap/inner': 'i',
  link: { link: 'dir' },
  'locked/x': 'x',
  'locked/': { mode: 0o500 },
};

/** Changes something of every kind. */
function damage(workspace: string): void {
  writeFileSync(join(workspace, 'a.txt'), 'changed');
  rmSync(join(workspace, 'dir/sub'), { recursive: true });
  rmSync(join(workspace, 'dir/empty'), { recursive: true });
  rmSync(join(workspace, 'swap'), { recursive: true });
  writeFileSync(join(workspace, 'swap'), 'a file now');
  rmSync(join(workspace, 'link'));
  mkdirSync(join(workspace, 'link'));
  writeFileSync(join(workspace, 'link/file'), 'a directory now');
  chmodSync(join(workspace, 'dir/b.txt'), 0o600);
  chmodSync(join(workspace, 'locked'), 0o700);
  writeFileSync(join(workspace, 'locked/x'), 'y');
  makeTree(workspace, { 'new/deep/n': 'n', 'new/locked/z': 'z', 'new/locked/': { mode: 0o500 }, 'hollow/': '' });
  symlinkSync('/etc', join(workspace, 'new/etc'));
}

/** A restore that is planned and not made yet. */
async function planned(
  bench: CheckpointBench,
  id: string,
): Promise<{ plan: RestorePlan; current: Snapshot; git: Repository['git'] }> {
  const repository = await Repository.open({ program: bench.options.git, directory: join(bench.store, 'git') });
  const target = await readSavedTree(repository.git, (await repository.find(id, null)).commit);
  const { workspace, limits } = bench.options;
  const current = await takeSnapshot({
    workspace,
    directories,
    limits,
    repository,
    excluded: new Set(),
    cache: new StatCache(0),
  });
  const plan = planRestore({ current, target, paths: new Set(['']), owners: CAN_SET_OWNERS });
  return { plan, current, git: repository.git };
}

describe('a restore that ends in the middle', () => {
  it('is undone by the next job, whichever step was the last', async () => {
    using bench = new CheckpointBench(SPEC);
    const { id } = await bench.save();
    damage(bench.workspace);
    const damaged = bench.tree;
    const { plan, current, git } = await planned(bench, id);
    expect(new Set(plan.steps.map(({ kind }) => kind)).size).toBe(5);
    const journal = journalOf(bench.store);
    const staging = '.shell-adapter-restore-test';
    for (let count = 0; count <= plan.steps.length; count += 1) {
      {
        using tree = new OpenTree(bench.workspace, directories);
        using directory = StagingDirectory.make(tree.root, staging);
        await directory.fill(git, plan.contents);
        journal.write({ phase: 'moving', staging, undoCheckpoint: id, steps: plan.steps });
        for (const step of plan.steps.slice(0, count)) applyStep(step, { tree, staging: directory }, current.entries);
      }
      expect(recover(bench.workspace, journal, directories)).toBe('undone');
      expect(bench.tree, `after ${count} steps`).toEqual(damaged);
      expect(journal.exists).toBe(false);
    }
  });

  it('leaves nothing behind when it had not begun, or was done', async () => {
    using bench = new CheckpointBench(SPEC);
    const before = bench.tree;
    const journal = journalOf(bench.store);
    mkdirSync(bench.store);
    for (const phase of ['staging', 'done'] as const) {
      const staging = '.shell-adapter-restore-test';
      makeTree(join(bench.workspace, staging), { 'new-0': 'x', 'old-0': { link: '/etc/passwd' } });
      journal.write({ phase, staging, undoCheckpoint: 'x', steps: [] });
      await bench.save();
      expect(bench.tree).toEqual(before);
      expect(journal.exists).toBe(false);
    }
  });

  it('is not undone where somebody else has been at work since: their files stay, and so do the old ones', async () => {
    using bench = new CheckpointBench({ 'a.txt': 'old' });
    const { id } = await bench.save();
    writeFileSync(join(bench.workspace, 'a.txt'), 'damaged');
    const { plan, current, git } = await planned(bench, id);
    const journal = journalOf(bench.store);
    const staging = '.shell-adapter-restore-test';
    {
      using tree = new OpenTree(bench.workspace, directories);
      using directory = StagingDirectory.make(tree.root, staging);
      await directory.fill(git, plan.contents);
      journal.write({ phase: 'moving', staging, undoCheckpoint: 'checkpoint_UNDO', steps: plan.steps });
      applyStep(plan.steps[0]!, { tree, staging: directory }, current.entries);
    }
    writeFileSync(join(bench.workspace, 'a.txt'), 'theirs');
    expect(() => recover(bench.workspace, journal, directories)).toThrow(/checkpoint_UNDO has everything/);
    expect(readFileSync(join(bench.workspace, 'a.txt'), 'utf8')).toBe('theirs');
    expect(readFileSync(join(bench.workspace, staging, 'old-0'), 'utf8')).toBe('damaged');
    // It does not stand in the way of what follows.
    expect(await bench.changes(id)).toEqual(['modified a.txt']);
  });
});

describe('a restore that fails leaves the workspace as it was', () => {
  it('when a file is changed meanwhile', async () => {
    using bench = new CheckpointBench(SPEC);
    const { id } = await bench.save();
    damage(bench.workspace);
    const { plan, current, git } = await planned(bench, id);
    makeTree(bench.workspace, { 'new/deep/n': 'written by a command just now' });
    const before = bench.tree;
    const journal = journalOf(bench.store);
    const { workspace } = bench;
    const restoring = applyRestore({
      workspace,
      directories,
      git,
      journal,
      plan,
      current: current.entries,
      undoCheckpoint: 'x',
      token: 'x',
    });
    await expect(restoring).rejects.toMatchObject({ code: 'RESTORE_FAILED', details: { path: 'new/deep/n' } });
    expect(bench.tree).toEqual(before);
    expect(journal.exists).toBe(false);
  });

  it('when a file has come meanwhile, in a directory that should go or in the place of another', async () => {
    using bench = new CheckpointBench({ 'gone.txt': 'x', 'sub/y': 'y' });
    const { id } = await bench.save();
    rmSync(join(bench.workspace, 'gone.txt'));
    makeTree(bench.workspace, { 'new/n': 'n' });
    for (const late of ['gone.txt', 'new/late']) {
      const { plan, current, git } = await planned(bench, id);
      writeFileSync(join(bench.workspace, late), 'late');
      const before = bench.tree;
      const journal = journalOf(bench.store);
      const { workspace } = bench;
      const names = { undoCheckpoint: 'x', token: 'x' };
      const options = { workspace, directories, git, journal, plan, current: current.entries, ...names };
      await expect(applyRestore(options)).rejects.toMatchObject({ code: 'RESTORE_FAILED' });
      expect(bench.tree).toEqual(before);
      rmSync(join(bench.workspace, late));
    }
  });

  it('when the checkpoint is damaged', async () => {
    using bench = new CheckpointBench(SPEC);
    const { id } = await bench.save();
    damage(bench.workspace);
    const before = bench.tree;
    const git = (...args: string[]) => execFileSync('git', ['-C', join(bench.store, 'git'), ...args]).toString();
    const object = git('rev-parse', `refs/checkpoints/${id}:files/dir/sub/d.txt`).trim();
    rmSync(join(bench.store, 'git/objects', object.slice(0, 2), object.slice(2)));
    await expect(bench.restore(id)).rejects.toMatchObject({ code: 'CHECKPOINT_FAILED' });
    expect(bench.tree).toEqual(before);
    // What is there can be saved all the same.
    const { id: next } = await bench.save();
    expect(await bench.changes(next)).toEqual([]);
  });

  itRootIf(canMount())('when the disk with the workspace is full', async () => {
    using disk = new Tmpfs(8);
    using bench = new CheckpointBench(
      { 'big.bin': Buffer.alloc(5 * 1024 * 1024, 1), 'a.txt': 'a' },
      { workspace: disk.path },
    );
    const { id } = await bench.save();
    rmSync(join(disk.path, 'big.bin'));
    writeFileSync(join(disk.path, 'other.bin'), Buffer.alloc(5 * 1024 * 1024, 2));
    const before = bench.tree;
    await expect(bench.restore(id)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED', details: { errno: 'ENOSPC' } });
    expect(bench.tree).toEqual(before);
  });
});

describe('a store', () => {
  itRootIf(canMount())('on a full disk: an error, and the checkpoints that were there are still good', async () => {
    using disk = new Tmpfs(4);
    using bench = new CheckpointBench({ 'a.txt': 'a' }, { store: join(disk.path, 'store') });
    const { id } = await bench.save();
    const noise = execFileSync('head', ['-c', '6000000', '/dev/urandom'], { maxBuffer: 1e7 });
    writeFileSync(join(bench.workspace, 'noise.bin'), noise);
    const full = { code: 'RESOURCE_EXHAUSTED', details: { errno: 'ENOSPC' } };
    await expect(bench.save()).rejects.toMatchObject(full);
    await expect(bench.restore(id)).rejects.toMatchObject(full);
    expect(statSync(join(bench.workspace, 'noise.bin')).size).toBe(6_000_000);
    rmSync(join(bench.workspace, 'noise.bin'));
    writeFileSync(join(bench.workspace, 'a.txt'), 'b');
    await bench.restore(id);
    expect(bench.tree['a.txt']).toContain('a');
  });

  it('takes no notice of what killed processes have left', async () => {
    using bench = new CheckpointBench(SPEC);
    const { id } = await bench.save();
    const git = join(bench.store, 'git');
    const left = ['index.lock', 'HEAD.lock', 'packed-refs.lock', 'config.lock', 'gc.pid.lock', 'refs/cached.lock'];
    left.push(
      `refs/checkpoints/${id}.lock`,
      'objects/pack/tmp_pack_abc',
      'objects/17/tmp_obj_abc',
      'fast_import_crash_42',
    );
    for (const name of left) {
      mkdirSync(join(git, name, '..'), { recursive: true });
      writeFileSync(join(git, name), '');
    }
    // A process that has ended, and one whose id another has by now.
    for (const owner of ['4194303 1', `${process.pid} 1`]) {
      writeFileSync(join(bench.store, 'lock'), owner);
      const { id: next } = await bench.save();
      await bench.restore(next);
    }
    for (const name of left) expect(existsSync(join(git, name)), name).toBe(false);
  });

  it('whose cache is broken, or belongs to something else, reads everything again', async () => {
    using bench = new CheckpointBench(SPEC);
    const saved = bench.tree;
    for (const content of ['', '{', '{"version":1,"commit":"x"}', 'null']) {
      await bench.save();
      writeFileSync(join(bench.store, 'cache.json'), content);
      const { id } = await bench.save();
      rmSync(join(bench.workspace, 'a.txt'));
      await bench.restore(id);
      expect(bench.tree).toEqual(saved);
    }
  });

  it('does what is asked at the same time one after another', async () => {
    using bench = new CheckpointBench(SPEC);
    const saved = bench.tree;
    const { id } = await bench.save();
    damage(bench.workspace);
    const outcomes = await Promise.all([
      bench.save(),
      bench.restore(id),
      bench.save(),
      bench.diff(id),
      bench.restore(id),
      bench.run({ kind: 'tidy' }),
    ]);
    expect(outcomes).toHaveLength(6);
    expect(bench.tree).toEqual(saved);
    expect(await bench.run({ kind: 'list', scope: null })).toHaveLength(5);
    expect(readdirSync(bench.store).toSorted()).toEqual(['cache.json', 'git']);
  });

  it('takes no configuration but its own, whoever has changed it, and has its objects on the disk before their names', async () => {
    using bench = new CheckpointBench(SPEC);
    await bench.save();
    const file = join(bench.store, 'git/config');
    const own = readFileSync(file, 'utf8');
    expect(own).toMatch(/fsync = committed,loose-object/);
    writeFileSync(file, '[core]\n\thooksPath = /\n');
    await bench.save();
    expect(readFileSync(file, 'utf8')).toBe(own);
  });

  it('is nobody else’s to read', async () => {
    using bench = new CheckpointBench(SPEC);
    await bench.save();
    expect(statSync(bench.store).mode & 0o077).toBe(0);
    expect(statSync(join(bench.store, 'git')).mode & 0o077).toBe(0);
  });
});

describe('old checkpoints', () => {
  it('make room for new ones: those that nobody asked for first', async () => {
    using bench = new CheckpointBench({ 'a.txt': '0' });
    bench.limit({ maxCount: 3 });
    const asked = await bench.save('requested', 'one');
    const automatic = await bench.save('before_command', 'two');
    const second = await bench.save('requested', 'three');
    const fourth = await bench.save('requested', 'four');
    expect(fourth.dropped).toEqual([automatic.id]);
    const { undoCheckpoint } = await bench.restore(asked.id);
    // What is restored and what undoes it stay.
    expect(undoCheckpoint.dropped).toEqual([second.id]);
    const left = (await bench.run({ kind: 'list', scope: null })).map(({ id }) => id);
    expect(left).toEqual([asked.id, fourth.id, undoCheckpoint.id]);
    await expect(bench.restore(automatic.id)).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
  });

  it('make room for those of restores that fail, too', async () => {
    using bench = new CheckpointBench({ 'a.txt': '0' });
    bench.limit({ maxCount: 2 });
    const { id } = await bench.save();
    const git = (...args: string[]) => execFileSync('git', ['-C', join(bench.store, 'git'), ...args]).toString();
    const object = git('rev-parse', `refs/checkpoints/${id}:files/a.txt`).trim();
    writeFileSync(join(bench.workspace, 'a.txt'), '1');
    for (let round = 0; round < 3; round += 1) {
      rmSync(join(bench.store, 'git/objects', object.slice(0, 2), object.slice(2)), { force: true });
      await expect(bench.restore(id)).rejects.toMatchObject({ code: 'CHECKPOINT_FAILED' });
    }
    expect(await bench.run({ kind: 'list', scope: null })).toHaveLength(2);
  });

  it('that make room are told to their owner, and to nobody else', async () => {
    using bench = new CheckpointBench({ 'a.txt': '0' });
    bench.limit({ maxCount: 1 });
    const save = (owner: string) =>
      bench.run({ kind: 'save', id: bench.newId(), label: null, reason: 'requested', owner });
    await save('ada');
    const mine = await save('bob');
    expect(mine.dropped).toEqual([]);
    expect((await save('bob')).dropped).toEqual([mine.id]);
    expect(await bench.run({ kind: 'list', scope: 'ada' })).toEqual([]);
    await expect(
      bench.run({ kind: 'restore', id: mine.id, scope: 'ada', owner: 'ada', paths: [''], undoId: bench.newId() }),
    ).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
  });

  it('go when they take too much on the disk, and give it back; the newest stays', async () => {
    using bench = new CheckpointBench();
    const file = join(bench.workspace, 'noise.bin');
    for (let time = 0; time < 4; time += 1) {
      writeFileSync(file, execFileSync('head', ['-c', '1000000', '/dev/urandom'], { maxBuffer: 1e7 }));
      await bench.save('requested', String(time));
    }
    const size = () => Number(execFileSync('du', ['-sb', bench.store]).toString().split('\t')[0]);
    expect(size()).toBeGreaterThan(4_000_000);
    expect(await bench.run({ kind: 'tidy' })).toEqual({ dropped: [] });
    bench.limit({ maxStoreBytes: 2_500_000 });
    const { dropped } = await bench.run({ kind: 'tidy' });
    expect(dropped).toHaveLength(2);
    expect(size()).toBeLessThan(2_500_000);
    bench.limit({ maxStoreBytes: 1 });
    await bench.run({ kind: 'tidy' });
    const left = await bench.run({ kind: 'list', scope: null });
    expect(left.map(({ label }) => label)).toEqual(['3']);
    rmSync(file);
    await bench.restore(left[0]!.id);
    expect(statSync(file).size).toBe(1_000_000);
  });

  it('stay whole when what they do not need is thrown away', async () => {
    using bench = new CheckpointBench(SPEC);
    const saved = bench.tree;
    const { id } = await bench.save();
    damage(bench.workspace);
    await bench.diff(id);
    removeTree(bench.workspace);
    mkdirSync(bench.workspace);
    await bench.diff(id);
    bench.limit({ maxStoreBytes: 1 });
    await bench.run({ kind: 'tidy' });
    await bench.restore(id);
    expect(bench.tree).toEqual(saved);
  });

  it('are listed with what is known of them', async () => {
    using bench = new CheckpointBench(SPEC);
    expect(await bench.run({ kind: 'list', scope: null })).toEqual([]);
    const { id, createdAt } = await bench.save('requested', 'a "label"\nof two lines \u2603');
    expect(await bench.run({ kind: 'list', scope: null })).toEqual([
      {
        id,
        kind: 'requested',
        owner: 'local',
        label: 'a "label"\nof two lines \u2603',
        createdAt,
        files: 6,
        bytes: 11,
      },
    ]);
  });
});

describe('files that change', () => {
  it('are noticed whatever their times and sizes say', async () => {
    using bench = new CheckpointBench({ 'same-size': 'aaaa', 'same-time': 'bbbb', swapped: 'cccc', other: 'dddd' });
    const file = (name: string) => join(bench.workspace, name);
    // Old enough to be trusted without being read again.
    execFileSync('touch', ['-d', '2001-01-01', file('same-size'), file('same-time'), file('swapped'), file('other')]);
    const { id } = await bench.save();
    writeFileSync(file('same-size'), 'AAAA');
    writeFileSync(file('same-time'), 'BBBB');
    execFileSync('touch', ['-d', '2001-01-01', file('same-time')]);
    execFileSync('sh', ['-c', 'mv swapped t && mv other swapped && mv t other'], { cwd: bench.workspace });
    expect(await bench.changes(id)).toEqual([
      'modified other',
      'modified same-size',
      'modified same-time',
      'modified swapped',
    ]);
  });

  it('while they are read are saved as they were at one moment, or not at all', async () => {
    using bench = new CheckpointBench({ 'calm.txt': 'calm' });
    // Two bytes that are always the same, written again and again, and a log that only grows.
    const script = `
      const fs = require('node:fs');
      const big = (c) => Buffer.alloc(4e6, c);
      for (let n = 0; ; n++) {
        fs.writeFileSync('restless.bin', big(n % 2 ? 'a' : 'b'));
        fs.appendFileSync('growing.log', 'line ' + n + '\\n');
        if (n === 0) console.log('on');
      }`;
    const writer = spawn(process.execPath, ['-e', script], {
      cwd: bench.workspace,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(writer.stdout, 'data');
    const saved = await bench.save();
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    rmSync(join(bench.workspace, 'restless.bin'), { force: true });
    await bench.restore(saved.id);
    const restless = join(bench.workspace, 'restless.bin');
    if (existsSync(restless)) {
      const content = readFileSync(restless);
      expect(content.length === 0 || content.every((byte) => byte === content[0])).toBe(true);
    } else {
      expect(saved.skipped.shown).toEqual([{ path: 'restless.bin', reason: 'changing' }]);
    }
    expect(readFileSync(join(bench.workspace, 'growing.log'), 'utf8')).toMatch(/^(line \d+\n)*$/);
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import type { Job, JobOf, JobResults, StoreOptions } from '../../../src/engine/checkpoints/job.js';
import type { WorkerReply } from '../../../src/engine/checkpoints/job.js';
import { TestDaemon } from '../../support/daemon.js';
import { eventually, MIB, settled } from '../../support/measure.js';
import { cpuMs, isRunning } from '../../support/processes.js';
import { describeRoot } from '../../support/root.js';
import { describeTree, makeTree } from '../../support/tree.js';
import { WireClient } from '../../support/wire.js';
import { makeFolder } from '../cli/support.js';

const WORKER = fileURLToPath(new URL('../../../dist/engine/checkpoints/worker-main.js', import.meta.url));
const NOBODY = 65_534;
/** What it starts with, and then the worker: another user, if need be. */
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];

const optionsFor = (folder: string): StoreOptions => ({
  git: '/usr/bin/git',
  workspace: join(folder, 'workspace'),
  directory: join(folder, 'store'),
  excluded: [],
  platform: 'linux',
  limits: {
    maxFiles: 60_000,
    maxFileBytes: MIB,
    maxWorkspaceBytes: 100 * MIB,
    maxCount: 100,
    maxStoreBytes: 100 * MIB,
  },
});

function startWorker(job: Job, options: StoreOptions, launcher: readonly string[] = []): ChildProcess {
  const [file, ...args] = [...launcher, process.execPath, WORKER];
  const worker = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd: '/' });
  worker.stdin.end(JSON.stringify({ job, options }));
  return worker;
}

async function work<K extends Job['kind']>(
  job: JobOf<K>,
  options: StoreOptions,
  launcher: readonly string[] = [],
): Promise<JobResults[K]> {
  const worker = startWorker(job, options, launcher);
  let output = '';
  worker.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  await once(worker, 'close');
  const reply = JSON.parse(output) as WorkerReply;
  if ('error' in reply) throw Object.assign(new Error(reply.error.message), reply.error);
  return reply.result as JobResults[K];
}

const id = (name: string) => `checkpoint_${name.padStart(22, '0')}`;
const save = (name: string): JobOf<'save'> => ({
  kind: 'save',
  id: id(name),
  label: null,
  reason: 'requested',
  owner: 'local',
});
const restore = (name: string, undo: string): JobOf<'restore'> => {
  return { kind: 'restore', id: id(name), scope: null, owner: 'local', paths: [''], undoId: id(undo) };
};

const manyFiles = (count: number, content: (index: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`d${index % 40}/f${index}`, content(index)]));

describeRoot('a daemon that is not root', () => {
  const setUp = (folder: string): StoreOptions => {
    const options = optionsFor(folder);
    chmodSync(folder, 0o755);
    makeTree(options.workspace, {
      'a.txt': 'a',
      'own/x': 'x',
      'theirs/y': 'y',
      'secret.txt': 's',
      'shut/z': 'z',
      'last.txt': 'l',
    });
    mkdirSync(options.directory);
    for (const path of ['', 'a.txt', 'own', 'own/x', 'last.txt'])
      chownSync(join(options.workspace, path), NOBODY, NOBODY);
    chownSync(options.directory, NOBODY, NOBODY);
    chmodSync(join(options.workspace, 'secret.txt'), 0o600);
    chmodSync(join(options.workspace, 'shut'), 0o700);
    chmodSync(join(options.workspace, 'own'), 0o555);
    return options;
  };

  it('saves where the daemon was started with a low priority', async () => {
    using folder = makeFolder();
    const options = setUp(folder.path);
    expect(await work(save('1'), options, ['nice', '-n', '19', ...AS_NOBODY])).toMatchObject({ id: id('1') });
  });

  it('tells what it may not read, and a restore leaves it alone', async () => {
    using folder = makeFolder();
    const options = setUp(folder.path);
    const saved = await work(save('1'), options, AS_NOBODY);
    expect(saved.skipped.shown).toEqual([
      { path: 'secret.txt', reason: 'unreadable' },
      { path: 'shut', reason: 'unreadable' },
    ]);
    const before = describeTree(options.workspace);
    writeFileSync(join(options.workspace, 'a.txt'), 'changed');
    await work(restore('1', '2'), options, AS_NOBODY);
    expect(describeTree(options.workspace)).toEqual(before);
  });

  it('restores what is in a directory that it may not write to, when it owns it', async () => {
    using folder = makeFolder();
    const options = setUp(folder.path);
    await work(save('1'), options, AS_NOBODY);
    const before = describeTree(options.workspace);
    rmSync(join(options.workspace, 'own/x'));
    writeFileSync(join(options.workspace, 'own/new'), '');
    const { restored, removed } = await work(restore('1', '2'), options, AS_NOBODY);
    expect([restored.shown, removed.shown]).toEqual([['own/x'], ['own/new']]);
    expect(describeTree(options.workspace)).toEqual(before);
    expect(statSync(join(options.workspace, 'own/x')).uid).toBe(NOBODY);
  });

  it('fails where it may change nothing, names the place, and everything is as it was', async () => {
    using folder = makeFolder();
    const options = setUp(folder.path);
    await work(save('1'), options, AS_NOBODY);
    for (const name of ['a.txt', 'own/x', 'theirs/y', 'last.txt'])
      writeFileSync(join(options.workspace, name), 'changed');
    const damaged = describeTree(options.workspace);
    await expect(work(restore('1', '2'), options, AS_NOBODY)).rejects.toMatchObject({
      code: 'RESTORE_FAILED',
      message: expect.stringMatching(/EACCES.* at theirs\/y$/) as string,
      details: { errno: 'EACCES', path: 'theirs/y', rolled_back: true, undo_checkpoint_id: id('2') },
    });
    expect(describeTree(options.workspace)).toEqual(damaged);
    expect(readdirSync(options.workspace).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

describe('a worker that is killed', () => {
  it('while it saves: the next one saves', async () => {
    using folder = makeFolder();
    const options = optionsFor(folder.path);
    makeTree(
      options.workspace,
      manyFiles(2000, (index) => `content ${index}\n`.repeat(50)),
    );
    const before = describeTree(options.workspace);
    // Somewhere before, within and after the work of git.
    for (const delayMs of [80, 160, 240, 320]) {
      const worker = startWorker(save(String(delayMs)), options);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      worker.kill('SIGKILL');
      await once(worker, 'close');
    }
    await work(save('1'), options);
    rmSync(options.workspace, { recursive: true });
    await work(restore('1', '2'), options);
    expect(describeTree(options.workspace)).toEqual(before);
  });

  it('while it restores: the next one brings back what was there before', async () => {
    using folder = makeFolder();
    const options = optionsFor(folder.path);
    makeTree(options.workspace, manyFiles(4000, String));
    await work(save('1'), options);
    makeTree(
      options.workspace,
      manyFiles(4000, (index) => `changed ${index}`),
    );
    const damaged = describeTree(options.workspace);
    const worker = startWorker(restore('1', '2'), options);
    const journal = join(options.directory, 'restore.json');
    await eventually(() => {
      expect(readFileSync(journal, 'utf8')).toContain('"phase":"moving"');
    });
    worker.kill('SIGKILL');
    await once(worker, 'close');
    expect(existsSync(journal)).toBe(true);
    expect(await work({ kind: 'recover' }, options)).toBe('undone');
    expect(describeTree(options.workspace)).toEqual(damaged);
  });
});

describe('a daemon that ends', () => {
  it('by SIGKILL while it restores: the restore is completed without it, and its successor goes on', async () => {
    using folder = makeFolder();
    const daemon = await TestDaemon.start({}, folder.path);
    const client = await WireClient.connect(daemon.url);
    makeTree(daemon.workspace, manyFiles(3000, String));
    const saved = describeTree(daemon.workspace);
    const { checkpoint_id } = await client.request('checkpoint_workspace', {});
    makeTree(
      daemon.workspace,
      manyFiles(3000, (index) => `changed ${index}`),
    );
    void client.request('restore_workspace', { checkpoint_id }).catch(() => undefined);
    const [store = ''] = readdirSync(join(folder.path, 'state/checkpoints'));
    const lock = join(folder.path, 'state/checkpoints', store, 'lock');
    await eventually(() => {
      expect(existsSync(lock)).toBe(true);
    });
    daemon.signal('SIGKILL');
    await daemon.exited;
    await using successor = await TestDaemon.start({}, folder.path);
    await using next = await WireClient.connect(successor.url);
    const diff = await next.request('diff_workspace', { checkpoint_id });
    expect(diff.change_count).toBe(0);
    expect(describeTree(successor.workspace)).toEqual(saved);
    await client[Symbol.asyncDispose]();
  });

  it('by SIGTERM while it saves: the request is answered, and nothing stays', async () => {
    await using daemon = await TestDaemon.start();
    await using client = await WireClient.connect(daemon.url);
    makeTree(
      daemon.workspace,
      manyFiles(5000, (index) => `content ${index}\n`.repeat(100)),
    );
    const saving = client.request('checkpoint_workspace', {});
    const state = join(daemon.directory, 'state/checkpoints');
    const lock = await eventually(() => {
      const [store = 'none'] = readdirSync(state);
      return readFileSync(join(state, store, 'lock'), 'utf8');
    }, 100_000);
    expect(await daemon.stop()).toBe(0);
    expect((await saving).error).toMatchObject({ code: 'SHUTTING_DOWN' });
    await eventually(() => {
      expect(isRunning(Number(lock.split(' ')[0]))).toBe(false);
    });
  });
});

it('a worker waits for its request, which a busy daemon sends late', async () => {
  const worker = spawn(process.execPath, [WORKER], { stdio: ['pipe', 'pipe', 'inherit'] });
  const reply = text(worker.stdout);
  // It has started, and waits.
  await settled(() => cpuMs(worker.pid!));
  worker.stdin.end(JSON.stringify({ job: { kind: 'none' }, options: {} }));
  expect(JSON.parse(await reply)).toEqual({ result: null });
});

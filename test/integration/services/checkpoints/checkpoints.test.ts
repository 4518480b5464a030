import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { LOCAL_PRINCIPAL } from '../../../../src/core/principal.js';
import { AdapterError } from '../../../../src/core/errors.js';
import type { Log } from '../../../../src/core/log.js';
import type { Job, RunJob } from '../../../../src/engine/checkpoints/job.js';
import { Deferred } from '../../../../src/engine/system/promises.js';
import { Checkpoints } from '../../../../src/services/checkpoints/checkpoints.js';
import { makeTree } from '../../../support/tree.js';
import { CheckpointBench } from '../../engine/checkpoints/bench.js';

/** The service on the real engine, in this process. */
class ServiceBench extends CheckpointBench {
  readonly jobs: Job['kind'][] = [];
  readonly lines: string[] = [];
  /** Replaces the engine for the next job. */
  next: RunJob | undefined;

  make(): Checkpoints {
    const note = (message: string) => void this.lines.push(message);
    const log: Log = { debug: note, info: note, warn: note, error: note };
    const run: RunJob = (job, options) => {
      this.jobs.push(job.kind);
      const { next } = this;
      this.next = undefined;
      if (next) return next(job, options);
      this.options = options;
      return this.run(job);
    };
    return new Checkpoints({
      workspace: this.workspace,
      directory: this.store,
      excluded: [],
      platform: 'linux',
      path: process.env['PATH'] ?? '',
      limits: () => this.options.limits,
      output: () => ({ maxSize: 1000, beginSize: 300, endSize: 700 }),
      run,
      log,
    });
  }
}

describe('Checkpoints', () => {
  it('saves the workspace before a command that may destroy it, under an id that undoes it', async () => {
    using bench = new ServiceBench({ 'a.txt': '1' });
    const saved = bench.tree;
    const checkpoints = bench.make();
    const { id } = await checkpoints.saveBeforeCommand('rm -rf .', LOCAL_PRINCIPAL);
    rmSync(join(bench.workspace, 'a.txt'));
    await checkpoints.restore({ checkpoint_id: id, paths: undefined }, LOCAL_PRINCIPAL);
    expect(bench.tree).toEqual(saved);
    const { checkpoints: listed } = await checkpoints.list(LOCAL_PRINCIPAL);
    expect(listed[0]).toMatchObject({ checkpoint_id: id, kind: 'before_command', label: 'rm -rf .' });
  });

  it('does one thing at a time, in the order in which it was asked, also after one has failed', async () => {
    using bench = new ServiceBench({ 'a.txt': '1' });
    const checkpoints = bench.make();
    const { checkpoint_id: id } = await checkpoints.save({ label: undefined }, LOCAL_PRINCIPAL);
    writeFileSync(join(bench.workspace, 'a.txt'), '2');
    const outcomes = await Promise.allSettled([
      checkpoints.restore({ checkpoint_id: 'checkpoint_none', paths: undefined }, LOCAL_PRINCIPAL),
      checkpoints.diff({ checkpoint_id: id, paths: undefined, format: undefined, output: undefined }, LOCAL_PRINCIPAL),
      checkpoints.restore({ checkpoint_id: id, paths: undefined }, LOCAL_PRINCIPAL),
      checkpoints.diff({ checkpoint_id: id, paths: undefined, format: undefined, output: undefined }, LOCAL_PRINCIPAL),
    ]);
    expect(bench.jobs).toEqual(['save', 'restore', 'diff', 'restore', 'diff']);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ value: { change_count: 1 } });
    expect(outcomes[3]).toMatchObject({ value: { change_count: 0 } });
  });

  it('lets no more than so many wait', async () => {
    using bench = new ServiceBench({ 'a.txt': '1' });
    const checkpoints = bench.make();
    const held = new Deferred<undefined>();
    bench.next = async () => {
      await held.promise;
      throw new AdapterError('CHECKPOINT_FAILED', 'held');
    };
    const asked = Array.from({ length: 33 }, () => checkpoints.save({ label: undefined }, LOCAL_PRINCIPAL));
    await expect(asked.at(-1)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    held.resolve(undefined);
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(31);
    await checkpoints.save({ label: 'there is room again' }, LOCAL_PRINCIPAL);
  });

  it('tidies when there is something to be tidied, and tells what has gone', async () => {
    using bench = new ServiceBench({ 'a.txt': '1' });
    bench.limit({ maxStoreBytes: 1 });
    const checkpoints = bench.make();
    await checkpoints.save({ label: 'one' }, LOCAL_PRINCIPAL);
    await checkpoints.save({ label: 'two' }, LOCAL_PRINCIPAL);
    // What comes next comes after it.
    await checkpoints.diff(
      { checkpoint_id: undefined, paths: undefined, format: undefined, output: undefined },
      LOCAL_PRINCIPAL,
    );
    expect(bench.jobs).toEqual(['save', 'tidy', 'save', 'tidy', 'diff']);
    expect((await checkpoints.list(LOCAL_PRINCIPAL)).checkpoints.map(({ label }) => label)).toEqual(['two']);
    expect(bench.lines).toContain('old checkpoints were removed: max_store_mb is reached');
  });

  it('ends a restore that an earlier daemon has not, when it starts', async () => {
    using bench = new ServiceBench({ 'a.txt': '1' });
    const staging = '.shell-adapter-restore-x';
    rmSync(join(bench.workspace, 'a.txt'));
    makeTree(join(bench.workspace, staging), { 'old-0': '1' });
    const checkpoints = bench.make();
    await checkpoints.save({ label: undefined }, LOCAL_PRINCIPAL);
    const journal = {
      phase: 'moving',
      staging,
      undoCheckpoint: 'x',
      steps: [{ kind: 'take_out', path: 'a.txt', slot: 0 }],
    };
    writeFileSync(join(bench.options.directory, 'restore.json'), JSON.stringify(journal));
    const successor = bench.make();
    const diff = { checkpoint_id: undefined, paths: undefined, format: undefined, output: undefined };
    expect((await successor.diff(diff, LOCAL_PRINCIPAL)).changes).toEqual([{ path: 'a.txt', status: 'added' }]);
    expect(bench.lines).toContain('a restore of the workspace was interrupted');
  });

  it('undoes a restore whose process has died in the middle, before the client hears of it', async () => {
    using bench = new ServiceBench({ 'a.txt': '1' });
    const checkpoints = bench.make();
    const { checkpoint_id: id } = await checkpoints.save({ label: undefined }, LOCAL_PRINCIPAL);
    const before = bench.tree;
    bench.next = (_job, { directory }) => {
      const staging = '.shell-adapter-restore-x';
      makeTree(join(bench.workspace, staging), { 'old-0': '1' });
      rmSync(join(bench.workspace, 'a.txt'));
      const steps = [{ kind: 'take_out', path: 'a.txt', slot: 0 }];
      writeFileSync(
        join(directory, 'restore.json'),
        JSON.stringify({ phase: 'moving', staging, undoCheckpoint: 'x', steps }),
      );
      return Promise.reject(new AdapterError('CHECKPOINT_FAILED', 'the process has ended'));
    };
    await expect(checkpoints.restore({ checkpoint_id: id, paths: undefined }, LOCAL_PRINCIPAL)).rejects.toThrow(
      'the process has ended',
    );
    expect(bench.tree).toEqual(before);
    expect(bench.jobs).toEqual(['save', 'restore', 'recover']);
  });
});

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Job, JobOf, JobResults, StoreOptions } from '../../../../src/engine/checkpoints/job.js';
import { runJob } from '../../../../src/engine/checkpoints/store.js';
import { findProgram } from '../../../../src/engine/shells/list.js';
import { describeTree, makeTree, removeTree, type TreeSpec } from '../../../support/tree.js';

const MIB = 1024 * 1024;

interface BenchOptions extends Partial<Pick<StoreOptions, 'workspace' | 'platform'>> {
  readonly store?: string;
}

/** A workspace and the store of its checkpoints, in a folder of the test's own. */
export class CheckpointBench implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'shell-adapter-checkpoints-'));
  readonly workspace: string;
  readonly store: string;
  options: StoreOptions;
  #next = 0;

  constructor(spec: TreeSpec = {}, { workspace, store, platform = 'linux' }: BenchOptions = {}) {
    this.workspace = workspace ?? join(this.folder, 'workspace');
    this.store = store ?? join(this.folder, 'store');
    makeTree(this.workspace, spec);
    this.options = {
      git: findProgram('git', process.env['PATH'] ?? '') ?? '/usr/bin/git',
      workspace: this.workspace,
      directory: this.store,
      excluded: [],
      platform,
      limits: {
        maxFiles: 10_000,
        maxFileBytes: 64 * MIB,
        maxWorkspaceBytes: 256 * MIB,
        maxCount: 100,
        maxStoreBytes: 512 * MIB,
      },
    };
  }

  /** Changes some of the limits. */
  limit(limits: Partial<StoreOptions['limits']>): void {
    this.options = { ...this.options, limits: { ...this.options.limits, ...limits } };
  }

  /** Everything in the workspace. */
  get tree(): Record<string, string> {
    return describeTree(this.workspace);
  }

  /** An id that no other checkpoint of this bench has. */
  newId(): string {
    return `checkpoint_${String(this.#next++).padStart(22, '0')}`;
  }

  run<K extends Job['kind']>(job: JobOf<K>): Promise<JobResults[K]> {
    return runJob(job, this.options) as Promise<JobResults[K]>;
  }

  /** Saves the workspace; gives the checkpoint. */
  save(reason: JobOf<'save'>['reason'] = 'requested', label: string | null = null): Promise<JobResults['save']> {
    return this.run({ kind: 'save', id: this.newId(), label, reason, owner: 'local' });
  }

  /** Restores a checkpoint, or paths of it. */
  restore(id: string, paths: readonly string[] = ['']): Promise<JobResults['restore']> {
    return this.run({ kind: 'restore', id, scope: null, owner: 'local', paths, undoId: this.newId() });
  }

  diff(
    id: string | null,
    {
      format = 'names',
      paths = [''],
    }: { readonly format?: JobOf<'diff'>['format']; readonly paths?: readonly string[] } = {},
  ): Promise<JobResults['diff']> {
    return this.run({
      kind: 'diff',
      id,
      scope: null,
      paths,
      format,
      limits: { maxSize: 30_000, beginSize: 10_000, endSize: 20_000 },
      render: { encoding: 'utf8', stripAnsi: false, collapseCr: false, hint: 'HINT' },
    });
  }

  /** What a diff tells, as `status path`. */
  async changes(id: string | null, paths?: readonly string[]): Promise<string[]> {
    const { changes } = await this.diff(id, paths && { paths });
    return changes.shown.map(({ status, path }) => `${status} ${path}`);
  }

  [Symbol.dispose](): void {
    removeTree(this.folder);
  }
}

import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename, join } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import type { PlatformName } from '../../core/platform.js';
import type { CheckpointLimits } from '../../engine/checkpoints/files/walk.js';
import type { Job, JobOf, JobResults, RunJob, StoreOptions } from '../../engine/checkpoints/job.js';
import { LOCK_WAIT_MS } from '../../engine/checkpoints/store-lock.js';
import { findProgram } from '../../engine/shells/list.js';

/** Maximum number of waiting or running requests: each takes time in proportion to the files of the workspace. */
const MAX_WAITING = 32;

/** Dependencies of `WorkspaceJobs`. */
export interface WorkspaceJobsOptions {
  /** Absolute path. The directory has to exist on construction. */
  readonly workspace: string;
  /** Parent directory of the stores of all workspaces. */
  readonly directory: string;
  /** Absolute paths of the daemon's own files. */
  readonly excluded: readonly string[];
  /** PATH in which git is looked up. */
  readonly path: string;
  readonly limits: () => CheckpointLimits;
  readonly platform: PlatformName;
  readonly run: RunJob;
}

/** Runs jobs on a workspace and its store of checkpoints: one at a time, those that change or read the files. */
export class WorkspaceJobs {
  readonly #options: WorkspaceJobsOptions;
  /** The workspace with symbolic links resolved; it may be deleted later. */
  readonly workspace: string;
  /** Directory of its checkpoints. */
  readonly store: string;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(options: WorkspaceJobsOptions) {
    this.#options = options;
    this.workspace = realpathSync(options.workspace);
    this.store = join(options.directory, storeName(this.workspace));
  }

  /**
   * Runs a job after the jobs queued before it.
   * @throws AdapterError RESOURCE_EXHAUSTED when too many wait; and as `run`
   */
  async inTurn<K extends Job['kind']>(job: JobOf<K>): Promise<JobResults[K]> {
    if (this.#waiting >= MAX_WAITING) {
      const message = `${MAX_WAITING} requests wait for the workspace to be saved, compared or restored already`;
      throw new AdapterError('RESOURCE_EXHAUSTED', message, { details: { waiting: MAX_WAITING } });
    }
    this.#waiting += 1;
    const queuedAt = performance.now();
    const turn = this.#last
      .then(() => this.run(job, queuedAt))
      .finally(() => {
        this.#waiting -= 1;
      });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /**
   * Runs a job at once.
   * @param since when the job was queued: those that wait for the lock of another process do not wait one after another
   * @throws AdapterError GIT_NOT_FOUND, and the errors of the job
   */
  async run<K extends Job['kind']>(job: JobOf<K>, since = performance.now()): Promise<JobResults[K]> {
    const { path, excluded, limits, run, platform } = this.#options;
    const git = findProgram('git', path);
    if (git === undefined) {
      throw new AdapterError('GIT_NOT_FOUND', `checkpoints need git, which is not on PATH (${path})`);
    }
    const options: StoreOptions = {
      git,
      workspace: this.workspace,
      directory: this.store,
      excluded,
      limits: limits(),
      lockWaitMs: Math.max(0, LOCK_WAIT_MS - (performance.now() - since)),
      platform,
    };
    return run(job, options);
  }
}

/**
 * The store of a workspace does not depend on the configuration that names it. The first part of the name is for
 * people.
 */
function storeName(workspace: string): string {
  const hash = createHash('sha256').update(workspace).digest('hex').slice(0, 16);
  const name = basename(workspace)
    .replaceAll(/[^A-Za-z0-9_-]/g, '')
    .slice(0, 40);
  return `${name || 'workspace'}-${hash}`;
}

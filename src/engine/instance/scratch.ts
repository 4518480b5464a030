import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { LivenessMarker } from './liveness-marker.js';
import { ownUid } from '../system/own-user.js';
import { makePrivate } from './runtime-directory.js';

/** A directory that is removed with all in it. */
export interface ScratchDirectory extends AsyncDisposable {
  readonly path: string;
}

/**
 * Makes temporary directories, on a disk: a tmpfs such as /dev/shm often forbids to run what is in it, and holds it in
 * memory. All of them are below one of this run of the daemon, so that a successor finds what a killed daemon has left.
 */
export class Scratch implements AsyncDisposable {
  readonly #path: string;

  /**
   * @param instance name of this run of the daemon
   * @param lifeSigns tell whose directories are left from a killed daemon
   */
  constructor(instance: string, lifeSigns: LivenessMarker) {
    const parent = join(tmpdir(), `shell-adapter-scratch-${ownUid()}`);
    makePrivate(parent);
    for (const name of readdirSync(parent)) {
      if (!lifeSigns.isAlive(name)) rmSync(join(parent, name), { recursive: true, force: true });
    }
    this.#path = join(parent, instance);
  }

  /** Makes a directory that only this user can enter. */
  async make(): Promise<ScratchDirectory> {
    await mkdir(this.#path, { mode: 0o700, recursive: true });
    const path = await mkdtemp(join(this.#path, 'run-'));
    return { path, [Symbol.asyncDispose]: () => remove(path) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return remove(this.#path);
  }
}

/** What is just being ended may still write there. */
const remove = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });

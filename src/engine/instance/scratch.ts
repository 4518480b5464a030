import { mkdir, mkdtemp } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { LivenessMarker } from './liveness-marker.js';
import { ownUid } from '../system/own-user.js';
import { removeTree, removeTreeSync } from '../system/remove-tree.js';
import { makePrivate } from './runtime-directory.js';

/** A directory that is removed with its contents. */
export interface ScratchDirectory extends AsyncDisposable {
  readonly path: string;
}

/**
 * Creates temporary directories, on a disk: a tmpfs such as /dev/shm often forbids execution, and uses memory. All of
 * them are below one directory of this instance, so that a successor finds those of a killed daemon.
 */
export class Scratch implements AsyncDisposable {
  readonly #path: string;

  /**
   * @param instance id of this instance of the daemon
   * @param liveness determines which directories were left by a killed daemon
   */
  constructor(instance: string, liveness: LivenessMarker) {
    const parent = join(tmpdir(), `shell-adapter-scratch-${ownUid()}`);
    makePrivate(parent);
    for (const name of readdirSync(parent)) {
      if (!liveness.isAlive(name)) removeTreeSync(join(parent, name));
    }
    this.#path = join(parent, instance);
  }

  /** Creates a directory that only this user can enter. */
  async make(): Promise<ScratchDirectory> {
    await mkdir(this.#path, { mode: 0o700, recursive: true });
    const path = await mkdtemp(join(this.#path, 'run-'));
    return { path, [Symbol.asyncDispose]: () => removeTree(path) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return removeTree(this.#path);
  }
}

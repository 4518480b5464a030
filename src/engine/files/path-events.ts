import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';

import { isDirectory } from '../system/is-directory.js';

/** Tells that a path may have come into being: something has changed in the nearest directory above it. */
export class PathEvents implements Disposable {
  readonly #path: string;
  readonly #onEvent: () => void;
  #watcher: FSWatcher | undefined;
  #directory: string | undefined;

  /** @param path absolute */
  constructor(path: string, onEvent: () => void) {
    this.#path = path;
    this.#onEvent = onEvent;
  }

  /**
   * Watches the directory that is the nearest one now; call it before each look.
   * @returns whether events come; false when the system has no watch to give
   */
  renew(): boolean {
    const directory = nearestDirectory(dirname(this.#path));
    if (this.#watcher && directory === this.#directory) return true;
    this[Symbol.dispose]();
    try {
      this.#watcher = watch(directory, { persistent: false }, this.#onEvent);
    } catch {
      // ENOSPC: no watches are left. EACCES: the directory may not be read. ENOENT: it has gone meanwhile.
      return false;
    }
    this.#directory = directory;
    this.#watcher.on('error', () => {
      this[Symbol.dispose]();
      this.#onEvent();
    });
    return true;
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}

function nearestDirectory(path: string): string {
  return path === '/' || isDirectory(path) ? path : nearestDirectory(dirname(path));
}

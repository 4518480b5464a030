import { type FSWatcher, watch } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import type { Directories } from '../../platform/contract/directories.js';
import { PathEvents } from '../path-events.js';
import { scan, type Scan, TOP, undefinedIfMissing } from './scan.js';
import type { PathChange } from './watch-batch.js';

/** The file whose change may show or hide others. */
const IGNORE_FILE = '.gitignore';

/** A path to watch. */
export interface WatchedTarget {
  /** As it was asked for, absolute. */
  readonly path: string;
  /** After all links. */
  readonly real: string;
  readonly isRecursive: boolean;
}

/**
 * Watches one path: a file by the events of its directory, because programs replace files; a directory by those of each
 * directory in it. A path that vanishes is waited for.
 */
export class WatchedPath implements Disposable {
  readonly #target: WatchedTarget;
  readonly #directories: Directories;
  /** Called with a path relative to the top. */
  readonly #onEvent: (relative: string) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #return: PathEvents;
  #isDisposed = false;
  #known: Scan = new Map();
  /** Names that exist and are left out. */
  #ignored = new Set<string>();

  constructor(target: WatchedTarget, directories: Directories, onEvent: (relative: string) => void) {
    this.#target = target;
    this.#directories = directories;
    this.#onEvent = onEvent;
    this.#return = new PathEvents(target.real, () => {
      onEvent(TOP);
    });
  }

  /** Number of directories that are watched. */
  get directories(): number {
    return this.#watchers.size;
  }

  /** Number of names that are remembered. */
  get names(): number {
    return this.#known.size;
  }

  /**
   * Begins to watch.
   * @throws system errors, ENOENT for what does not exist, and those of `scan`
   */
  async start(): Promise<void> {
    await lstat(this.#target.real);
    await this.rescan(new Set());
    // What came between the look and the watch.
    await this.rescan(new Set());
  }

  /** What names have become. Undefined when only a scan can tell. */
  async look(names: ReadonlySet<string>): Promise<PathChange[] | undefined> {
    const changes: PathChange[] = [];
    if (!(await this.#exists(TOP))) return undefined;
    for (const name of names) {
      if (this.#ignored.has(name)) continue;
      const isThere = await this.#exists(name);
      const isDirectory = this.#known.get(name);
      const isAsBefore = isThere === (isDirectory !== undefined);
      if (!isAsBefore || (isThere && basename(name) === IGNORE_FILE)) return undefined;
      if (isThere && isDirectory === false) changes.push(this.#change(name, 'changed'));
    }
    return changes;
  }

  /**
   * Compares what is there with what was there.
   * @param names those with events
   * @throws errors of `scan`
   */
  async rescan(names: ReadonlySet<string>): Promise<PathChange[]> {
    const { real, isRecursive } = this.#target;
    const before = this.#known;
    const now = await scan(real, isRecursive, this.#directories);
    // While it was looked at, the watch may have ended.
    if (this.#isDisposed) return [];
    this.#known = now;
    this.#watchAll(now);
    if (now.size === 0) this.#return.renew();
    else this.#return[Symbol.dispose]();
    const hidden = [...names].filter((name) => !now.has(name));
    if (names.has(IGNORE_FILE)) this.#ignored.clear();
    for (const name of hidden) if (await this.#exists(name)) this.#ignored.add(name);
    return [
      ...[...before.keys()].filter((name) => !now.has(name)).map((name) => this.#change(name, 'removed')),
      ...[...now.keys()].filter((name) => !before.has(name)).map((name) => this.#change(name, 'created')),
      ...[...names]
        .filter((name) => now.get(name) === false && before.has(name))
        .map((name) => this.#change(name, 'changed')),
    ];
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#return[Symbol.dispose]();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #change(name: string, change: PathChange['change']): PathChange {
    return { path: join(this.#target.path, name), change };
  }

  async #exists(name: string): Promise<boolean> {
    return (await lstat(join(this.#target.real, name)).catch(undefinedIfMissing)) !== undefined;
  }

  /** Watches exactly the directories of a scan. */
  #watchAll(now: Scan): void {
    const { real, isRecursive } = this.#target;
    const wanted = new Map<string, string>();
    if (now.get(TOP) === false) wanted.set('..', dirname(real));
    for (const [name, isDirectory] of now) {
      if (isDirectory && (isRecursive || name === TOP)) wanted.set(name, join(real, name));
    }
    for (const [name, watcher] of this.#watchers) {
      if (wanted.has(name)) continue;
      watcher.close();
      this.#watchers.delete(name);
    }
    for (const [name, path] of wanted) if (!this.#watchers.has(name)) this.#watch(name, path);
  }

  #watch(directory: string, path: string): void {
    const own = basename(this.#target.real);
    const watcher = watch(path, { persistent: false }, (_event, file) => {
      if (directory === '..') {
        if (file === null || file === own) this.#onEvent(TOP);
      } else this.#onEvent(file === null ? directory : join(directory, file));
    });
    watcher.on('error', () => {
      watcher.close();
      if (this.#watchers.get(directory) === watcher) this.#watchers.delete(directory);
      this.#onEvent(TOP);
    });
    this.#watchers.set(directory, watcher);
  }
}

import { type FSWatcher, watch } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import type { Directories } from '../platform/platform.js';
import { isDirectory } from '../system/local-files.js';
import type { Target, WatchJob } from './file-job.js';
import { IGNORE_FILE, walk } from './find-files.js';
import { fileError, OpenDirectory, resolvePath } from './held-path.js';

/** Something that has changed below a watched path. */
export interface PathChange {
  /** Absolute, below the path as it was asked for. */
  readonly path: string;
  readonly change: 'created' | 'changed' | 'removed';
}

/** What has changed since the last batch. */
export interface WatchBatch {
  readonly changes: readonly PathChange[];
  /** Whether more has changed than the batch says. */
  readonly overflow: boolean;
}

/** Gets batches in order. */
export type OnBatch = (batch: WatchBatch) => void;

/** Most changes of one batch, and most names that wait for it. */
export const MAX_BATCH_CHANGES = 1000;

/** Most directories that one request watches: the kernel has so many watches for a user, on small machines 8192. */
const MAX_WATCHED_DIRECTORIES = 1024;

/** Most names below the paths of one request, which are remembered to tell what is new. */
const MAX_WATCHED_NAMES = 50_000;

/** The top of a scan, as a path relative to itself. */
const TOP = '';

/** What is there: by paths relative to the top, whether each is a directory. Empty when the top does not exist. */
type Scan = ReadonlyMap<string, boolean>;

/**
 * Looks at a path, and at what is below it.
 * @param real absolute, after all links
 * @param isRecursive leaves out repositories of git, and what a .gitignore excludes
 * @throws AdapterError RESOURCE_EXHAUSTED for more than can be watched; system errors
 */
async function scan(real: string, isRecursive: boolean, directories: Directories): Promise<Scan> {
  const stat = await lstat(real).catch(undefinedIfMissing);
  const found = new Map<string, boolean>();
  if (!stat) return found;
  found.set(TOP, stat.isDirectory());
  if (!stat.isDirectory()) return found;
  try {
    if (isRecursive) await addTree(real, found, directories);
    else for await (const entry of await opendir(real)) add(found, entry.name, entry.isDirectory());
  } catch (error) {
    // It has gone meanwhile.
    undefinedIfMissing(error);
  }
  return found;
}

async function addTree(real: string, found: Map<string, boolean>, by: Directories): Promise<void> {
  await using top = await OpenDirectory.open(real, by);
  let directories = 1;
  const options = { honoursIgnore: true, isOver: () => false, onSkipped: () => undefined };
  for await (const { path, type } of walk(top, real, options)) {
    if (type === 'directory') directories += 1;
    if (directories > MAX_WATCHED_DIRECTORIES) throw tooMuch(`${MAX_WATCHED_DIRECTORIES} directories`);
    add(found, path, type === 'directory');
  }
}

function add(found: Map<string, boolean>, path: string, isDirectory: boolean): void {
  if (found.size >= MAX_WATCHED_NAMES) throw tooMuch(`${MAX_WATCHED_NAMES} names`);
  found.set(path, isDirectory);
}

/** The error for more than one request can watch. */
const tooMuch = (what: string): AdapterError =>
  new AdapterError('RESOURCE_EXHAUSTED', `one request watches ${what} at most: watch directories further below`);

/** For a `catch`: undefined for a path that does not exist. */
function undefinedIfMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

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

/** A path to watch. */
interface WatchedTarget {
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
class WatchedPath implements Disposable {
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

/** Watches paths until it is disposed, and gives what has changed in batches. */
export class PathsWatch implements Disposable {
  readonly #job: WatchJob;
  readonly #onBatch: OnBatch;
  readonly #directories: Directories;
  readonly #paths = new Map<WatchedPath, Set<string>>();
  #waiting = 0;
  #hasOverflown = false;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isDisposed = false;

  private constructor(job: WatchJob, onBatch: OnBatch, directories: Directories) {
    this.#directories = directories;
    this.#job = job;
    this.#onBatch = onBatch;
  }

  /** @throws AdapterError FILE_NOT_FOUND, FILE_ACCESS_DENIED, RESOURCE_EXHAUSTED and others of files */
  static async start(job: WatchJob, onBatch: OnBatch, directories: Directories): Promise<PathsWatch> {
    const watch = new PathsWatch(job, onBatch, directories);
    try {
      for (const at of job.at) await watch.#add(at);
      watch.#assertBounds();
      return watch;
    } catch (error) {
      watch[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    for (const path of this.#paths.keys()) path[Symbol.dispose]();
    this.#paths.clear();
  }

  async #add({ path, real }: Target): Promise<void> {
    try {
      const target = { path, real: real ?? (await resolvePath(path, true)), isRecursive: this.#job.isRecursive };
      const watched = new WatchedPath(target, this.#directories, (name) => {
        this.#note(watched, name);
      });
      this.#paths.set(watched, new Set());
      await watched.start();
    } catch (error) {
      throw watchError(error, path);
    }
  }

  #note(path: WatchedPath, name: string): void {
    const names = this.#paths.get(path);
    if (!names || this.#isDisposed) return;
    if (this.#waiting >= MAX_BATCH_CHANGES) this.#hasOverflown = true;
    else if (!names.has(name)) {
      names.add(name);
      this.#waiting += 1;
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isLooking || this.#isDisposed) return;
    this.#timer ??= setTimeout(() => {
      void this.#look();
    }, this.#job.debounceMs);
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    this.#isLooking = true;
    const mustScan = this.#hasOverflown;
    this.#hasOverflown = false;
    this.#waiting = 0;
    const found = await this.#changes(mustScan);
    this.#isLooking = false;
    if (this.#paths.size === 0) return;
    const overflow = mustScan || found === undefined || found.length > MAX_BATCH_CHANGES;
    const changes = (found ?? []).slice(0, MAX_BATCH_CHANGES);
    if (changes.length > 0 || overflow) this.#onBatch({ changes, overflow });
    if (this.#hasEvents()) this.#schedule();
  }

  #hasEvents(): boolean {
    return this.#waiting > 0 || this.#hasOverflown;
  }

  /** What has changed; undefined when not all of it can be said: the client has to look itself. */
  async #changes(mustScan: boolean): Promise<PathChange[] | undefined> {
    const changes: PathChange[] = [];
    let isComplete = true;
    for (const [path, names] of this.#paths) {
      this.#paths.set(path, new Set());
      if (names.size === 0 && !mustScan) continue;
      try {
        changes.push(...((mustScan ? undefined : await path.look(names)) ?? (await path.rescan(names))));
        this.#assertBounds();
      } catch {
        // Too much to watch by now, or no watch is left.
        isComplete = false;
      }
    }
    return isComplete ? changes : undefined;
  }

  #assertBounds(): void {
    const sum = (of: (path: WatchedPath) => number) => [...this.#paths.keys()].reduce((all, path) => all + of(path), 0);
    if (sum(({ directories }) => directories) > MAX_WATCHED_DIRECTORIES) {
      throw tooMuch(`${MAX_WATCHED_DIRECTORIES} directories`);
    }
    if (sum(({ names }) => names) > MAX_WATCHED_NAMES) throw tooMuch(`${MAX_WATCHED_NAMES} names`);
  }
}

/** The error of a path that cannot be watched. */
function watchError(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOSPC') return fileError(error, path);
  return new AdapterError('RESOURCE_EXHAUSTED', 'the system has no watches left (fs.inotify.max_user_watches)', {
    cause: error,
  });
}

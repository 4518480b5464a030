import { AdapterError } from '../../../core/errors.js';
import type { Directories } from '../../platform/contract/directories.js';
import { fileError } from '../file-errors.js';
import type { Target, WatchJob } from '../file-job.js';
import { resolvePath } from '../held-path.js';
import { tooMuch } from './scan.js';
import {
  MAX_BATCH_CHANGES,
  MAX_WATCHED_DIRECTORIES,
  MAX_WATCHED_NAMES,
  type OnBatch,
  type PathChange,
} from './watch-batch.js';
import { WatchedPath } from './watched-path.js';

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

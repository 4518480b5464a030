import { closeSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { AdapterError } from '../core/errors.js';
import { drain, makeFifos, openBoth } from './fifo.js';
import { OutputPipe } from './output-pipe.js';

/** Sets made by one process. */
const SETS_AT_ONCE = 8;

/**
 * Pipes of one process: its two outputs, and a way to tell a waiting shell that its request is there. In a directory of
 * their own, which is what a sandbox shows.
 */
export interface PipeSet {
  readonly directory: string;
  /** Files that belong to the set begin with this. */
  readonly path: string;
  readonly out: OutputPipe;
  readonly err: OutputPipe;
  /** Both ends of `PATH.req`. */
  readonly requestFd: number;
}

/** Keeps named pipes for one-shot commands, each used by one command after another. */
export class PipeSets implements Disposable {
  readonly #directory: string;
  readonly #free: PipeSet[] = [];
  readonly #all: PipeSet[] = [];
  #made = 0;
  #making: Promise<void> | undefined;
  #isClosed = false;

  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { mode: 0o700 });
  }

  /**
   * Gives a set that nobody holds.
   * @throws AdapterError SHUTTING_DOWN when all have been closed
   */
  async take(): Promise<PipeSet> {
    for (;;) {
      if (this.#isClosed) throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
      const set = this.#free.pop();
      if (set) return set;
      this.#making ??= this.#make().finally(() => {
        this.#making = undefined;
      });
      await this.#making;
    }
  }

  /** Takes a set back, once no process has it open for writing any more; false while one has. */
  give(set: PipeSet): boolean {
    if (this.#isClosed) return true;
    const ignore = () => undefined;
    if (set.out.drain(ignore) === 'held' || set.err.drain(ignore) === 'held') return false;
    // A request that its shell never read must not reach the next one.
    drain(set.requestFd, ignore);
    this.#free.push(set);
    return true;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#free.length = 0;
    for (const { out, err, requestFd } of this.#all.splice(0)) {
      out.close();
      err.close();
      closeSync(requestFd);
    }
  }

  async #make(): Promise<void> {
    const directories = Array.from({ length: SETS_AT_ONCE }, () => join(this.#directory, String(this.#made++)));
    for (const directory of directories) mkdirSync(directory, { mode: 0o700 });
    const paths = directories.map((directory) => join(directory, 'one-shot'));
    await makeFifos(paths.flatMap((path) => [`${path}.out`, `${path}.err`, `${path}.req`]));
    if (this.#isClosed) return;
    for (const path of paths) {
      const set = {
        directory: dirname(path),
        path,
        out: new OutputPipe(`${path}.out`),
        err: new OutputPipe(`${path}.err`),
        requestFd: openBoth(`${path}.req`),
      };
      this.#all.push(set);
      this.#free.push(set);
    }
  }
}

import { closeSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import { drain, makeFifos, openBoth } from '../system/fifo.js';
import { OutputPipe } from '../output/output-pipe.js';
import type { ProcessDirectory } from '../instance/runtime-directory.js';
import { makeDirectoryFor } from '../system/own-user.js';

/** Sets created by one process. */
const SETS_AT_ONCE = 8;

/**
 * Pipes of one process: its two outputs, and one that notifies a waiting shell of its request. In their own directory,
 * which a sandbox exposes.
 */
export interface PipeSet {
  readonly directory: string;
  /** Path prefix of the files of the set. */
  readonly path: string;
  readonly out: OutputPipe;
  readonly err: OutputPipe;
  /** Both ends of `PATH.req`. */
  readonly requestFd: number;
}

/** Whether the FIFOs of the set still exist. */
export const isThere = ({ path }: PipeSet): boolean => existsSync(`${path}.req`);

/** Opens the pipes of a set. After EMFILE, none of them stays open. */
function openSet(path: string): PipeSet {
  const opened: OutputPipe[] = [];
  const openOutput = (name: string) => {
    const pipe = new OutputPipe(`${path}.${name}`);
    opened.push(pipe);
    return pipe;
  };
  try {
    const [out, err] = [openOutput('out'), openOutput('err')];
    return { directory: dirname(path), path, out, err, requestFd: openBoth(`${path}.req`) };
  } catch (error) {
    for (const pipe of opened) pipe.close();
    throw error;
  }
}

/** Pool of named pipes for one-shot commands, each reused by one command after another. */
export class PipeSets implements Disposable {
  readonly #runtime: ProcessDirectory;
  readonly #free: PipeSet[] = [];
  readonly #all = new Set<PipeSet>();
  #made = 0;
  #making: Promise<void> | undefined;
  #isClosed = false;

  /** @param runtime directory of the pipes; if it is removed, it is created again with the next sets */
  constructor(runtime: ProcessDirectory) {
    this.#runtime = runtime;
  }

  /**
   * Returns a set that no process holds.
   * @throws AdapterError SHUTTING_DOWN when all have been closed
   */
  async take(): Promise<PipeSet> {
    for (;;) {
      if (this.#isClosed) throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
      const set = this.#free.pop();
      if (set && isThere(set)) return set;
      if (set) {
        this.#close(set);
        continue;
      }
      this.#making ??= this.#make().finally(() => {
        this.#making = undefined;
      });
      await this.#making;
    }
  }

  /** Takes a set back once no process has it open for writing; returns false while one has. */
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
    for (const set of this.#all) this.#close(set);
  }

  #close(set: PipeSet): void {
    this.#all.delete(set);
    set.out.close();
    set.err.close();
    closeSync(set.requestFd);
  }

  async #make(): Promise<void> {
    this.#runtime.ensure();
    const parent = join(this.#runtime.path, 'one-shots');
    const directories = Array.from({ length: SETS_AT_ONCE }, () => join(parent, String(this.#made++)));
    const { owner } = this.#runtime;
    for (const directory of [parent, ...directories]) makeDirectoryFor(owner, directory);
    const paths = directories.map((directory) => join(directory, 'one-shot'));
    await makeFifos(
      paths.flatMap((path) => [`${path}.out`, `${path}.err`, `${path}.req`]),
      owner,
    );
    if (this.#isClosed) return;
    for (const path of paths) {
      const set = openSet(path);
      this.#all.add(set);
      this.#free.push(set);
    }
  }
}

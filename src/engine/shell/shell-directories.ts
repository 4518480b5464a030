import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import type { ProcessDirectory } from '../instance/runtime-directory.js';
import { makeFifos } from '../system/fifo.js';
import { randomBytes } from '../system/random.js';
import { makeDirectoryFor } from '../system/file-owner.js';
import { shellFifos } from './shell-process.js';

/** Number of directories whose FIFOs are created by one process: to start it takes as long as to start a shell. */
const DIRECTORIES_AT_ONCE = 16;

/** Provides each shell with a directory of its own below the runtime directory, with its FIFOs. */
export class ShellDirectories {
  readonly #runtime: ProcessDirectory;
  readonly #ready: string[] = [];
  #making: Promise<void> | undefined;

  constructor(runtime: ProcessDirectory) {
    this.#runtime = runtime;
  }

  /**
   * Returns a directory for one shell.
   * @throws AdapterError RESOURCE_EXHAUSTED
   */
  async take(): Promise<string> {
    for (;;) {
      const directory = this.#ready.pop();
      // A command may have removed it.
      if (directory !== undefined && existsSync(directory)) return directory;
      if (directory !== undefined) continue;
      this.#making ??= this.#make().finally(() => {
        this.#making = undefined;
      });
      await this.#making;
    }
  }

  async #make(): Promise<void> {
    this.#runtime.ensure();
    const directories = Array.from({ length: DIRECTORIES_AT_ONCE }, () =>
      join(this.#runtime.path, `s${randomBytes(6).toString('hex')}`),
    );
    const { owner } = this.#runtime;
    for (const directory of directories) makeDirectoryFor(owner, directory);
    try {
      await makeFifos(directories.flatMap(shellFifos), owner);
    } catch (error) {
      throw new AdapterError('RESOURCE_EXHAUSTED', `named pipes could not be made: ${(error as Error).message}`, {
        cause: error,
      });
    }
    this.#ready.push(...directories);
  }
}

import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';

import { closeAll, makeFifos, openReader } from './fifo.js';
import { isAlive } from './process-table.js';

/** Name of the FIFO that a daemon holds open in some of its directories as long as it lives. */
const LIFE_SIGN = 'alive';

/**
 * By which daemons that share directories tell who of them still lives. Each run has a name, `PID-STARTTICKS-RANDOM`, which
 * its directories have too; but to a daemon in another container process numbers say nothing.
 */
export class LifeSigns implements Disposable {
  readonly #parents: readonly string[];
  readonly #descriptors: number[] = [];

  /** @param parents directories in which each run has one of its own, under its name, from its start */
  constructor(parents: readonly string[]) {
    this.#parents = parents;
  }

  /** Shows that a run lives, until this is disposed of. */
  async show(instance: string, parents: readonly string[] = this.#parents): Promise<void> {
    const paths = parents.map((parent) => join(parent, instance, LIFE_SIGN));
    try {
      await makeFifos(paths);
      for (const path of paths) this.#descriptors.push(openReader(path));
    } catch {
      // Not every file system has FIFOs. The number of the process tells most others all the same.
    }
  }

  /** Whether the daemon of a run lives. */
  isAlive(instance: string): boolean {
    return isProcessAlive(instance) || this.#parents.some((parent) => hasReader(join(parent, instance, LIFE_SIGN)));
  }

  [Symbol.dispose](): void {
    closeAll(this.#descriptors.splice(0));
  }
}

function hasReader(fifo: string): boolean {
  try {
    closeSync(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    // ENXIO: nobody has it open. ENOENT: it was not made yet, or could not be made.
    return false;
  }
}

function isProcessAlive(instance: string): boolean {
  const [pid, startTicks] = instance.split('-').map(Number);
  if (pid === undefined || startTicks === undefined) return false;
  // A daemon that was killed, and whose parent has not noticed yet, is dead.
  return isAlive({ pid, startTicks });
}

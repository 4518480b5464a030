import { closeSync, constants, openSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { closeAll, makeFifos, openReader } from '../system/fifo.js';
import { isAlive, readProcess } from '../process/process-table.js';
import { randomBytes } from '../system/random.js';

/** Name of the FIFO that a daemon holds open in some of its directories as long as it lives. */
const LIFE_SIGN = 'alive';
/** A daemon may take as long from making its directories to showing that it lives, in milliseconds. */
const MAKING_MS = 60_000;

/** Name of a run of a daemon, by which others can tell whether it still lives: `PID-STARTTICKS-NAMESPACE-RANDOM`. */
export function createInstanceId(): string {
  const startTicks = readProcess(process.pid)?.startTicks ?? 0;
  return [process.pid, startTicks, pidNamespace(), randomBytes(4).toString('hex')].join('-');
}

/**
 * By which daemons that share directories tell who of them still lives. Each run has a name, which its directories have too
 * and which tells its process; but to a daemon in another container the numbers of processes say nothing.
 */
export class LivenessMarker implements Disposable {
  readonly #parents: readonly string[];
  readonly #descriptors: number[] = [];

  /** @param parents directories in which each run has one of its own, under its name, from its start */
  constructor(parents: readonly string[]) {
    this.#parents = parents;
  }

  /** Shows that a run lives, until this is disposed of. Rejects where there can be no FIFOs: not every file system has them. */
  async create(instance: string, parents: readonly string[]): Promise<void> {
    const paths = parents.map((parent) => join(parent, instance, LIFE_SIGN));
    await makeFifos(paths);
    for (const path of paths) this.#descriptors.push(openReader(path));
  }

  /** Whether the daemon of a run lives. */
  isAlive(instance: string): boolean {
    const [pid = NaN, startTicks = NaN, namespace = NaN] = instance.split('-').map(Number);
    // One that was killed, and whose parent has not noticed yet, is dead.
    if (namespace === pidNamespace()) return isAlive({ pid, startTicks });
    const directories = this.#parents.map((parent) => join(parent, instance));
    return directories.some((directory) => hasReader(join(directory, LIFE_SIGN)) || isNew(directory));
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

function isNew(directory: string): boolean {
  const stat = statSync(directory, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs < MAKING_MS;
}

/** Number of the pid namespace of this process, namespaces(7); 0 where there is none. */
function pidNamespace(): number {
  try {
    return Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? 0);
  } catch {
    return 0;
  }
}

import { closeSync, constants, openSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { closeAll, makeFifos, openReader } from '../system/fifo.js';
import type { Platform } from '../platform/platform.js';
import { randomBytes } from '../system/random.js';

/** Name of the FIFO that a live daemon holds open in some of its directories. */
const MARKER_NAME = 'alive';
/** Longest time between the creation of a daemon's directories and its marker, in milliseconds. */
const SETUP_MS = 60_000;

/**
 * Creates the id of an instance, from which others can determine whether it is alive:
 * `PID-STARTTICKS-NAMESPACE-RANDOM`.
 */
export function createInstanceId({ processes, pidNamespace }: Platform): string {
  const startTicks = processes.read(process.pid)?.startTicks ?? 0;
  return [process.pid, startTicks, pidNamespace(), randomBytes(4).toString('hex')].join('-');
}

/**
 * Shows which of the daemons that share directories are alive. Each instance has an id, which its directories carry too
 * and which names its process; but pids are meaningless to a daemon in another container.
 */
export class LivenessMarker implements Disposable {
  readonly #parents: readonly string[];
  readonly #descriptors: number[] = [];
  readonly #platform: Platform;

  /** @param parents directories in which each instance has its own directory, named by its id, from its start */
  constructor(parents: readonly string[], platform: Platform) {
    this.#parents = parents;
    this.#platform = platform;
  }

  /**
   * Marks an instance as alive, until this is disposed of. Rejects where FIFOs cannot be created: not every file system
   * supports them.
   */
  async create(instance: string, parents: readonly string[]): Promise<void> {
    const paths = parents.map((parent) => join(parent, instance, MARKER_NAME));
    await makeFifos(paths);
    for (const path of paths) this.#descriptors.push(openReader(path));
  }

  /** Whether the daemon of an instance is alive. */
  isAlive(instance: string): boolean {
    const [pid = NaN, startTicks = NaN, namespace = NaN] = instance.split('-').map(Number);
    const { processes, pidNamespace } = this.#platform;
    // A zombie counts as dead.
    if (namespace === pidNamespace()) return processes.isAlive({ pid, startTicks });
    const directories = this.#parents.map((parent) => join(parent, instance));
    return directories.some((directory) => hasReader(join(directory, MARKER_NAME)) || isNew(directory));
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
    // ENXIO: no process has it open. ENOENT: it was not created yet, or could not be created.
    return false;
  }
}

function isNew(directory: string): boolean {
  const stat = statSync(directory, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs < SETUP_MS;
}

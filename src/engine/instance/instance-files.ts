import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { LogFactory } from '../../core/log.js';
import type { Platform } from '../platform/platform.js';
import { endProcesses, signalProcesses } from '../process/end-processes.js';
import { findInstanceProcesses } from '../process/find-processes.js';
import { removeTreeSync, tryRemoveTree } from '../system/local-files.js';
import { LivenessMarker } from './liveness-marker.js';
import { findDeadInstances, groupsOf, makeRuntimeDirectory, type RuntimeDirectory } from './runtime-directory.js';

/** The directories of this instance of the daemon, with the marker that shows that it lives. */
export class InstanceFiles implements Disposable {
  readonly runtime: RuntimeDirectory;
  /** Without it, only the head of each output is kept, in memory. */
  readonly spoolDirectory: string;
  readonly liveness: LivenessMarker;
  readonly #spoolRoot: string;
  readonly #platform: Platform;
  readonly #log: LogFactory;

  constructor(stateDirectory: string, platform: Platform, log: LogFactory) {
    this.#platform = platform;
    this.#log = log;
    this.runtime = makeRuntimeDirectory(platform);
    this.#spoolRoot = join(stateDirectory, 'spool');
    this.spoolDirectory = join(this.#spoolRoot, this.runtime.instance);
    this.liveness = new LivenessMarker([dirname(this.runtime.path), this.#spoolRoot], platform);
  }

  /** Shows that this daemon lives, and removes what killed daemons have left. */
  async prepare(): Promise<void> {
    mkdirSync(this.spoolDirectory, { recursive: true, mode: 0o700 });
    const runtimeParent = dirname(this.runtime.path);
    await this.#show([runtimeParent, this.#spoolRoot]);
    this.runtime.onRestored(() => void this.#show([runtimeParent]));
    await this.#sweep();
  }

  /** Kills every process at once and removes the files without waiting. */
  abandon(): void {
    const { processes } = this.#platform;
    const { instance, path } = this.runtime;
    const groups = groupsOf(path);
    signalProcesses(findInstanceProcesses(instance, processes, groups.members()), 'SIGKILL', processes);
    groups.remove();
    removeTreeSync(path);
    removeTreeSync(this.spoolDirectory);
  }

  [Symbol.dispose](): void {
    this.liveness[Symbol.dispose]();
    tryRemoveTree(this.spoolDirectory, this.#log('engine'));
    tryRemoveTree(this.runtime.path, this.#log('engine'));
  }

  /** Without the marker, only daemons that can see this process recognise that it is alive. */
  async #show(parents: readonly string[]): Promise<void> {
    try {
      await this.liveness.create(this.runtime.instance, parents);
    } catch (error) {
      this.#log('recovery').warn('daemons in other containers cannot tell that this one lives', {
        error: String(error),
      });
    }
  }

  async #sweep(): Promise<void> {
    const { processes } = this.#platform;
    const log = this.#log('recovery');
    for (const { instance, path } of findDeadInstances(this.runtime, this.liveness)) {
      const groups = groupsOf(path);
      const find = () => findInstanceProcesses(instance, processes, groups.members());
      const survivors = await endProcesses(find, 0, { processes });
      groups.remove();
      tryRemoveTree(path, log);
      log.warn('what a killed daemon had left was removed', { instance, survivors: survivors.length });
    }
    // The runtime directory may have been removed by a daemon with another state directory, which leaves the spool.
    const spools = existsSync(this.#spoolRoot) ? readdirSync(this.#spoolRoot) : [];
    for (const instance of spools.filter((name) => !this.liveness.isAlive(name))) {
      tryRemoveTree(join(this.#spoolRoot, instance), log);
    }
  }
}

import { statfsSync } from 'node:fs';

import type { Log } from '../core/log.js';
import { ProcessSnapshot } from '../engine/limits/process-snapshot.js';
import type { Watched } from '../engine/limits/watched.js';
import { ResourceWatch, type WatchListener, type WatchSettings } from './resource-watch.js';

/** Watches that are due within this time of each other are looked at together. */
const SLACK_MS = 4;

/** What the monitor is made of. */
export interface ResourceMonitorOptions {
  /** Directory on whose disk the free space is kept. */
  readonly workspace: string;
  readonly settings: () => WatchSettings;
  readonly log: Log;
}

/**
 * Keeps limits on CPU, memory, processes and disks: looks at everything that runs, warns, and ends what has exceeded a
 * limit. Sessions and one-shots come to it when a command takes longer than a moment, and leave when nothing of them runs;
 * with nothing to look at there is no timer.
 */
export class ResourceMonitor implements Disposable {
  readonly #options: ResourceMonitorOptions;
  readonly #watches = new Map<Watched, ResourceWatch>();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;

  constructor(options: ResourceMonitorOptions) {
    this.#options = options;
  }

  /** A command takes its time: it is looked at from now on, and with it all that runs in its session. */
  watch(watched: Watched, listener: WatchListener): void {
    let watch = this.#watches.get(watched);
    if (!watch) {
      watch = new ResourceWatch(watched, listener, this.#options.settings());
      this.#watches.set(watched, watch);
    }
    watch.beginCommand();
    this.#look([watch]);
  }

  /** Somebody wants to know what a session uses: it is looked at now, if something of it runs. */
  hasten(watched: Watched): void {
    const watch = this.#watches.get(watched);
    if (watch) this.#look([watch]);
  }

  /** A session has ended. */
  forget(watched: Watched): void {
    this.#watches.delete(watched);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#watches.clear();
  }

  #look(due: readonly ResourceWatch[]): void {
    const snapshot = new ProcessSnapshot();
    const freeBytes = this.#freeBytes();
    for (const watch of due) {
      try {
        if (watch.look(snapshot, freeBytes)) {
          watch.dueAt = performance.now() + watch.takePause();
          continue;
        }
      } catch (error) {
        // Its group was removed under it, or the daemon is out of descriptors.
        this.#options.log.warn('resources could not be looked at', { error: String(error) });
      }
      this.#watches.delete(watch.watched);
    }
    this.#schedule();
  }

  #schedule(): void {
    const dueAt = Math.min(Infinity, ...[...this.#watches.values()].map((watch) => watch.dueAt));
    if (dueAt === this.#timerAt && this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAt = dueAt;
    if (dueAt === Infinity) return;
    const wait = Math.max(1, dueAt - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const until = performance.now() + SLACK_MS;
      this.#look([...this.#watches.values()].filter((watch) => watch.dueAt <= until));
    }, wait).unref();
  }

  /** Free space of the workspace's disk; undefined when nobody asks for some to be left. */
  #freeBytes(): number | undefined {
    if (this.#options.settings().diskFreeMbFloor === undefined) return undefined;
    try {
      const { bavail, bsize } = statfsSync(this.#options.workspace);
      return bavail * bsize;
    } catch {
      // The workspace was removed.
      return undefined;
    }
  }
}

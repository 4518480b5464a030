import type { ProcessGroup } from '../limits/mechanism.js';
import { PendingWork } from '../system/pending-work.js';
import type { ProcessStarter } from './process-starter.js';
import { plainRoot } from '../process/process-root.js';
import {
  endProcesses,
  findMarkedOnly,
  findSessionProcesses,
  findTaggedWith,
  sendSignal,
} from '../process/process-tree.js';
import type { RuntimeDirectory } from '../instance/runtime-directory.js';

/** One walk over /proc looks after all one-shots that have ended in this time for processes that left their group. */
const SWEEP_AFTER_MS = 400;

/** The process of a one-shot that has ended. */
export interface EndedOneShot {
  readonly pid: number | undefined;
  readonly tag: string;
  /** Whether it has ended with all that it had started. */
  readonly isIsolated: boolean;
  /** Disposed of when nothing is left in it. */
  readonly group: ProcessGroup;
}

/** What leftovers are ended with. */
export interface OrphanReaperOptions {
  /** Names the daemon's own part of the processes' tags. */
  readonly runtime: Pick<RuntimeDirectory, 'instance'>;
  /** Programs that are no shells have its mark. */
  readonly starter: Pick<ProcessStarter, 'tag'>;
  /** Time between SIGTERM and SIGKILL. */
  readonly killGraceMs: number;
}

/** Ends what one-shots have left behind. */
export class OrphanReaper implements AsyncDisposable {
  readonly #options: OrphanReaperOptions;
  readonly #isIdle: () => boolean;
  readonly #tags: string[] = [];
  readonly #ending = new PendingWork();
  #timer: NodeJS.Timeout | undefined;

  /** @param isIdle whether no one-shot runs */
  constructor(options: OrphanReaperOptions, isIdle: () => boolean) {
    this.#options = options;
    this.#isIdle = isIdle;
  }

  /**
   * Ends what one process has left: its process group at once, what has left the group with the next sweep. A sandbox has
   * ended with all that was in it.
   */
  end(ended: EndedOneShot): void {
    const { pid, tag, group, isIsolated } = ended;
    if (pid === undefined) {
      group[Symbol.dispose]();
      return;
    }
    // What has left the process group is in the control group still, and cannot be missed there.
    if ((!isIsolated && sendSignal(-pid, 'SIGTERM')) || group.members().length > 0) {
      this.#ending.add(this.#endNow(ended));
    } else {
      // The answer need not wait for it.
      setImmediate(() => {
        group[Symbol.dispose]();
      });
    }
    this.#tags.push(tag);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#ending.add(this.#sweep());
    }, SWEEP_AFTER_MS).unref();
  }

  /** Resolves when nothing is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    await this.#sweep();
    await Promise.all(this.#ending.all);
  }

  async #endNow({ pid, tag, group }: EndedOneShot): Promise<void> {
    const root = pid === undefined ? undefined : plainRoot(pid);
    await endProcesses(() => findSessionProcesses({ root, tag, group }), this.#options.killGraceMs, { group });
    group[Symbol.dispose]();
  }

  async #sweep(): Promise<void> {
    const tags = new Set(this.#tags.splice(0));
    if (tags.size === 0) return;
    const { runtime, starter, killGraceMs } = this.#options;
    await endProcesses(() => findTaggedWith(runtime.instance, tags), killGraceMs);
    // Which program has left these cannot be told: so they end when none runs.
    if (this.#isIdle()) await endProcesses(() => findMarkedOnly(starter.tag), killGraceMs);
  }
}

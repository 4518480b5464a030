import { setTimeout as sleep } from 'node:timers/promises';

import type { Log } from '../../core/log.js';
import type { ProcessGroup } from '../limits/mechanism.js';
import { PendingWork } from '../system/promises.js';
import type { ProcessStarter } from './process-starter.js';
import { isListedByProgram, type Platform, type ProcessEntry } from '../platform/platform.js';
import { findMarkedOnly, findSessionProcesses, findTaggedWith, plainRoot } from '../process/find-processes.js';
import { endProcesses } from '../process/end-processes.js';
import { sendSignal } from '../system/signals.js';
import type { ProcessDirectory } from '../instance/runtime-directory.js';

/**
 * Delay of the sweep, in milliseconds: one look at all processes searches for processes that left their group, for all
 * one-shots that have ended in this time.
 */
const SWEEP_AFTER_MS = 400;

/**
 * Time after which a process is examined again before it counts as one without an environment, in milliseconds: while
 * a program is being executed, the kernel shows none.
 */
const STARTING_MS = 20;

/** The process of a one-shot that has ended. */
export interface EndedOneShot {
  readonly pid: number | undefined;
  readonly tag: string;
  /** Whether it ended together with everything that it had started. */
  readonly isIsolated: boolean;
  /** Disposed of when it is empty. */
  readonly group: ProcessGroup;
}

/** Dependencies of `OrphanReaper`. */
export interface OrphanReaperOptions {
  readonly platform: Pick<Platform, 'processes' | 'can'>;
  /** Its instance id is the prefix of the processes' tags. */
  readonly runtime: Pick<ProcessDirectory, 'instance'>;
  /** Processes of programs that are not shells carry the starter's session mark. */
  readonly starter: Pick<ProcessStarter, 'tag'>;
  /** Time between SIGTERM and SIGKILL. */
  readonly killGraceMs: number;
  readonly log: Log;
}

/** Ends the orphans of one-shots. */
export class OrphanReaper implements AsyncDisposable {
  readonly #options: OrphanReaperOptions;
  readonly #isIdle: () => boolean;
  readonly #tags: string[] = [];
  readonly #ending: PendingWork;
  #timer: NodeJS.Timeout | undefined;

  /** @param isIdle whether no one-shot runs */
  constructor(options: OrphanReaperOptions, isIdle: () => boolean) {
    this.#options = options;
    this.#isIdle = isIdle;
    this.#ending = new PendingWork((error) => {
      options.log.warn('what one-shots have left could not be searched for', { error: String(error) });
    });
  }

  /**
   * Ends the orphans of one process: its process group immediately, processes that have left the group with the next
   * sweep. Everything in a sandbox has ended with it.
   */
  end(ended: EndedOneShot): void {
    const { pid, tag, group, isIsolated } = ended;
    if (pid === undefined) {
      group[Symbol.dispose]();
      return;
    }
    // Processes that have left the process group are still in the control group, which finds all of them.
    if ((!isIsolated && sendSignal(-pid, 'SIGTERM')) || group.members().length > 0) {
      this.#ending.add(this.#endNow(ended));
    } else {
      // The result does not wait for the disposal.
      setImmediate(() => {
        group[Symbol.dispose]();
      });
    }
    this.#sweepLater([tag]);
  }

  #sweepLater(tags: readonly string[]): void {
    this.#tags.push(...tags);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#ending.add(this.#sweep());
    }, SWEEP_AFTER_MS).unref();
  }

  /** Resolves when no orphan is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    this.#ending.add(this.#sweep());
    await Promise.all(this.#ending.all);
    // After a search that has failed.
    clearTimeout(this.#timer);
  }

  async #endNow({ pid, tag, group }: EndedOneShot): Promise<void> {
    const { killGraceMs, platform } = this.#options;
    const { processes } = platform;
    const root = pid === undefined ? undefined : plainRoot(pid);
    const find = () => findSessionProcesses({ root, tag, group, processes });
    try {
      await endProcesses(find, killGraceMs, { processes, group });
    } finally {
      group[Symbol.dispose]();
    }
  }

  async #sweep(): Promise<void> {
    const tags = new Set(this.#tags.splice(0));
    if (tags.size === 0) return;
    try {
      await this.#endTagged(tags);
    } catch (error) {
      this.#sweepLater([...tags]);
      throw error;
    }
  }

  async #endTagged(tags: ReadonlySet<string>): Promise<void> {
    const { runtime, starter, killGraceMs, platform } = this.#options;
    const { processes } = platform;
    const find = () => findTaggedWith(runtime.instance, tags, processes);
    // The search at the end of each one-shot has found nothing that stays either, or it was ended.
    const hasNone = isListedByProgram(processes) && (await processes.ask(find)).length === 0;
    if (!hasNone) await endProcesses(find, killGraceMs, { processes });
    if (!platform.can.marks) return;
    // The program that left these cannot be determined: they are ended when none runs.
    while (this.#isIdle()) {
      const suspects = findMarkedOnly(starter.tag, processes);
      if (suspects.length === 0) return;
      await sleep(STARTING_MS);
      const orphans = () =>
        findMarkedOnly(starter.tag, processes).filter((entry) => suspects.some((other) => isSame(entry, other)));
      const survivors = this.#isIdle() ? await endProcesses(orphans, killGraceMs, { processes }) : [];
      if (survivors.length > 0) return;
    }
  }
}

const isSame = (a: ProcessEntry, b: ProcessEntry): boolean => a.pid === b.pid && a.startTicks === b.startTicks;

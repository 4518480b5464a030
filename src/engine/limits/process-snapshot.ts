import { uptime } from 'node:os';

import {
  bytesWrittenBy,
  listProcesses,
  type ProcessEntry,
  readProcess,
  readTag,
  TICKS_PER_SECOND,
} from '../process-table.js';

/** A process younger than this may still become another program and get another environment, in clock ticks. */
const YOUNG_TICKS = TICKS_PER_SECOND;

interface KnownTag {
  readonly startTicks: number;
  readonly tag: string | undefined;
}

/** Remembers the tags of processes from one look to the next: reading an environment costs as much as all else. */
export class TagMemory {
  #tags = new Map<number, KnownTag>();

  /** The tag that a process has, or had when it was first seen: programs can change what they show. */
  tagOf({ pid, startTicks }: ProcessEntry): string | undefined {
    const known = this.#tags.get(pid);
    const isYoung = uptime() * TICKS_PER_SECOND - startTicks < YOUNG_TICKS;
    if (known?.startTicks === startTicks && (known.tag !== undefined || !isYoung)) return known.tag;
    const tag = readTag(pid);
    this.#tags.set(pid, { startTicks, tag });
    return tag;
  }

  /** Forgets processes that have gone. */
  keepOnly(pids: ReadonlySet<number>): void {
    for (const pid of this.#tags.keys()) if (!pids.has(pid)) this.#tags.delete(pid);
  }
}

/** Processes as they are at one moment, for all groups that are looked at then: one walk over /proc, or none. */
export class ProcessSnapshot {
  #all: readonly ProcessEntry[] | undefined;
  readonly #written = new Map<number, number>();

  /** Every process of the machine. */
  all(): readonly ProcessEntry[] {
    this.#all ??= listProcesses();
    return this.#all;
  }

  /** These processes; those that have gone are left out. */
  of(pids: readonly number[]): ProcessEntry[] {
    return pids.flatMap((pid) => readProcess(pid) ?? []);
  }

  writtenBy(pid: number): number {
    let bytes = this.#written.get(pid);
    if (bytes === undefined) this.#written.set(pid, (bytes = bytesWrittenBy(pid)));
    return bytes;
  }
}

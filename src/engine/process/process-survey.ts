import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { isRunning, type ProcessEntry, type Processes } from '../platform/platform.js';

/*
 * A second identification of a session, for processes that have cleared their environment and their tag with it: a
 * number in the soft limit of file locks (RLIMIT_LOCKS). Linux has not enforced that limit since 2.4.25 (getrlimit(2)),
 * inherits it through fork(2) and execve(2) whatever a process does to its environment, session or parent, and shows it
 * to every user in /proc/PID/limits. Any shell can set it. Only a process that sets this very limit itself loses the
 * mark.
 */

/** Variable that passes the mark to a starting shell; the shell removes the variable. */
export const MARK_VARIABLE = '__SA_MARK';

/**
 * Bits for the instance, and as many for the session. Together they stay below the sign bit, which not every shell can
 * parse.
 */
const PART_BITS = 31n;

const partOf = (text: string): bigint =>
  BigInt(createHash('sha256').update(text).digest().readUInt32BE()) & ((1n << PART_BITS) - 1n);

/**
 * Returns the mark of a session's processes, as a decimal number.
 * @param tag `instance.session`
 */
export function markOf(tag: string): string {
  const instance = tag.slice(0, tag.lastIndexOf('.'));
  return String((partOf(instance) << PART_BITS) | partOf(tag));
}

/**
 * Returns a predicate for origins of a session, or of one of its commands.
 * @param tag `instance.session`
 */
export function isOriginIn(tag: string): (origin: string | undefined) => boolean {
  const mark = markOf(tag);
  return (origin) =>
    origin !== undefined &&
    (origin === mark || (origin.startsWith(tag) && (origin.length === tag.length || origin[tag.length] === '.')));
}

/** Returns a predicate for origins of any session, or other process, of an instance. */
export function isOriginOf(instance: string): (origin: string | undefined) => boolean {
  const part = partOf(instance);
  return (origin) =>
    origin !== undefined &&
    (origin.startsWith(`${instance}.`) || (/^\d+$/.test(origin) && BigInt(origin) >> PART_BITS === part));
}

/** Processes that are known to belong together, regardless of their tags and marks. */
export interface KnownMembers {
  /** Whether `members` is complete and cheap. */
  readonly isKeptByKernel: boolean;
  members(): readonly number[];
  /** Blocks or unblocks fork(2) for all members. */
  holdForks(isHeld: boolean): void;
}

/** A tag `instance.session` from the origin of a process: without the number of a command. */
const sessionOf = (origin: string): string => /^[^.]*\.[^.]*/.exec(origin)?.[0] ?? origin;

/**
 * The processes that run on the machine at one moment, found by what they are known by. Costs some 10 µs for each
 * process of the machine, and little for each question.
 */
export class ProcessSurvey {
  readonly #processes: Processes;
  readonly #byPid = new Map<number, ProcessEntry>();
  readonly #byParent = new Map<number, ProcessEntry[]>();
  readonly #byTerminalSession = new Map<number, ProcessEntry[]>();
  readonly #origins = new Map<ProcessEntry, string>();
  /** By the tag of a session, `instance.session`, or by a mark. */
  readonly #byOrigin = new Map<string, ProcessEntry[]>();

  constructor(processes: Processes) {
    this.#processes = processes;
    for (const entry of processes.list()) if (isRunning(entry)) this.#add(entry);
  }

  /** All processes. */
  get entries(): readonly ProcessEntry[] {
    return [...this.#byPid.values()];
  }

  /** Returns the tag of a process, or without one its mark. */
  originOf(entry: ProcessEntry): string | undefined {
    return this.#origins.get(entry);
  }

  /**
   * Adds the members of a group that the walk has missed: a process that was started after the walk had passed its
   * number, by a parent that has ended since, is found nowhere else. Returns the members.
   */
  include(group: KnownMembers | undefined): readonly ProcessEntry[] {
    return (group?.members() ?? []).flatMap((pid) => {
      const entry = this.#byPid.get(pid) ?? this.#processes.read(pid);
      if (!entry || !isRunning(entry)) return [];
      if (!this.#byPid.has(pid)) this.#add(entry);
      return entry;
    });
  }

  /** Processes of a session of the kernel: those on one terminal. */
  inSession(leader: number | undefined): readonly ProcessEntry[] {
    return (leader !== undefined && this.#byTerminalSession.get(leader)) || [];
  }

  /**
   * Processes with the tag or the mark of a session.
   * @param tag `instance.session`
   */
  withTag(tag: string): readonly ProcessEntry[] {
    return [...(this.#byOrigin.get(tag) ?? []), ...(this.#byOrigin.get(markOf(tag)) ?? [])];
  }

  /**
   * The processes with these pids, and all their descendants, in the order of their pids: signals must reach parents
   * first, since a shell reports children that were killed.
   */
  withDescendants(pids: Iterable<number>): ProcessEntry[] {
    const found = new Map<number, ProcessEntry>();
    const waiting = [...pids];
    for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
      if (found.has(pid)) continue;
      const entry = this.#byPid.get(pid);
      if (entry) found.set(pid, entry);
      // A process that has ended may have children, too: they were read before it ended.
      for (const child of this.#byParent.get(pid) ?? []) waiting.push(child.pid);
    }
    return [...found.values()].sort((a, b) => a.pid - b.pid);
  }

  #add(entry: ProcessEntry): void {
    this.#byPid.set(entry.pid, entry);
    addTo(this.#byParent, entry.parent, entry);
    addTo(this.#byTerminalSession, entry.session, entry);
    const origin = this.#processes.originOf(entry);
    if (origin === undefined) return;
    this.#origins.set(entry, origin);
    addTo(this.#byOrigin, sessionOf(origin), entry);
  }
}

function addTo<K>(index: Map<K, ProcessEntry[]>, key: K, entry: ProcessEntry): void {
  const entries = index.get(key);
  if (entries) entries.push(entry);
  else index.set(key, [entry]);
}

const pending = new WeakMap<Processes, Promise<ProcessSurvey>>();

/** Returns a survey that begins after the call: one for everybody who asks in the same turn of the event loop. Rejects after EMFILE. */
export function nextSurvey(processes: Processes): Promise<ProcessSurvey> {
  const asked = pending.get(processes);
  if (asked) return asked;
  const survey = new Promise((resolve) => setImmediate(resolve)).then(() => {
    pending.delete(processes);
    return processes.ask(() => new ProcessSurvey(processes));
  });
  pending.set(processes, survey);
  return survey;
}

/** Pauses before processes are asked about again that could not be listed, in milliseconds. */
const PAUSES_MS = [50, 150, 300, 500];

/**
 * Asks about processes, and again for a second if they cannot be listed: a machine without free processes cannot run ps(1),
 * and a daemon without free descriptors cannot read /proc. The first answer is passed on as it is, without a promise.
 * @throws the last error, as a rejection
 */
export function askPatiently<T>(ask: () => T | Promise<T>): T | Promise<T> {
  try {
    const answer = ask();
    return answer instanceof Promise ? answer.catch(() => askAgain(ask)) : answer;
  } catch {
    return askAgain(ask);
  }
}

async function askAgain<T>(ask: () => T | Promise<T>, [pauseMs = 0, ...later] = PAUSES_MS): Promise<T> {
  await sleep(pauseMs);
  try {
    return await ask();
  } catch (error) {
    if (later.length === 0) throw error;
    return askAgain(ask, later);
  }
}

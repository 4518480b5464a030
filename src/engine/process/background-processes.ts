import { setTimeout as sleep } from 'node:timers/promises';

import { findNewProcesses } from './new-processes.js';
import type { ProcessEntry } from '../platform/contract/process-entry.js';
import type { Processes } from '../platform/contract/processes.js';
import type { StartMarker } from '../platform/contract/start-marker.js';
import type { ProcessRoot } from './process-root.js';
import { findSessionProcesses, type SessionScope } from './find-processes.js';
import { type ReportedProcess, reportProcess } from './reported-process.js';

/**
 * Pauses between searches, in milliseconds: a process that has just been forked still shows the command line of its
 * shell, and a launcher such as setsid(1) soon execs another program.
 */
const PAUSES_MS = [3, 6, 12, 24];
/**
 * The same as a multiple where searches are made aside, by a program: the platform cannot tell there that a process still
 * waits for a CPU, and a few milliseconds more are nothing beside the search.
 */
const PAUSE_ASIDE = 4;
/** Pause, in milliseconds, while a young process still waits for a CPU to get to its exec(2) on a loaded machine. */
const LOADED_PAUSE_MS = 24;

/** Where to search, and how to recognise processes that are still appearing. */
export interface BackgroundProcessesQuery {
  readonly scope: SessionScope;
  /** Whether there must be at least one: a process holds the command's pipes. */
  readonly mustBeThere: boolean;
  readonly isAppearing: (entry: ProcessEntry) => boolean;
}

/**
 * Finds the processes that a command has left running, and searches again until new processes have reached their final
 * program. After the first search only the processes found, and those started since, are examined.
 */
export async function findBackgroundProcesses({
  scope,
  mustBeThere,
  isAppearing,
}: BackgroundProcessesQuery): Promise<ProcessEntry[]> {
  const { processes } = scope;
  let last: Search | undefined;
  let before: string | undefined;
  for (let round = 0; ; round += 1) {
    const look = () => search(scope, last);
    last = processes.askAside ? await processes.askAside(look) : look();
    const { seen, found } = last;
    // A process that has ended meanwhile may have started another one before.
    const hasLost = found.length < seen.length;
    const isMissing = hasLost || (mustBeThere && found.length === 0);
    const shown = found.map(({ pid, name }) => `${pid} ${name}`).join();
    const isSettled = shown === before || !found.some(processes.isYoung);
    const appearing = found.filter(isAppearing);
    const pause = pauseAfter(round, processes, appearing);
    if (pause === undefined || (!isMissing && isSettled && appearing.length === 0)) return [...found];
    before = shown;
    await sleep(pause);
  }
}

/** What a search has found, and when it began. */
interface Search {
  readonly beginning: StartMarker;
  readonly seen: readonly ProcessEntry[];
  readonly living: readonly ProcessEntry[];
  /** Those that are not about to end. */
  readonly found: readonly ProcessEntry[];
}

/** Searches everywhere, or after another search, for what has been started since. */
function search(scope: SessionScope, last: Search | undefined): Search {
  const { processes } = scope;
  const since = last?.beginning ?? processes.markStart();
  const earlier = last?.living ?? findSessionProcesses(scope);
  const beginning = processes.markStart();
  const known = new Set(earlier.map(({ pid }) => pid));
  const seen = [...earlier, ...findNewProcesses(scope, since).filter(({ pid }) => !known.has(pid))];
  const living = seen.flatMap((entry) => asItIsNow(entry, processes));
  // During execve(2) a process looks like one that is ending.
  return { beginning, seen, living, found: living.filter((entry) => !processes.isEnding(entry)) };
}

/** Returns the pause after a search, in milliseconds; undefined when there is no use in another one. */
function pauseAfter(
  round: number,
  { askAside, isWaitingForCpu }: Processes,
  appearing: readonly ProcessEntry[],
): number | undefined {
  const pause = PAUSES_MS[round] ?? (appearing.some(isWaitingForCpu) ? LOADED_PAUSE_MS : undefined);
  return pause && pause * (askAside ? PAUSE_ASIDE : 1);
}

/** Returns the current state of a process; empty if it has ended. */
function asItIsNow(entry: ProcessEntry, { isAlive, read }: Processes): readonly ProcessEntry[] {
  const now = isAlive(entry) ? read(entry.pid) : undefined;
  return now ? [now] : [];
}

/**
 * Describes the processes that stay. A subshell shows its shell's command line, which is not informative: it is
 * reported as a subshell.
 */
export function reportBackgroundProcesses(
  entries: readonly ProcessEntry[],
  shell: { readonly line: string | undefined; readonly name: string },
  processes: Processes,
  root?: ProcessRoot,
): ReportedProcess[] {
  const staying = entries.filter((entry) => processes.isAlive(entry) && !processes.isEnding(entry));
  return staying.map((entry) => {
    if (processes.commandLine(entry) !== shell.line) return reportProcess(entry, processes, root);
    return { ...reportProcess(entry, processes, root), command: `(subshell of ${shell.name})` };
  });
}

/** Returns the command line of a process, as its forked processes show it. */
export function commandLineOf(pid: number, processes: Processes): string {
  return processes.commandLine({ pid, name: '' });
}

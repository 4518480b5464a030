import { setTimeout as sleep } from 'node:timers/promises';

import { markStart } from './start-marker.js';
import { findNewProcesses } from './new-processes.js';
import { commandLine, isAlive, isEnding, isYoung, type ProcessEntry, readProcess } from './process-table.js';
import type { ProcessRoot } from './process-root.js';
import { findSessionProcesses, type ReportedProcess, reportProcess, type SessionScope } from './process-tree.js';

/**
 * Pauses after which processes are looked for again: what has only just been forked still shows the command line of its
 * shell, and a launcher such as setsid(1) is soon another process.
 */
const PAUSES_MS = [3, 6, 12, 24];

/** What to look for, and how to know that all of it has appeared. */
export interface BackgroundProcessesQuery {
  readonly scope: SessionScope;
  /** Whether there must be some: somebody holds the command's pipes. */
  readonly mustBeThere: boolean;
  readonly isAppearing: (entry: ProcessEntry) => boolean;
}

/**
 * Finds what a command has left running, and looks again until what has only just begun shows what it is. After the first
 * look only what was found, and what was started since, is looked at.
 */
export async function findBackgroundProcesses({
  scope,
  mustBeThere,
  isAppearing,
}: BackgroundProcessesQuery): Promise<ProcessEntry[]> {
  let beginning = markStart();
  let living = findSessionProcesses(scope);
  let before: string | undefined;
  for (let round = 0; ; round += 1) {
    const since = beginning;
    beginning = markStart();
    const known = new Set(living.map(({ pid }) => pid));
    const seen = [...living, ...findNewProcesses(scope, since).filter(({ pid }) => !known.has(pid))];
    living = seen.flatMap(asItIsNow);
    // For a moment of its execve(2) a process looks as one that is ending.
    const found = living.filter((entry) => !isEnding(entry));
    // What has ended meanwhile may have started another process before.
    const hasLost = found.length < seen.length;
    const isMissing = hasLost || (mustBeThere && found.length === 0);
    const shown = found.map(({ pid, name }) => `${pid} ${name}`).join();
    const isSettled = shown === before || !found.some(isYoung);
    const pause = PAUSES_MS[round];
    if (pause === undefined || (!isMissing && isSettled && !found.some(isAppearing))) return found;
    before = shown;
    await sleep(pause);
  }
}

/** A process as it is now; nothing if it has ended. */
function asItIsNow(entry: ProcessEntry): readonly ProcessEntry[] {
  const now = isAlive(entry) ? readProcess(entry.pid) : undefined;
  return now ? [now] : [];
}

/** Describes those that stay. A subshell shows its shell's command line, which tells nothing: it is named so. */
export function reportBackgroundProcesses(
  entries: readonly ProcessEntry[],
  shell: { readonly line: string | undefined; readonly name: string },
  root?: ProcessRoot,
): ReportedProcess[] {
  const staying = entries.filter((entry) => isAlive(entry) && !isEnding(entry));
  return staying.map((entry) => {
    if (commandLine(entry) !== shell.line) return reportProcess(entry, root);
    return { ...reportProcess(entry, root), command: `(subshell of ${shell.name})` };
  });
}

/** The command line of a process, as processes that it has forked show it. */
export function commandLineOf(pid: number): string {
  return commandLine({ pid, name: '' });
}

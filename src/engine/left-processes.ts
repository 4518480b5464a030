import { setTimeout as sleep } from 'node:timers/promises';

import { commandLine, isAlive, isEnding, isYoung, type ProcessEntry } from './process-table.js';
import type { ProcessRoot } from './process-root.js';
import { type ProcessFinder, type ReportedProcess, reportProcesses } from './process-tree.js';

/**
 * Pauses after which processes are looked for again: a walk over /proc misses what is forked meanwhile, what has only just
 * been forked still shows the command line of its shell, and a launcher such as setsid(1) is soon another process.
 */
const PAUSES_MS = [3, 6, 12, 24];

/** What to look for, and how to know that all of it has appeared. */
export interface LeftProcessesQuery {
  readonly find: ProcessFinder;
  /** Whether there must be some: somebody holds the command's pipes. */
  readonly mustBeThere: boolean;
  readonly isAppearing: (entry: ProcessEntry) => boolean;
}

/** Finds what a command has left running, and looks again until what has only just begun shows what it is. */
export async function findLeftProcesses({
  find,
  mustBeThere,
  isAppearing,
}: LeftProcessesQuery): Promise<ProcessEntry[]> {
  const look = () => find().filter((entry) => isAlive(entry) && !isEnding(entry));
  let found = look();
  let before: string | undefined;
  for (const pause of PAUSES_MS) {
    const isMissing = mustBeThere && found.length === 0;
    const shown = found.map(({ pid, name }) => `${pid} ${name}`).join();
    const isSettled = shown === before || !found.some(isYoung);
    if (!isMissing && isSettled && !found.some(isAppearing)) break;
    before = shown;
    await sleep(pause);
    found = look();
  }
  return found;
}

/** Describes those that stay. A subshell shows its shell's command line, which tells nothing: it is named so. */
export function reportLeftProcesses(
  entries: readonly ProcessEntry[],
  shell: { readonly line: string | undefined; readonly name: string },
  root?: ProcessRoot,
): ReportedProcess[] {
  const staying = entries.filter((entry) => isAlive(entry) && !isEnding(entry));
  return reportProcesses(staying, root).map(({ pid, command }) => ({
    pid,
    command: command === shell.line ? `(subshell of ${shell.name})` : command,
  }));
}

/** The command line of a process, as processes that it has forked show it. */
export function lineOf(pid: number): string {
  return commandLine({ pid, name: '' });
}

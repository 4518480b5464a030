import { setTimeout as sleep } from 'node:timers/promises';

import { commandLine, isAlive, isEnding, type ProcessEntry, readProcess } from './process-table.js';
import { findSessionProcesses, type ReportedProcess, reportProcesses } from './process-tree.js';
import type { ShellProcess } from './shell-process.js';

/** A subshell that has only just been forked still shows the shell's command line; its program follows in a moment. */
const EXEC_SETTLE_MS = 3;

/**
 * What the commands of a session have left running. Processes are only looked for when there is a sign of new ones: the
 * shell's `$!` has changed, or somebody still holds a command's pipes.
 */
export class BackgroundJobs {
  #lastPid = 0;
  #known: ProcessEntry[] = [];

  /** Whether a report shows that there may be new ones. */
  hasNew(backgroundPid: number, isHeld: boolean): boolean {
    const hasNewPid = backgroundPid !== this.#lastPid;
    this.#lastPid = backgroundPid;
    return hasNewPid || isHeld;
  }

  /** Looks for them; a second time when some were just about to appear. */
  async look(shell: ShellProcess): Promise<void> {
    this.#known = findSessionProcesses(shell.tag, shell.pid);
    const shellLine = lineOf(shell.pid);
    if (this.#known.length > 0 && !this.#known.some((entry) => commandLine(entry) === shellLine)) return;
    await sleep(EXEC_SETTLE_MS);
    this.#known = findSessionProcesses(shell.tag, shell.pid);
  }

  /** Those that still run. A subshell shows its shell's command line, which tells nothing: it is named so. */
  report(shell: ShellProcess): ReportedProcess[] {
    if (this.#known.length === 0) return [];
    this.#known = this.#known.filter(isAlive);
    const shellLine = lineOf(shell.pid);
    const staying = this.#known.filter((entry) => !isEnding(entry));
    return reportProcesses(staying).map(({ pid, command }) => ({
      pid,
      command: command === shellLine ? `(subshell of ${shell.installed.shell.name})` : command,
    }));
  }

  /** Forgets them: their shell has been replaced. */
  clear(): void {
    this.#lastPid = 0;
    this.#known = [];
  }
}

function lineOf(pid: number): string | undefined {
  const entry = readProcess(pid);
  return entry && commandLine(entry);
}

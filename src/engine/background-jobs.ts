import { findLeftProcesses, lineOf, reportLeftProcesses } from './left-processes.js';
import { isAlive, isBeforeExec, type ProcessEntry } from './process-table.js';
import { findSessionProcesses, type ReportedProcess } from './process-tree.js';
import type { ShellProcess } from './shell-process.js';

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

  /** Looks for them. */
  async look(shell: ShellProcess, isHeld: boolean): Promise<void> {
    this.#known = await findLeftProcesses({
      find: () => findSessionProcesses(shell),
      mustBeThere: isHeld,
      isAppearing: (entry) => isBeforeExec(entry, shell.pid),
    });
  }

  /** Those that still run. */
  report({ pid, root, installed }: ShellProcess): ReportedProcess[] {
    if (this.#known.length === 0) return [];
    this.#known = this.#known.filter(isAlive);
    return reportLeftProcesses(this.#known, { line: lineOf(pid), name: installed.shell.name }, root);
  }

  /** Forgets them: their shell has been replaced. */
  clear(): void {
    this.#lastPid = 0;
    this.#known = [];
  }
}

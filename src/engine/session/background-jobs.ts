import type { StartMarker } from '../process/start-marker.js';
import type { Command } from '../command/command.js';
import type { CommandRun } from './command-run.js';
import { findBackgroundProcesses, commandLineOf, reportBackgroundProcesses } from '../process/background-processes.js';
import { descendsFrom, findNewProcesses } from '../process/new-processes.js';
import { isAlive, isBeforeExec, type ProcessEntry } from '../process/process-table.js';
import type { ReportedProcess } from '../process/process-tree.js';
import type { ShellProcess } from '../shell/shell-process.js';

/**
 * What the commands of a session have left running. Processes are only looked for when there is a sign of new ones: the
 * shell's `$!` has changed, some process still holds the command's pipes, or one of the session was started during the
 * command and still runs.
 */
export class BackgroundJobs {
  #lastPid = 0;
  #known: ProcessEntry[] = [];
  /** Commands that have ended, while background jobs hold their pipes. */
  readonly #talking = new Map<Command, CommandRun>();

  /**
   * Whether a command may have left new ones.
   * @param backgroundPid `$!` at its end
   * @param isHeld whether some process holds its pipes
   */
  hasNew(
    { beginning, shell }: Pick<CommandRun, 'beginning' | 'shell'>,
    backgroundPid: number,
    isHeld: boolean,
  ): boolean {
    const hasNewPid = backgroundPid !== this.#lastPid;
    this.#lastPid = backgroundPid;
    return hasNewPid || isHeld || this.#hasLeft(shell, beginning);
  }

  /** What known ones have started meanwhile is added to them: it need not be waited for. */
  #hasLeft(shell: ShellProcess, beginning: StartMarker): boolean {
    const found = findNewProcesses(shell, beginning);
    if (found.length === 0) return false;
    const known = new Set(this.#known.filter(isAlive).map(({ pid }) => pid));
    const others = found.filter(({ pid }) => !known.has(pid));
    if (!others.every((entry) => descendsFrom(entry, known))) return true;
    this.#known.push(...others);
    return false;
  }

  /** Looks for them. */
  async look(shell: ShellProcess, isHeld: boolean): Promise<void> {
    this.#known = await findBackgroundProcesses({
      scope: shell,
      mustBeThere: isHeld,
      isAppearing: (entry) => isBeforeExec(entry, shell.pid),
    });
  }

  /** Those that still run. */
  report({ pid, root, installed }: ShellProcess): ReportedProcess[] {
    if (this.#known.length === 0) return [];
    this.#known = this.#known.filter(isAlive);
    return reportBackgroundProcesses(this.#known, { line: commandLineOf(pid), name: installed.shell.name }, root);
  }

  /** A command has ended, and somebody still holds its pipes. */
  trackOpenPipes(run: CommandRun): void {
    this.#talking.set(run.command, run);
  }

  /** Nobody holds its pipes any more. */
  untrack(run: CommandRun): void {
    this.#talking.delete(run.command);
  }

  /** The run of a command that has ended, while somebody holds its pipes. */
  runOf(command: Command): CommandRun | undefined {
    return this.#talking.get(command);
  }

  /** Forgets them: their shell has been replaced. */
  clear(): void {
    this.#talking.clear();
    this.#lastPid = 0;
    this.#known = [];
  }
}

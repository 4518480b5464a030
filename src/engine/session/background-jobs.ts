import type { StartMarker } from '../platform/contract/start-marker.js';
import type { Command } from '../command/command.js';
import type { CommandRun } from './command-run.js';
import { findBackgroundProcesses, commandLineOf, reportBackgroundProcesses } from '../process/background-processes.js';
import { descendsFrom, findNewProcesses } from '../process/new-processes.js';
import type { ProcessEntry } from '../platform/contract/process-entry.js';
import type { ReportedProcess } from '../process/reported-process.js';
import type { ShellProcess } from '../shell/shell-process.js';

/**
 * Processes that the commands of a session have left running. Processes are only searched for when there is a sign of
 * new ones: the shell's `$!` has changed, a process still holds the command's pipes, or a process of the session was
 * started during the command and still runs.
 */
export class BackgroundJobs {
  #lastPid = 0;
  /** `$!` of the command that is looked at. */
  #newPid = 0;
  #known: ProcessEntry[] = [];
  /** Start of the command after which they were searched for. */
  #since: StartMarker | undefined;
  /** Ended commands whose pipes are still held by background jobs. */
  readonly #openPipes = new Map<Command, CommandRun>();

  /**
   * Returns whether a command may have left new background jobs.
   * @param backgroundPid `$!` at the end of the command
   * @param isHeld whether a process still holds the command's pipes
   */
  hasNew(
    { startMarker, shell }: Pick<CommandRun, 'startMarker' | 'shell'>,
    backgroundPid: number,
    isHeld: boolean,
  ): boolean {
    this.#newPid = backgroundPid;
    return backgroundPid !== this.#lastPid || isHeld || this.#hasLeft(shell, startMarker);
  }

  /** Descendants of known jobs are added to the known jobs: they need no wait. */
  #hasLeft(shell: ShellProcess, startMarker: StartMarker): boolean {
    const found = findNewProcesses(shell, startMarker);
    if (found.length === 0) return false;
    const known = new Set(this.#known.filter(shell.processes.isAlive).map(({ pid }) => pid));
    const others = found.filter(({ pid }) => !known.has(pid));
    if (!others.every((entry) => descendsFrom(entry, known, shell.processes))) return true;
    this.#known.push(...others);
    return false;
  }

  /** Searches for the background jobs and remembers them. */
  async look({ shell, startMarker }: Pick<CommandRun, 'startMarker' | 'shell'>, isHeld: boolean): Promise<void> {
    const { isBeforeExec, isWaitingCopy } = shell.processes;
    this.#since = startMarker;
    this.#known = await findBackgroundProcesses({
      scope: shell,
      mustBeThere: isHeld,
      isAppearing: (entry) => isBeforeExec(entry, shell.pid) || isWaitingCopy(entry, shell.pid),
    });
    // Not before: a search that has failed is repeated after the next command.
    this.#lastPid = this.#newPid;
  }

  /** Returns the background jobs that still run. */
  report(shell: ShellProcess): ReportedProcess[] {
    if (this.#known.length === 0) return [];
    const { pid, root, installed, processes } = shell;
    const living = this.#known.filter(processes.isAlive);
    this.#known = living.length === this.#known.length ? living : [...living, ...this.#successors(shell)];
    const described = { line: commandLineOf(pid, processes), name: installed.shell.name };
    return reportBackgroundProcesses(this.#known, described, processes, root);
  }

  /**
   * Processes that jobs have left which have ended: a daemon starts itself by a process that ends, which on a loaded
   * machine may be all that runs when jobs are searched for.
   */
  #successors(shell: ShellProcess): ProcessEntry[] {
    if (this.#since === undefined) return [];
    const known = new Set(this.#known.map(({ pid }) => pid));
    const ofShell = new Set([shell.pid]);
    const found = findNewProcesses(shell, this.#since);
    return found.filter((entry) => !known.has(entry.pid) && !descendsFrom(entry, ofShell, shell.processes));
  }

  /** Keeps the run of an ended command while a process still holds its pipes. */
  trackOpenPipes(run: CommandRun): void {
    this.#openPipes.set(run.command, run);
  }

  /** Forgets a run: no process holds its pipes any more. */
  untrack(run: CommandRun): void {
    this.#openPipes.delete(run.command);
  }

  /** The run of an ended command whose pipes are still held by a process. */
  runOf(command: Command): CommandRun | undefined {
    return this.#openPipes.get(command);
  }

  /** Forgets all jobs: their shell has been replaced. */
  clear(): void {
    this.#openPipes.clear();
    this.#lastPid = 0;
    this.#known = [];
    this.#since = undefined;
  }
}

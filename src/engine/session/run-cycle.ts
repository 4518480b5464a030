import type { Command } from '../command/command.js';
import { type CommandEnd, killOf, unlisted, type Warning } from '../command/outcome.js';
import { type Kill, noteKernelActions } from '../command/resource-use.js';
import type { ProcessEntry, StartMarker } from '../platform/platform.js';
import {
  commandLineOf,
  descendsFrom,
  findBackgroundProcesses,
  findNewProcesses,
  reportBackgroundProcesses,
  type ReportedProcess,
  reportProcesses,
} from '../process/background-processes.js';
import { askPatiently } from '../process/process-snapshot.js';
import type { CommandPipes } from '../shell/pipe-pool.js';
import { notStarted, tellsLoss } from '../shell/session-shell.js';
import { requestFor, type ShellProcess, type ShellReport } from '../shell/shell-process.js';
import type { TerminalExit } from '../shell/terminal.js';
import { CommandRun, type RunOptions } from './command-run.js';
import type { SessionContext } from './session-context.js';
import { startWithinSessionLimits } from './session-limit-target.js';
import type { Supervisor } from './supervisor.js';

/** Longest wait for filters of an ended command, in milliseconds: what they print later is late output. */
const FILTER_PATIENCE_MS = 2000;

/**
 * Processes that the commands of a session have left running. Processes are only searched for when there is a sign of
 * new ones: the shell's `$!` has changed, a process still holds the command's pipes, or a process of the session was
 * started during the command and still runs.
 */
class BackgroundJobs {
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
  async look(run: CommandRun): Promise<void> {
    const { shell } = run;
    const { isBeforeExec, isWaitingCopy } = shell.processes;
    this.#since = run.startMarker;
    this.#known = await findBackgroundProcesses({
      scope: shell,
      output: run.leftOutput(FILTER_PATIENCE_MS),
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

/** How a command has ended. */
interface SettledRun extends Pick<CommandEnd, 'exitCode' | 'sessionState'> {
  /** What it has left running, where the shell is the same. */
  readonly left: readonly ReportedProcess[];
  readonly warnings: readonly Warning[];
}

/** Runs the commands of a session in its shell, one at a time: start, report, output, settled result. */
export class RunCycle {
  /** The last kill for a limit; cleared when a command has ended normally since. */
  lastKill: Kill | undefined;
  readonly #context: SessionContext;
  readonly #supervisor: Supervisor;
  readonly #jobs = new BackgroundJobs();
  /** Warnings for the next result about the time before its command. */
  #pendingWarnings: Warning[] = [];

  constructor(context: SessionContext, supervisor: Supervisor) {
    this.#context = context;
    this.#supervisor = supervisor;
  }

  /** The run of a command, in flight or with background jobs that still hold its pipes. */
  runOf(command: Command): CommandRun | undefined {
    const { run } = this.#context.life;
    return run?.command === command ? run : this.#jobs.runOf(command);
  }

  /** Background jobs of earlier commands. */
  get backgroundProcesses(): ReportedProcess[] {
    return this.#jobs.report(this.#context.sessionShell.shell);
  }

  /** Session state and directory for the end of a command. */
  get state(): Pick<CommandEnd, 'sessionState' | 'workingDirectory'> {
    const { life, sessionShell } = this.#context;
    return { sessionState: life.isClosed ? 'closed' : 'alive', workingDirectory: sessionShell.workingDirectory };
  }

  /** Adds a warning to the next result, for events between two commands. */
  noteWarning(warning: Warning): void {
    this.#pendingWarnings.push(warning);
  }

  /** Forgets warnings of the time before a reset. */
  forgetWarnings(): void {
    this.#pendingWarnings = [];
  }

  /** Forgets the background jobs of a shell that was replaced. */
  forgetJobs(): void {
    this.#jobs.clear();
  }

  /** Settles a command that could not be started. */
  answerNotStarted(command: Command, error: unknown, state: Partial<CommandEnd> = {}): void {
    command.finish({ ...this.state, ...notStarted(error, this.#context.options.log), ...state });
  }

  /** Starts a command in the shell. */
  readonly start = (command: Command, slot: CommandPipes): void => {
    const { shell } = this.#context.sessionShell;
    let sent: Pick<RunOptions, 'number' | 'nonce' | 'startMarker'>;
    try {
      sent = this.#send(command, slot);
    } catch (error) {
      // EMFILE, or no space for the command's text.
      shell.returnSlot(slot);
      this.answerNotStarted(command, error);
      this.#context.next();
      return;
    }
    const onOutput = () => {
      this.#supervisor.noteActivity();
    };
    const { life, options } = this.#context;
    const { killGraceMs } = options;
    const run = new CommandRun(command, { shell, slot, killGraceMs, onOutput, ...sent }, life);
    life.enter({ type: 'started', run });
    this.#supervisor.begin(run);
  };

  #send(command: Command, slot: CommandPipes): Pick<RunOptions, 'number' | 'nonce' | 'startMarker'> {
    const { sessionShell, listener, limitTarget } = this.#context;
    const { shell } = sessionShell;
    const number = sessionShell.nextNumber();
    if (command.mayEndShell) sessionShell.state.saveNow();
    command.start();
    listener.tap?.onStarted(command);
    const startMarker = shell.processes.markRecentStart();
    shell.terminal.holdOpen(command.spec.tty);
    shell.terminal.discardInput();
    startWithinSessionLimits(limitTarget, command, shell);
    const nonce = sessionShell.send(requestFor(command, shell.installed.shell, slot, number));
    return { number, nonce, startMarker };
  }

  /** Takes a report of the driver. */
  readonly onReport = (report: ShellReport): void => {
    const { life } = this.#context;
    const { run } = life;
    if (run && report.nonce === 'lost')
      this.#supervisor.giveUp(run.command, 'The shell could no longer read its commands');
    // Anything else is no report: a command wrote to the driver's pipe, without the nonce.
    if (run?.nonce !== report.nonce || run.isSettled) return;
    life.enter({ type: 'reported' });
    this.#context.sessionShell.shell.idleSince = performance.now();
    this.#supervisor.end();
    this.#pendingWarnings.push(...noteKernelActions(run.command, this.#context.limitTarget, report.exitCode));
    const settleUnlisted = (error: unknown) => {
      this.#settleUnlisted(run, report, error);
    };
    try {
      const settled = run.settle('reported');
      // Nothing is awaited without need: most commands end here at once.
      const finished = settled ? settled.then(() => this.#finish(run, report)) : this.#finish(run, report);
      if (finished instanceof Promise) finished.catch(settleUnlisted);
    } catch (error) {
      settleUnlisted(error);
    }
  };

  /**
   * Takes back a command that the shell had not started before it ended; only once per command.
   * @returns the command, which can run in another shell
   */
  takeBack(): Command | undefined {
    const { life, sessionShell } = this.#context;
    const { run } = life;
    if (!run || run.command.endReason || run.command.starts > 1) return undefined;
    if (!sessionShell.shell.requests.takeBack(run.nonce)) return undefined;
    life.enter({ type: 'taken back' });
    run.release();
    this.#supervisor.end();
    return run.command;
  }

  /** Notes what the kernel has done for limits before the shell ended. */
  noteExit(exit: TerminalExit): void {
    const { limitTarget, life } = this.#context;
    if (!life.run) return;
    this.#pendingWarnings.push(...noteKernelActions(life.run.command, limitTarget, exit.signal || exit.exitCode));
  }

  /** Settles the command in flight after its shell has ended; the warnings go to its result. */
  async finishExited(
    run: CommandRun,
    exit: TerminalExit,
    state: 'restarted' | 'closed',
    warnings: readonly Warning[],
  ): Promise<void> {
    this.#supervisor.end();
    const exitCode = exit.signal > 0 ? 128 + exit.signal : exit.exitCode;
    try {
      await run.settle('exited');
      run.finishOutput(() => undefined);
    } finally {
      if (this.#context.life.run === run) this.#settle(run, { exitCode, sessionState: state, left: [], warnings });
    }
    run.readOn();
  }

  /** Returns a promise where processes have to be searched for. */
  #finish(run: CommandRun, report: ShellReport): unknown {
    // The shell ended as well while the last of the processes was ended; its exit has settled the command.
    if (this.#context.life.run !== run) return undefined;
    const { sessionShell } = this.#context;
    const { shell } = sessionShell;
    if (report.exitCode !== 0 && !shell.hasItsFiles) {
      this.#supervisor.giveUp(run.command, 'The files of the shell in the runtime directory were removed');
      return undefined;
    }
    const since = performance.now();
    const isHeld = run.readOutput();
    const isLongRunning = run.isLongRunning || run.command.mayDisturbTerminal;
    const settle = (left: readonly ReportedProcess[]) => {
      // The shell ended during the search; its exit has settled the command, and another one may be in flight.
      if (this.#context.life.run !== run) return;
      this.#finishOutput(run);
      // Not earlier: the programs that tidy the terminal would be found among those that the command has left.
      sessionShell.noteReport(report, isLongRunning);
      if (run.command.mayDisturbTerminal) sessionShell.state.saveNow();
      this.#settle(run, { exitCode: report.exitCode, sessionState: this.state.sessionState, left, warnings: [] });
      run.readOn();
    };
    const search = () => {
      if (this.#context.life.run !== run) return undefined;
      if (this.#jobs.hasNew(run, report.backgroundPid, isHeld)) {
        return this.#jobs.look(run).then(() => shell.processes.ask(() => settle(this.backgroundProcesses), since));
      }
      settle(this.backgroundProcesses);
      return undefined;
    };
    // The use of the shell is that of the command.
    return askPatiently<unknown>(() => shell.processes.ask(search, since, 'known'));
  }

  #finishOutput(run: CommandRun): void {
    const isHeld = run.finishOutput(() => {
      this.#jobs.untrack(run);
      run.shell.returnSlot(run.slot);
    });
    if (isHeld) this.#jobs.trackOpenPipes(run);
  }

  /** Settles a command without its background processes: a failed search never keeps it from its end. */
  #settleUnlisted(run: CommandRun, report: ShellReport, error: unknown): void {
    if (this.#context.life.run !== run) return;
    this.#finishOutput(run);
    const { exitCode } = report;
    this.#context.sessionShell.noteReport(report, run.isLongRunning);
    const { sessionState } = this.state;
    this.#settle(run, { exitCode, sessionState, left: [], warnings: [unlisted(error)] });
    run.readOn();
  }

  #settle(run: CommandRun, { exitCode, sessionState: state, left, warnings }: SettledRun): void {
    const { sessionShell, options, life } = this.#context;
    life.enter({ type: 'settled' });
    this.#supervisor.rest('command');
    const { shell } = sessionShell;
    shell.terminal.discardInput();
    const earlier = this.#pendingWarnings.splice(0);
    if (run.command.spec.resourceLimits) shell.group.setLimits(options.limits);
    run.command.finish({
      exitCode,
      // A shell that ended between two commands is reported with the next result.
      sessionState: state === 'alive' && earlier.some(tellsLoss) ? 'restarted' : state,
      workingDirectory: sessionShell.workingDirectory,
      backgroundProcesses: state === 'alive' ? left : [],
      survivors: reportProcesses(run.survivors, shell.processes, shell.root),
      warnings: [...earlier, ...warnings],
    });
    this.lastKill = run.command.outcome && killOf(run.command.outcome);
    this.#context.next();
  }
}

import type { Command } from '../command/command.js';
import { type CommandEnd, killOf, unlisted, type Warning } from '../command/outcome.js';
import { noteKernelActions } from '../command/kernel-limits.js';
import type { Kill } from '../command/resource-use.js';
import { askPatiently } from '../process/ask-patiently.js';
import { reportProcesses, type ReportedProcess } from '../process/reported-process.js';
import type { CommandPipes } from '../shell/pipe-pool.js';
import { notStarted, tellsLoss } from '../shell/shell-loss.js';
import type { ShellReport } from '../shell/shell-reports.js';
import { requestFor } from '../shell/shell-request.js';
import type { TerminalExit } from '../shell/terminal.js';
import { BackgroundJobs } from './background-jobs.js';
import { CommandRun, type RunOptions } from './command-run.js';
import { FastPathTimer } from './fast-path-timer.js';
import type { SessionContext } from './session-context.js';
import { startWithinSessionLimits } from './session-limit-target.js';
import { WedgeGuard } from './wedge-guard.js';

/** How a command has ended. */
interface SettledRun extends Pick<CommandEnd, 'exitCode' | 'sessionState'> {
  /** What it has left running, where the shell is the same. */
  readonly left: readonly ReportedProcess[];
  readonly warnings: readonly Warning[];
}

/** Runs the commands of a session in its shell, one at a time: start, report, output, settled result. */
export class RunCycle implements Disposable {
  /** The last kill for a limit; cleared when a command has ended normally since. */
  lastKill: Kill | undefined;
  /** Kills a shell that will not recover. */
  readonly wedge: WedgeGuard;
  readonly #context: SessionContext;
  readonly #jobs = new BackgroundJobs();
  readonly #fastPathTimer = new FastPathTimer<CommandRun>(
    () => this.#context.sessionShell.shell.processes.watchForNew(),
    (run, mayHaveLeft) => {
      if (run === this.#run && !run.isSettled) {
        run.startMonitoring();
        this.wedge.watch(run.command);
      } else if (!mayHaveLeft) return;
      this.#context.listener.onLingering();
    },
  );
  #run: CommandRun | undefined;
  /** The command that was taken back last: it is not taken back again. */
  #takenBack: Command | undefined;
  /** Warnings for the next result about the time before its command. */
  #pendingWarnings: Warning[] = [];

  constructor(context: SessionContext) {
    this.#context = context;
    this.wedge = new WedgeGuard(context);
  }

  /** The command in flight. */
  get run(): CommandRun | undefined {
    return this.#run;
  }

  /** The run of a command, in flight or with background jobs that still hold its pipes. */
  runOf(command: Command): CommandRun | undefined {
    return this.#run?.command === command ? this.#run : this.#jobs.runOf(command);
  }

  /** Background jobs of earlier commands. */
  get backgroundProcesses(): ReportedProcess[] {
    return this.#jobs.report(this.#context.sessionShell.shell);
  }

  /** Session state and directory for the end of a command. */
  get state(): Pick<CommandEnd, 'sessionState' | 'workingDirectory'> {
    const { isClosed, sessionShell } = this.#context;
    return { sessionState: isClosed ? 'closed' : 'alive', workingDirectory: sessionShell.workingDirectory };
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

  [Symbol.dispose](): void {
    this.#fastPathTimer[Symbol.dispose]();
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
      this.wedge.noteActivity();
    };
    const { killGraceMs } = this.#context.options;
    this.#run = new CommandRun(command, { shell, slot, killGraceMs, onOutput, ...sent });
    this.#fastPathTimer.begin(this.#run);
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
    const run = this.#run;
    if (run && report.nonce === 'lost') this.wedge.giveUp(run.command, 'The shell could no longer read its commands');
    // Anything else is no report: a command wrote to the driver's pipe, without the nonce.
    if (run?.nonce !== report.nonce || run.isSettled) return;
    this.#context.sessionShell.shell.idleSince = performance.now();
    this.wedge.stop();
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
    const run = this.#run;
    if (!run || run.command.endReason || run.command === this.#takenBack) return undefined;
    if (!this.#context.sessionShell.shell.requests.takeBack(run.nonce)) return undefined;
    this.#takenBack = run.command;
    run.abandon();
    this.wedge.stop();
    this.#run = undefined;
    return run.command;
  }

  /** Notes what the kernel has done for limits before the shell ended. */
  noteExit(exit: TerminalExit): void {
    const { limitTarget } = this.#context;
    if (!this.#run) return;
    this.#pendingWarnings.push(...noteKernelActions(this.#run.command, limitTarget, exit.signal || exit.exitCode));
  }

  /** Settles the command in flight after its shell has ended; the warnings go to its result. */
  async finishExited(
    run: CommandRun,
    exit: TerminalExit,
    state: 'restarted' | 'closed',
    warnings: readonly Warning[],
  ): Promise<void> {
    this.wedge.stop();
    const exitCode = exit.signal > 0 ? 128 + exit.signal : exit.exitCode;
    try {
      await run.settle('exited');
      run.finishOutput(() => undefined);
    } finally {
      if (this.#run === run) this.#settle(run, { exitCode, sessionState: state, left: [], warnings });
    }
    run.readOn();
  }

  /** Returns a promise where processes have to be searched for. */
  #finish(run: CommandRun, report: ShellReport): unknown {
    // The shell ended as well while the last of the processes was ended; its exit has settled the command.
    if (this.#run !== run) return undefined;
    const { sessionShell } = this.#context;
    const { shell } = sessionShell;
    if (report.exitCode !== 0 && !shell.hasItsFiles) {
      this.wedge.giveUp(run.command, 'The files of the shell in the runtime directory were removed');
      return undefined;
    }
    const { askAside } = shell.processes;
    const since = performance.now();
    const ask = <T>(question: () => T) => (askAside ? askAside(question, since) : question());
    const isHeld = run.finishOutput(() => {
      this.#jobs.untrack(run);
      shell.returnSlot(run.slot);
    });
    if (isHeld) this.#jobs.trackOpenPipes(run);
    const isLongRunning = run.isLongRunning || run.command.mayDisturbTerminal;
    const settle = (left: readonly ReportedProcess[]) => {
      // The shell ended during the search; its exit has settled the command, and another one may be in flight.
      if (this.#run !== run) return;
      // Not earlier: the programs that tidy the terminal would be found among those that the command has left.
      sessionShell.noteReport(report, isLongRunning);
      if (run.command.mayDisturbTerminal) sessionShell.state.saveNow();
      this.#settle(run, { exitCode: report.exitCode, sessionState: this.state.sessionState, left, warnings: [] });
      run.readOn();
    };
    const search = () => {
      if (this.#run !== run) return undefined;
      if (this.#jobs.hasNew(run, report.backgroundPid, isHeld)) {
        return this.#jobs.look(run, isHeld).then(() => ask(() => settle(this.backgroundProcesses)));
      }
      settle(this.backgroundProcesses);
      return undefined;
    };
    return askPatiently<unknown>(() => ask(search));
  }

  /** Settles a command without its background processes: a failed search never keeps it from its end. */
  #settleUnlisted(run: CommandRun, report: ShellReport, error: unknown): void {
    if (this.#run !== run) return;
    const { exitCode } = report;
    this.#context.sessionShell.noteReport(report, run.isLongRunning);
    const { sessionState } = this.state;
    this.#settle(run, { exitCode, sessionState, left: [], warnings: [unlisted(error)] });
    run.readOn();
  }

  #settle(run: CommandRun, { exitCode, sessionState: state, left, warnings }: SettledRun): void {
    this.#run = undefined;
    const { sessionShell, options } = this.#context;
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

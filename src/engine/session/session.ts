import type { ShellReplacement } from '../../core/metrics/metrics.js';
import type { SignalName } from '../../core/signals.js';
import { BackgroundJobs } from './background-jobs.js';
import { markStart } from '../process/start-marker.js';
import { CommandQueue } from './command-queue.js';
import { CommandRun } from './command-run.js';
import {
  type Command,
  type CommandEnd,
  type EndReason,
  exitCodeOfSignal,
  graceFor,
  killOf,
  type Warning,
} from '../command/command.js';
import { startWithinSessionLimits, noteKernelActions, sessionLimitTarget } from './session-limit-target.js';
import type { ShellProcess } from '../shell/shell-process.js';
import { type TerminalReaders, terminalReaders } from '../command/foreground.js';
import { type ReportedProcess, reportProcesses, sendSignal } from '../process/process-tree.js';
import { describeLoss, notStarted, tellsLoss } from '../shell/shell-loss.js';
import type { Kill } from '../command/resource-use.js';
import { requestFor } from '../shell/shell-request.js';
import { FastPathTimer } from './fast-path-timer.js';
import type { SessionListener, SessionOptions } from './session-options.js';
import type { ShellReport } from '../shell/shell-reports.js';
import type { CommandPipes } from '../shell/pipe-pool.js';
import { ShellReplacer } from '../shell/shell-replacer.js';
import { SessionShell, type TerminalSize } from '../shell/session-shell.js';
import { WedgeDetector } from '../shell/wedge-detector.js';
import type { TerminalExit } from '../shell/terminal.js';

/**
 * A persistent shell under one id. Runs commands one after another; replaces a shell that ends by another one with the
 * last directory and the exported environment; leaves no process behind when it is closed.
 */
export class Session {
  readonly options: SessionOptions;
  /** The session as a limit target. */
  readonly watched = sessionLimitTarget(this);
  readonly listener: SessionListener;
  /** The last kill for a limit; cleared when a command has ended normally since. */
  lastKill: Kill | undefined;
  readonly #queue: CommandQueue;
  readonly #replacer: ShellReplacer;
  readonly #jobs = new BackgroundJobs();
  #sessionShell!: SessionShell;
  readonly #fastPathTimer = new FastPathTimer<CommandRun>((run, mayHaveLeft) => {
    if (run === this.#run && !run.isSettled) {
      run.linger();
      this.#watch ??= this.#watchOver(run.command);
    } else if (!mayHaveLeft) return;
    this.listener.onLingering();
  });
  #run: CommandRun | undefined;
  #takenBack: Command | undefined;
  #watch: WedgeDetector | undefined;
  #isClosed = false;
  #restarts = 0;
  /** Warnings for the next result about the time before its command. */
  #pendingWarnings: Warning[] = [];
  #wedge: string | undefined;

  private constructor(options: SessionOptions, listener: SessionListener) {
    this.options = options;
    this.listener = listener;
    this.#queue = new CommandQueue({ onReady: this.#next, onNotStarted: this.#answerNotStarted });
    this.#replacer = new ShellReplacer({ onDone: this.#resume, onFailed: this.#fail });
  }

  /**
   * Opens a session.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED, BAD_DIRECTORY
   */
  static async open(options: SessionOptions, listener: SessionListener): Promise<Session> {
    const session = new Session(options, listener);
    session.#sessionShell = await SessionShell.open(options, options, {
      onReport: session.#onReport,
      onTerminalData: (chunk) => session.#run?.onTerminalData(chunk),
      onExit: session.#onExit,
    });
    return session;
  }

  /** Directory of the shell after its last command. */
  get workingDirectory(): string {
    return this.#sessionShell.workingDirectory;
  }

  /** Maps a path as the shell sees it to a path that the daemon can open. */
  readonly see = (path: string): string => this.#sessionShell.shell.see(path);

  /** Number of times the shell was replaced. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Terminal size, in characters. */
  get size(): TerminalSize {
    return this.#sessionShell.size;
  }

  /** The command that runs in the shell. */
  get running(): Command | undefined {
    return this.#run?.command;
  }

  /** Queued commands, in order. */
  get queued(): readonly Command[] {
    return this.#queue.commands;
  }

  /** Process id of the shell. */
  get pid(): number {
    return this.#sessionShell.shell.pid;
  }

  /** The current shell. */
  get shell(): ShellProcess {
    return this.#sessionShell.shell;
  }

  /** Background jobs of earlier commands. */
  get backgroundProcesses(): ReportedProcess[] {
    return this.#jobs.report(this.#sessionShell.shell);
  }

  /**
   * Exported variables, functions and aliases of the shell, as the shell prints them; undefined while the session is
   * busy.
   */
  async readState(): Promise<string | undefined> {
    return this.isIdle ? this.#sessionShell.readState() : undefined;
  }

  /**
   * The state that was saved after the last command; undefined while the session is busy, and until the state is saved.
   */
  savedState(): string | undefined {
    return this.isIdle ? this.#sessionShell.savedState : undefined;
  }

  /** Programs that may read terminal input at the moment; none when the shell itself would read it. */
  terminalReaders(): TerminalReaders {
    return terminalReaders(this.pid, this.#sessionShell.shell.hasDriver);
  }

  /** Queues the command; it runs after those before it have ended. */
  enqueue(command: Command): void {
    this.#queue.add(command);
    this.#next();
  }

  /** Processes that the running command has started; empty once its end has been reported. */
  readonly findRunning = () => this.#run?.findUnsettled() ?? [];

  /** Ends a running or queued command of this session. */
  cancel(command: Command, reason: EndReason): void {
    if (this.#run?.command === command) this.#run.terminate(reason);
    else if (this.#queue.remove(command)) {
      command.requestEnd(reason);
      command.finish({ ...this.#state(), exitCode: exitCodeOfSignal('SIGINT') });
    }
  }

  /** Adds a warning to the next result, for events between two commands. */
  noteWarning(warning: Warning): void {
    this.#pendingWarnings.push(warning);
  }

  /** Pauses or resumes reading the output of a command, or of the background jobs it has left (backpressure). */
  holdForClient(command: Command, isHeld: boolean): void {
    const run = this.#run?.command === command ? this.#run : this.#jobs.runOf(command);
    run?.holdForClient(isHeld);
  }

  /**
   * Writes to the terminal of the running command; returns the number of bytes accepted.
   * @throws AdapterError INPUT_FULL
   */
  sendInput(data: string, isEndOfFile: boolean): number {
    const { terminal } = this.#sessionShell.shell;
    const accepted = terminal.write(data);
    if (isEndOfFile) terminal.writeEndOfFile();
    this.#watch?.noteActivity();
    return accepted;
  }

  /** Signals the foreground processes of the running command. Returns the processes that received the signal. */
  async signal(command: Command, signal: SignalName): Promise<ReportedProcess[]> {
    return this.#run?.command === command ? this.#run.signal(signal) : [];
  }

  /** Sets the terminal's size, in characters. */
  resize(cols: number, rows: number): void {
    this.#sessionShell.resize(cols, rows);
  }

  /**
   * Ends everything in the session and starts a fresh shell; queued commands run in it.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED, BAD_DIRECTORY: the session has ended then.
   */
  async reset(cwd: string, env: Readonly<Record<string, string>>): Promise<void> {
    await this.#replaceShell('reset', async () => {
      this.#run?.terminate({ status: 'killed', killedBy: 'client' });
      await this.#run?.command.finished;
      await this.#sessionShell.reset({ cwd, env });
      this.#pendingWarnings = [];
    });
  }

  /**
   * Closes the session: its EXIT trap runs, then every process is ended. Returns the processes that could not be ended.
   */
  async close(reason: EndReason): Promise<ReportedProcess[]> {
    if (this.#isClosed) return [];
    this.#isClosed = true;
    this.#fastPathTimer[Symbol.dispose]();
    for (const command of this.#queue.clear()) {
      command.requestEnd(reason);
      command.finish({ exitCode: exitCodeOfSignal('SIGHUP'), sessionState: 'closed', workingDirectory: null });
    }
    this.#run?.terminate(reason);
    await this.#run?.command.finished;
    await this.#replacer.settled;
    await this.#queue.settled;
    await this.#sessionShell.letExit();
    return this.#sessionShell.close(graceFor(reason, this.options.killGraceMs));
  }

  /** Whether no command is running or queued. */
  get isIdle(): boolean {
    return !this.#run && !this.#replacer.settled && this.#queue.commands.length === 0 && !this.#isClosed;
  }

  // --- lifecycle of a command
  // -------------------------------------------------------------------------------------------

  readonly #next = (): void => {
    if (this.#run || this.#replacer.settled || this.#isClosed) return;
    this.#queue.take(this.#sessionShell.shell, this.#start);
  };

  readonly #start = (command: Command, slot: CommandPipes): void => {
    const { shell } = this.#sessionShell;
    const number = this.#sessionShell.nextNumber();
    if (command.mayEndShell) this.#sessionShell.saveNow();
    command.start();
    const beginning = markStart();
    let nonce: string;
    try {
      if (command.spec.tty) shell.terminal.holdOpen();
      shell.terminal.discardInput();
      startWithinSessionLimits(this.options.limits, command, shell);
      nonce = shell.send(requestFor(command, shell.installed.shell, slot, number));
    } catch (error) {
      // EMFILE, or no space for the command's text.
      shell.returnSlot(slot);
      this.#answerNotStarted(command, error);
      this.#next();
      return;
    }
    const { killGraceMs } = this.options;
    const onOutput = () => this.#watch?.noteActivity();
    this.#run = new CommandRun(command, { shell, slot, number, nonce, beginning, killGraceMs, onOutput });
    this.#fastPathTimer.begin(this.#run);
  };

  #watchOver(command: Command): WedgeDetector {
    return new WedgeDetector(this.#sessionShell.shell, this.options.wedgeTimeoutMs, {
      onAwaitingInput: () => {
        this.listener.onAwaitingInput(command);
      },
      onWedged: (why) => {
        this.#giveUp(command, why);
      },
    });
  }

  /** Kills an unusable shell; its exit settles the command. */
  #giveUp(command: Command, why: string): void {
    this.#wedge ??= why;
    command.requestEnd({ status: 'killed', killedBy: 'signal' });
    sendSignal(this.pid, 'SIGKILL');
  }

  readonly #onReport = (report: ShellReport): void => {
    const run = this.#run;
    if (run && report.nonce === 'lost') this.#giveUp(run.command, 'The shell could no longer read its commands');
    // Anything else is no report: a command wrote to the driver's pipe, without the nonce.
    if (run?.nonce !== report.nonce || run.isSettled) return;
    this.#watch?.stop();
    this.#pendingWarnings.push(...noteKernelActions(run.command, this.watched, report.exitCode));
    const settled = run.settle('reported');
    if (settled) void settled.then(() => this.#finish(run, report));
    else void this.#finish(run, report);
  };

  #finish(run: CommandRun, report: ShellReport): Promise<void> | undefined {
    // The shell ended as well while the last of the processes was ended; its exit has settled the command.
    if (this.#run !== run) return undefined;
    const { shell } = this.#sessionShell;
    if (report.exitCode !== 0 && !shell.hasItsFiles) {
      this.#giveUp(run.command, 'The files of the shell in the runtime directory were removed');
      return undefined;
    }
    const isHeld = run.finishOutput(() => {
      this.#jobs.untrack(run);
      shell.returnSlot(run.slot);
    });
    if (isHeld) this.#jobs.trackOpenPipes(run);
    this.#sessionShell.noteReport(report, run.hasLingered || run.command.mayDisturbTerminal);
    if (run.command.mayDisturbTerminal) this.#sessionShell.saveNow();
    const settle = () => {
      this.#settle(run, report.exitCode, this.#state().sessionState, []);
    };
    if (this.#jobs.hasNew(run, report.backgroundPid, isHeld)) return this.#jobs.look(shell, isHeld).then(settle);
    settle();
    return undefined;
  }

  #settle(run: CommandRun, exitCode: number, state: CommandEnd['sessionState'], warnings: readonly Warning[]): void {
    this.#run = undefined;
    this.#watch = undefined;
    this.#sessionShell.shell.terminal.discardInput();
    const earlier = this.#pendingWarnings.splice(0);
    if (run.command.spec.resourceLimits) this.shell.group.setLimits(this.options.limits);
    run.command.finish({
      exitCode,
      // A shell that ended between two commands is reported with the next result.
      sessionState: state === 'alive' && earlier.some(tellsLoss) ? 'restarted' : state,
      workingDirectory: this.workingDirectory,
      backgroundProcesses: state === 'alive' ? this.backgroundProcesses : [],
      survivors: reportProcesses(run.survivors, this.#sessionShell.shell.root),
      warnings: [...earlier, ...warnings],
    });
    this.lastKill = run.command.outcome && killOf(run.command.outcome);
    this.#next();
  }

  #state(): Pick<CommandEnd, 'sessionState' | 'workingDirectory'> {
    return { sessionState: this.#isClosed ? 'closed' : 'alive', workingDirectory: this.workingDirectory };
  }

  readonly #notStarted = (error: unknown): CommandEnd => ({ ...this.#state(), ...notStarted(error, this.options.log) });

  readonly #answerNotStarted = (command: Command, error: unknown): void => {
    command.finish(this.#notStarted(error));
  };

  // --- end and replacement of the shell
  // ---------------------------------------------------------------------------------

  readonly #onExit = (exit: TerminalExit): void => {
    const isReplaced = !this.#isClosed;
    if (isReplaced && !this.#replacer.settled) this.#takeBack();
    const run = this.#run;
    const kept = run ? noteKernelActions(run.command, this.watched, exit.signal || exit.exitCode) : [];
    this.#pendingWarnings.push(...kept);
    const warnings = isReplaced ? describeLoss(this.#sessionShell.shell, exit, this.#wedge, this.options.log) : [];
    this.#wedge = undefined;
    const finished = run && this.#finishExited(run, exit, isReplaced ? 'restarted' : 'closed', warnings);
    if (!run) this.#pendingWarnings.push(...warnings);
    // A replacement in progress handles it, also when its new shell has ended already.
    if (isReplaced && !this.#replacer.settled) this.#restore(finished);
  };

  #restore(lastCommand?: Promise<void>): void {
    this.#replaceShell('ended', async () => {
      await lastCommand;
      await this.#sessionShell.restore(this.options);
    }).catch((error: unknown) => {
      this.options.log.error('a session could not be restarted', { error: String(error) });
    });
  }

  /** Requeues a command that the shell had not started before it ended; only once per command. */
  #takeBack(): void {
    const run = this.#run;
    if (!run || run.command.endReason || run.command === this.#takenBack) return;
    if (!this.#sessionShell.shell.takeBackRequest(run.nonce)) return;
    this.#takenBack = run.command;
    run.abandon();
    this.#watch?.stop();
    this.#watch = undefined;
    this.#run = undefined;
    this.#queue.putBack(run.command);
  }

  async #finishExited(
    run: CommandRun,
    exit: TerminalExit,
    state: 'restarted' | 'closed',
    warnings: Warning[],
  ): Promise<void> {
    this.#watch?.stop();
    await run.settle('exited');
    run.finishOutput(() => undefined);
    if (this.#run !== run) return;
    this.#settle(run, exit.signal > 0 ? 128 + exit.signal : exit.exitCode, state, warnings);
  }

  /** Replaces the shell; no command runs until the new shell is ready. Without a new shell, the session fails. */
  async #replaceShell(why: ShellReplacement, replace: () => Promise<void>): Promise<void> {
    const replaced = this.#replacer.run(async () => {
      await this.#queue.settled;
      await replace();
    });
    this.#restarts += 1;
    this.listener.onShellReplaced(why);
    await replaced;
  }

  readonly #resume = (): void => {
    this.#jobs.clear();
    // The new shell was killed while the processes of the old one were being ended.
    if (this.#sessionShell.shell.terminal.hasExited && !this.#isClosed) this.#restore();
    else this.#next();
  };

  readonly #fail = (error: Error): void => {
    if (this.#isClosed) return;
    for (const command of this.#queue.clear()) command.finish({ ...this.#notStarted(error), sessionState: 'closed' });
    this.listener.onFailed(error);
  };
}

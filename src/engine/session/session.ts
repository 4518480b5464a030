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
 * A persistent shell under one id: runs commands one after another, survives the end of its shell by starting another
 * one with the last directory and exported environment, and ends with nothing left behind.
 */
export class Session {
  readonly options: SessionOptions;
  /** The session as limits are kept for it. */
  readonly watched = sessionLimitTarget(this);
  readonly listener: SessionListener;
  /** What was ended for a limit last, unless a command has ended as it should since. */
  lastKill: Kill | undefined;
  readonly #queue: CommandQueue;
  readonly #succession: ShellReplacer;
  readonly #jobs = new BackgroundJobs();
  #seat!: SessionShell;
  readonly #lingerTimer = new FastPathTimer<CommandRun>((run, mayHaveLeft) => {
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
  /** What the next result has to tell of the time before it. */
  #pendingWarnings: Warning[] = [];
  #wedge: string | undefined;

  private constructor(options: SessionOptions, listener: SessionListener) {
    this.options = options;
    this.listener = listener;
    this.#queue = new CommandQueue({ onReady: this.#next, onNotStarted: this.#answerNotStarted });
    this.#succession = new ShellReplacer({ onDone: this.#goOn, onFailed: this.#fail });
  }

  /**
   * Opens a session.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED, BAD_DIRECTORY
   */
  static async open(options: SessionOptions, listener: SessionListener): Promise<Session> {
    const session = new Session(options, listener);
    session.#seat = await SessionShell.open(options, options, {
      onReport: session.#onReport,
      onTerminalData: (chunk) => session.#run?.onTerminalData(chunk),
      onExit: session.#onExit,
    });
    return session;
  }

  /** Directory of the shell after its last command. */
  get workingDirectory(): string {
    return this.#seat.workingDirectory;
  }

  /** A path in the shell's eyes, as the daemon reaches it. */
  readonly see = (path: string): string => this.#seat.shell.see(path);

  /** How often the shell was replaced. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Terminal size, in characters. */
  get size(): TerminalSize {
    return this.#seat.size;
  }

  /** The command in the shell. */
  get running(): Command | undefined {
    return this.#run?.command;
  }

  /** Commands that wait, in their order. */
  get queued(): readonly Command[] {
    return this.#queue.commands;
  }

  /** Process id of the shell. */
  get pid(): number {
    return this.#seat.shell.pid;
  }

  /** The shell that sits there now. */
  get shell(): ShellProcess {
    return this.#seat.shell;
  }

  /** What earlier commands have left running. */
  get backgroundProcesses(): ReportedProcess[] {
    return this.#jobs.report(this.#seat.shell);
  }

  /** Exported variables, functions and aliases of the shell, as it prints them; undefined while it has other work. */
  async readState(): Promise<string | undefined> {
    return this.isIdle ? this.#seat.readState() : undefined;
  }

  /** The same as it was saved after the last command; undefined while there is other work, and until it is saved. */
  savedState(): string | undefined {
    return this.isIdle ? this.#seat.savedState : undefined;
  }

  /** The programs that may read what is typed now; none when the shell itself would. */
  terminalReaders(): TerminalReaders {
    return terminalReaders(this.pid, this.#seat.shell.hasDriver);
  }

  /** Runs the command when those before it have ended. */
  enqueue(command: Command): void {
    this.#queue.add(command);
    this.#next();
  }

  /** What the running command has started; nothing once it has reported its end. */
  readonly findRunning = () => this.#run?.findUnsettled() ?? [];

  /** Ends a command of this session that runs or waits. */
  cancel(command: Command, reason: EndReason): void {
    if (this.#run?.command === command) this.#run.terminate(reason);
    else if (this.#queue.remove(command)) {
      command.requestEnd(reason);
      command.finish({ ...this.#unrun(), exitCode: exitCodeOfSignal('SIGINT') });
    }
  }

  /** The next result tells this too: it happened between two commands. */
  noteWarning(warning: Warning): void {
    this.#pendingWarnings.push(warning);
  }

  /** Makes a command, or what it has left running, wait for a slow client, or lets it go on. */
  holdForClient(command: Command, isHeld: boolean): void {
    const run = this.#run?.command === command ? this.#run : this.#jobs.runOf(command);
    run?.holdForClient(isHeld);
  }

  /**
   * Types into the terminal of the running command; gives the bytes taken.
   * @throws AdapterError INPUT_FULL
   */
  sendInput(data: string, isEndOfFile: boolean): number {
    const { terminal } = this.#seat.shell;
    const accepted = terminal.write(data);
    if (isEndOfFile) terminal.writeEndOfFile();
    this.#watch?.noteActivity();
    return accepted;
  }

  /** Signals what the running command has in the foreground. Gives the processes that got the signal. */
  async signal(command: Command, signal: SignalName): Promise<ReportedProcess[]> {
    return this.#run?.command === command ? this.#run.signal(signal) : [];
  }

  /** Sets the terminal's size, in characters. */
  resize(cols: number, rows: number): void {
    this.#seat.resize(cols, rows);
  }

  /**
   * Ends everything in the session and starts a fresh shell; commands that wait go on in it.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED, BAD_DIRECTORY: the session has ended then.
   */
  async reset(cwd: string, env: Readonly<Record<string, string>>): Promise<void> {
    await this.#replaceShell('reset', async () => {
      this.#run?.terminate({ status: 'killed', killedBy: 'client' });
      await this.#run?.command.finished;
      await this.#seat.reset({ cwd, env });
      this.#pendingWarnings = [];
    });
  }

  /** Ends the session: its EXIT trap runs, then every process is ended. Gives what could not be. */
  async close(reason: EndReason): Promise<ReportedProcess[]> {
    if (this.#isClosed) return [];
    this.#isClosed = true;
    this.#lingerTimer[Symbol.dispose]();
    for (const command of this.#queue.clear()) {
      command.requestEnd(reason);
      command.finish({ exitCode: exitCodeOfSignal('SIGHUP'), sessionState: 'closed', workingDirectory: null });
    }
    this.#run?.terminate(reason);
    await this.#run?.command.finished;
    await this.#succession.settled;
    await this.#queue.settled;
    await this.#seat.letExit();
    return this.#seat.close(graceFor(reason, this.options.killGraceMs));
  }

  /** Whether nothing runs or waits. */
  get isIdle(): boolean {
    return !this.#run && !this.#succession.settled && this.#queue.commands.length === 0 && !this.#isClosed;
  }

  // --- a command's way ------------------------------------------------------------------------------------------------

  readonly #next = (): void => {
    if (this.#run || this.#succession.settled || this.#isClosed) return;
    this.#queue.take(this.#seat.shell, this.#start);
  };

  readonly #start = (command: Command, slot: CommandPipes): void => {
    const { shell } = this.#seat;
    const number = this.#seat.nextNumber();
    if (command.mayEndShell) this.#seat.saveNow();
    command.start();
    const beginning = markStart();
    let nonce: string;
    try {
      if (command.spec.tty) shell.terminal.holdOpen();
      shell.terminal.discardInput();
      startWithinSessionLimits(this.options.limits, command, shell);
      nonce = shell.send(requestFor(command, shell.installed.shell, slot, number));
    } catch (error) {
      // Out of descriptors, or of room for the command's text.
      shell.returnSlot(slot);
      this.#answerNotStarted(command, error);
      this.#next();
      return;
    }
    const { killGraceMs } = this.options;
    const onOutput = () => this.#watch?.noteActivity();
    this.#run = new CommandRun(command, { shell, slot, number, nonce, beginning, killGraceMs, onOutput });
    this.#lingerTimer.begin(this.#run);
  };

  #watchOver(command: Command): WedgeDetector {
    return new WedgeDetector(this.#seat.shell, this.options.wedgeTimeoutMs, {
      onAwaitingInput: () => {
        this.listener.onAwaitingInput(command);
      },
      onWedged: (why) => {
        this.#giveUp(command, why);
      },
    });
  }

  /** Ends a shell that is of no more use; its end settles the command. */
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
    // While the last of its processes was ended the shell has ended too, which has settled the command.
    if (this.#run !== run) return undefined;
    const { shell } = this.#seat;
    if (report.exitCode !== 0 && !shell.hasItsFiles) {
      this.#giveUp(run.command, 'The files of the shell in the runtime directory were removed');
      return undefined;
    }
    const isHeld = run.finishOutput(() => {
      this.#jobs.untrack(run);
      shell.returnSlot(run.slot);
    });
    if (isHeld) this.#jobs.trackOpenPipes(run);
    this.#seat.noteReport(report, run.hasLingered || run.command.mayDisturbTerminal);
    if (run.command.mayDisturbTerminal) this.#seat.saveNow();
    const settle = () => {
      this.#settle(run, report.exitCode, this.#unrun().sessionState, []);
    };
    if (this.#jobs.hasNew(run, report.backgroundPid, isHeld)) return this.#jobs.look(shell, isHeld).then(settle);
    settle();
    return undefined;
  }

  #settle(run: CommandRun, exitCode: number, state: CommandEnd['sessionState'], warnings: readonly Warning[]): void {
    this.#run = undefined;
    this.#watch = undefined;
    this.#seat.shell.terminal.discardInput();
    const earlier = this.#pendingWarnings.splice(0);
    if (run.command.spec.resourceLimits) this.shell.group.setLimits(this.options.limits);
    run.command.finish({
      exitCode,
      // A shell that ended between two commands is told with the next one.
      sessionState: state === 'alive' && earlier.some(tellsLoss) ? 'restarted' : state,
      workingDirectory: this.workingDirectory,
      backgroundProcesses: state === 'alive' ? this.backgroundProcesses : [],
      survivors: reportProcesses(run.survivors, this.#seat.shell.root),
      warnings: [...earlier, ...warnings],
    });
    this.lastKill = run.command.outcome && killOf(run.command.outcome);
    this.#next();
  }

  #unrun(): Pick<CommandEnd, 'sessionState' | 'workingDirectory'> {
    return { sessionState: this.#isClosed ? 'closed' : 'alive', workingDirectory: this.workingDirectory };
  }

  readonly #notStarted = (error: unknown): CommandEnd => ({ ...this.#unrun(), ...notStarted(error, this.options.log) });

  readonly #answerNotStarted = (command: Command, error: unknown): void => {
    command.finish(this.#notStarted(error));
  };

  // --- the shell's end, and a new one ---------------------------------------------------------------------------------

  readonly #onExit = (exit: TerminalExit): void => {
    const isReplaced = !this.#isClosed;
    if (isReplaced && !this.#succession.settled) this.#takeBack();
    const run = this.#run;
    const kept = run ? noteKernelActions(run.command, this.watched, exit.signal || exit.exitCode) : [];
    this.#pendingWarnings.push(...kept);
    const warnings = isReplaced ? describeLoss(this.#seat.shell, exit, this.#wedge, this.options.log) : [];
    this.#wedge = undefined;
    const finished = run && this.#finishExited(run, exit, isReplaced ? 'restarted' : 'closed', warnings);
    if (!run) this.#pendingWarnings.push(...warnings);
    // What replaces the shell sees to it, and to a new one that has ended already.
    if (isReplaced && !this.#succession.settled) this.#restore(finished);
  };

  #restore(lastCommand?: Promise<void>): void {
    this.#replaceShell('ended', async () => {
      await lastCommand;
      await this.#seat.restore(this.options);
    }).catch((error: unknown) => {
      this.options.log.error('a session could not be restarted', { error: String(error) });
    });
  }

  /** A command that the shell has not begun before it ended runs in the next one; but only once, whatever it does. */
  #takeBack(): void {
    const run = this.#run;
    if (!run || run.command.endReason || run.command === this.#takenBack) return;
    if (!this.#seat.shell.takeBackRequest(run.nonce, run.slot)) return;
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

  /** Runs no command until a new shell sits there. When none can be had, the session fails. */
  async #replaceShell(why: ShellReplacement, replace: () => Promise<void>): Promise<void> {
    const replaced = this.#succession.run(async () => {
      await this.#queue.settled;
      await replace();
    });
    this.#restarts += 1;
    this.listener.onShellReplaced(why);
    await replaced;
  }

  readonly #goOn = (): void => {
    this.#jobs.clear();
    // Killed while the processes of the old one were being ended.
    if (this.#seat.shell.terminal.hasExited && !this.#isClosed) this.#restore();
    else this.#next();
  };

  readonly #fail = (error: Error): void => {
    if (this.#isClosed) return;
    for (const command of this.#queue.clear()) command.finish({ ...this.#notStarted(error), sessionState: 'closed' });
    this.listener.onFailed(error);
  };
}

import type { Refusal } from '../../core/egress/refusal.js';
import type { SignalName } from '../../core/signals.js';
import type { Command } from '../command/command.js';
import { type EndReason, exitCodeOfSignal, graceFor, type Warning } from '../command/outcome.js';
import { RefusedConnections, refusalWarning } from '../command/refused-connections.js';
import type { Kill } from '../command/resource-use.js';
import type { ReportedProcess } from '../process/reported-process.js';
import { SessionShell } from '../shell/session-shell.js';
import { TerminalEcho } from '../shell/terminal-echo.js';
import type { ShellProcess } from '../shell/shell-process.js';
import { CommandQueue } from './command-queue.js';
import { RunCycle } from './run-cycle.js';
import type { SessionContext } from './session-context.js';
import { SessionLimitTarget } from './session-limit-target.js';
import type { SessionListener, SessionOptions } from './session-options.js';
import { SessionTerminal } from './session-terminal.js';
import { ShellRecovery } from './shell-recovery.js';

/**
 * A persistent shell under one id. Runs commands one after another; replaces a shell that ends by another one with the
 * last directory and the exported environment; leaves no process behind when it is closed.
 */
export class Session {
  readonly options: SessionOptions;
  /** The session as a limit target. */
  readonly watched = new SessionLimitTarget(this);
  readonly listener: SessionListener;
  readonly terminal: SessionTerminal;
  readonly #queue: CommandQueue;
  readonly #cycle: RunCycle;
  readonly #recovery: ShellRecovery;
  readonly #refusedInBackground = new RefusedConnections();
  #sessionShell!: SessionShell;
  #isOpen = false;
  #isClosed = false;

  private constructor(options: SessionOptions, listener: SessionListener) {
    this.options = options;
    this.listener = listener;
    this.#queue = new CommandQueue({
      onReady: this.#next,
      onNotStarted: (command, error) => {
        this.#cycle.answerNotStarted(command, error);
      },
    });
    const context = this.#createContext();
    this.#cycle = new RunCycle(context);
    this.terminal = new SessionTerminal(context, this.#cycle);
    this.#recovery = new ShellRecovery(context, this.#cycle);
  }

  /**
   * Opens a session.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED, BAD_DIRECTORY
   */
  static async open(options: SessionOptions, listener: SessionListener): Promise<Session> {
    const session = new Session(options, listener);
    session.#sessionShell = await SessionShell.open(options, options, {
      onReport: session.#cycle.onReport,
      onTerminalData: (chunk) => {
        const output = session.#cycle.run?.onTerminalData(chunk);
        if (output && output.length > 0) listener.tap?.onTerminalData(output);
      },
      onExit: (exit) => {
        // The shell of a session that is being opened is not replaced: `SessionShell.open` fails.
        if (session.#isOpen) session.#recovery.onExit(exit);
      },
      onRefused: session.#noteRefused,
    });
    session.#isOpen = true;
    return session;
  }

  /** The last kill for a limit; cleared when a command has ended normally since. */
  get lastKill(): Kill | undefined {
    return this.#cycle.lastKill;
  }

  set lastKill(kill: Kill | undefined) {
    this.#cycle.lastKill = kill;
  }

  /** Directory of the shell after its last command. */
  get workingDirectory(): string {
    return this.#sessionShell.workingDirectory;
  }

  /** Maps a path as the shell sees it to a path that the daemon can open. */
  readonly see = (path: string): string => this.#sessionShell.shell.see(path);

  /** Number of times the shell was replaced. */
  get restarts(): number {
    return this.#recovery.restarts;
  }

  /** The command that runs in the shell. */
  get running(): Command | undefined {
    return this.#cycle.run?.command;
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

  /** Number of commands that were started in the session so far. */
  get commandCount(): number {
    return this.#sessionShell.commandCount;
  }

  /** Background jobs of earlier commands. */
  get backgroundProcesses(): ReportedProcess[] {
    return this.#cycle.backgroundProcesses;
  }

  /**
   * Exported variables, functions and aliases, as the shell prints them; undefined while the session runs commands. A
   * shell that is being replaced is waited for.
   * @param names further variables whose values are shown, at the start
   */
  async readState(names: readonly string[] = []): Promise<string | undefined> {
    await this.#recovery.settled;
    return this.isIdle ? this.#sessionShell.state.read(names) : undefined;
  }

  /** The state saved after the last command; undefined while the session is busy, and until the state is saved. */
  savedState(): string | undefined {
    return this.isIdle ? this.#sessionShell.state.saved : undefined;
  }

  /** Queues the command; it runs after those before it have ended. */
  enqueue(command: Command): void {
    this.#queue.add(command);
    this.#next();
  }

  /** Processes that the running command has started; empty once its end has been reported. */
  readonly findRunning = () => this.#cycle.run?.findUnsettled() ?? [];

  /** Ends a running or queued command of this session. */
  cancel(command: Command, reason: EndReason): void {
    const { run } = this.#cycle;
    if (run?.command === command) run.terminate(reason);
    else if (this.#queue.remove(command)) {
      command.requestEnd(reason);
      command.finish({ ...this.#cycle.state, exitCode: exitCodeOfSignal('SIGINT') });
    }
  }

  /** Adds a warning to the next result, for events between two commands. */
  noteWarning(warning: Warning): void {
    this.#cycle.noteWarning(warning);
  }

  /** Pauses or resumes reading the output of a command, or of the background jobs it has left (backpressure). */
  holdForClient(command: Command, isHeld: boolean): void {
    this.#cycle.runOf(command)?.holdForClient(isHeld);
  }

  /** Signals the foreground processes of the running command. Returns the processes that received the signal. */
  async signal(command: Command, signal: SignalName): Promise<ReportedProcess[]> {
    const { run } = this.#cycle;
    return run?.command === command ? run.signal(signal) : [];
  }

  /**
   * Ends everything in the session and starts a fresh shell; queued commands run in it.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED, BAD_DIRECTORY: the session has ended then.
   */
  async reset(cwd: string, env: Readonly<Record<string, string>>): Promise<void> {
    await this.#recovery.replace('reset', async () => {
      this.#cycle.run?.terminate({ status: 'killed', killedBy: 'client' });
      await this.#cycle.run?.command.finished;
      await this.#sessionShell.reset({ cwd, env });
      this.#cycle.forgetWarnings();
    });
  }

  /**
   * Closes the session: its EXIT trap runs, then every process is ended. Returns the processes that could not be ended.
   */
  async close(reason: EndReason): Promise<ReportedProcess[]> {
    if (this.#isClosed) return [];
    this.#isClosed = true;
    this.terminal[Symbol.dispose]();
    this.#cycle[Symbol.dispose]();
    for (const command of this.#queue.clear()) {
      command.requestEnd(reason);
      command.finish({ exitCode: exitCodeOfSignal('SIGHUP'), sessionState: 'closed', workingDirectory: null });
    }
    const { run } = this.#cycle;
    run?.terminate(reason);
    await run?.command.finished;
    await this.#recovery.settled;
    await this.#queue.settled;
    await this.#sessionShell.letExit();
    return this.#sessionShell.close(graceFor(reason, this.options.killGraceMs));
  }

  /** Notes a connection that was refused: with the running command, or with the next one. */
  readonly #noteRefused = (refusal: Refusal): void => {
    const { run } = this.#cycle;
    if (run) run.command.noteRefused(refusal);
    else if (this.#refusedInBackground.add(refusal) === 1) {
      this.#cycle.noteWarning(refusalWarning(refusal.message));
      this.listener.onRefused(refusal);
    }
  };

  /** Whether no command is running or queued. */
  get isIdle(): boolean {
    return !this.#isBusy && this.#queue.commands.length === 0;
  }

  get #isBusy(): boolean {
    return this.#cycle.run !== undefined || this.#recovery.settled !== undefined || this.#isClosed;
  }

  readonly #next = (): void => {
    if (!this.#isBusy) this.#queue.take(this.#sessionShell.shell, this.#cycle.start);
  };

  #createContext(): SessionContext {
    const shellOf = () => this.#sessionShell;
    const isClosed = () => this.#isClosed;
    return {
      options: this.options,
      listener: this.listener,
      queue: this.#queue,
      limitTarget: this.watched,
      echo: new TerminalEcho(this.options.pool.env['PATH'] ?? ''),
      next: this.#next,
      get sessionShell() {
        return shellOf();
      },
      get isClosed() {
        return isClosed();
      },
    };
  }
}

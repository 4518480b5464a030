import type { Refusal } from '../../core/egress.js';
import type { Limits } from '../../core/limits.js';
import type { Log } from '../../core/log.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import type { SignalName } from '../../core/signals.js';
import type { Command } from '../command/command.js';
import { type TerminalReaders, terminalReaders } from '../command/foreground.js';
import {
  type EndReason,
  exitCodeOfSignal,
  graceFor,
  refusalWarning,
  RefusedConnections,
  type Warning,
} from '../command/outcome.js';
import type { Breach, Kill } from '../command/resource-use.js';
import type { ReportedProcess } from '../process/background-processes.js';
import type { CommandPipes } from '../shell/pipe-pool.js';
import { describeLoss, SessionShell, type TerminalSize } from '../shell/session-shell.js';
import type { ShellPool } from '../shell/shell-pool.js';
import type { ShellProcess } from '../shell/shell-process.js';
import { TerminalEcho } from '../shell/terminal-echo.js';
import type { TerminalExit } from '../shell/terminal.js';
import type { InputCertainty } from '../shell/wedge-detector.js';
import type { InstalledShell } from '../shells/list.js';
import { Turns } from '../system/promises.js';
import type { CommandRun } from './command-run.js';
import { RunCycle } from './run-cycle.js';
import type { SessionContext } from './session-context.js';
import { SessionLimitTarget } from './session-limit-target.js';
import { SessionLife } from './session-state.js';
import { Supervisor } from './supervisor.js';

/** Notified of the asynchronous results of `CommandQueue`. */
interface QueueListener {
  /**
   * The pipes of the first command are ready, or could not be created and the command has left the queue: the next
   * command can be taken.
   */
  onReady(): void;
  /** A command has left the queue because its pipes could not be created. */
  onNotStarted(command: Command, error: unknown): void;
}

/** Returns the pipes of a command: immediately, or once they are created. */
function takePipes({ spec }: Command, shell: ShellProcess): CommandPipes | Promise<CommandPipes> {
  const { stdinPipe, isMerged } = spec;
  if (!stdinPipe || stdinPipe.isMade) return shell.takeSlot(isMerged);
  return stdinPipe.make().then(() => shell.takeSlot(isMerged));
}

/** Queue of the session's commands that have not started. */
export class CommandQueue {
  readonly #waiting: Command[] = [];
  readonly #listener: QueueListener;
  /** Pending creation of the pipes for the first command. */
  #creatingSlot: Promise<void> | undefined;

  constructor(listener: QueueListener) {
    this.#listener = listener;
  }

  /** Queued commands, in order. */
  get commands(): readonly Command[] {
    return this.#waiting;
  }

  /** Resolves when no pipes are being created; undefined when none are. */
  get settled(): Promise<void> | undefined {
    return this.#creatingSlot;
  }

  /** Puts a command at the end of the queue. */
  add(command: Command): void {
    this.#waiting.push(command);
  }

  /** Puts a command back at the head of the queue: it was taken, but has not run. */
  putBack(command: Command): void {
    this.#waiting.unshift(command);
  }

  /** Removes a command from the queue; returns false when it is not queued here. */
  remove(command: Command): boolean {
    const index = this.#waiting.indexOf(command);
    if (index !== -1) this.#waiting.splice(index, 1);
    return index !== -1;
  }

  /** Removes all commands and returns them. */
  clear(): Command[] {
    return this.#waiting.splice(0);
  }

  /**
   * Takes the first command when this shell has free pipes for it. Otherwise pipes are created and the command stays
   * queued: meanwhile it can be removed, and the shell may be replaced.
   */
  take(shell: ShellProcess, start: (command: Command, slot: CommandPipes) => void): void {
    const [command] = this.#waiting;
    if (!command || this.#creatingSlot) return;
    const slot = takePipes(command, shell);
    if (slot instanceof Promise) {
      this.#creatingSlot = this.#awaitSlot(command, shell, slot);
      return;
    }
    this.#waiting.shift();
    start(command, slot);
  }

  async #awaitSlot(command: Command, shell: ShellProcess, slot: Promise<CommandPipes>): Promise<void> {
    try {
      shell.returnSlot(await slot);
    } catch (error) {
      // A shell that has ended meanwhile has no pipes; the next shell may have some.
      if (!shell.terminal.hasExited && this.remove(command)) this.#listener.onNotStarted(command, error);
    }
    this.#creatingSlot = undefined;
    this.#listener.onReady();
  }
}

/** Options of a session. */
export interface SessionOptions {
  readonly installed: InstalledShell;
  readonly sandbox: SandboxProfile;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
  readonly killGraceMs: number;
  /** Limits of all commands of the session together. */
  readonly limits: Limits;
  readonly wedgeTimeoutMs: number;
  readonly pool: ShellPool;
  readonly log: Log;
}

/** Gets what a recording of a session shows. */
export interface SessionTap {
  /** A command begins to run; once more when it is taken to another shell. */
  onStarted(command: Command): void;
  /** The terminal has received bytes during the running command, among them the echo of typed input. */
  onTerminalData(chunk: Buffer): void;
  /** The terminal has another size, in characters. */
  onResize(cols: number, rows: number): void;
}

/** Notified of events in a session that are not part of a command's result. */
export interface SessionListener {
  /** Undefined unless the session is recorded. */
  readonly tap?: SessionTap | undefined;
  /** A command is long-running, or may have left processes running: its resource use is worth measuring. */
  onLingering(): void;
  /** Nothing runs for a while after a command. Returns false to be called again after as long, some times. */
  onRested(): boolean;
  /** A command waits for terminal input. */
  onAwaitingInput(command: Command, certainty: InputCertainty): void;
  /** The session's shell is being replaced. */
  onShellReplaced(why: 'ended' | 'reset'): void;
  /** A background process has wanted a connection that the allow-list of the sandbox refuses, for the first time. */
  onRefused(refusal: Refusal): void;
  /** The shell has ended and no other could be started: the session is unusable. */
  onFailed(error: Error): void;
  /** The session exceeds a limit although everything in it was ended: it has to be closed. */
  onExceeded(breach: Breach): void;
}

/** The terminal of a session: what is typed into it, who reads that, and its size. */
class SessionTerminal implements Disposable {
  readonly #context: SessionContext;
  readonly #supervisor: Supervisor;

  constructor(context: SessionContext, supervisor: Supervisor) {
    this.#context = context;
    this.#supervisor = supervisor;
  }

  /** Its size, in characters. */
  get size(): TerminalSize {
    return this.#context.sessionShell.size;
  }

  /** Sets the size, in characters. */
  resize(cols: number, rows: number): void {
    const { sessionShell, listener } = this.#context;
    sessionShell.resize(cols, rows);
    listener.tap?.onResize(cols, rows);
  }

  /** Programs that may read its input at the moment; none when the shell itself would read it. */
  readers(): TerminalReaders {
    return terminalReaders(this.#context.sessionShell.shell);
  }

  /** Whether a process waits for its input. */
  get isRead(): boolean {
    const { pid, processes, terminal } = this.#context.sessionShell.shell;
    const reader = processes.findTerminalReader(pid, terminal.slavePath);
    return reader !== undefined && reader.kind !== 'hidden';
  }

  /** Whether it echoes what is typed now; false when that cannot be determined. */
  showsTyped(): Promise<boolean> {
    return this.#context.echo.showsTyped(this.#context.sessionShell.shell.terminal.slavePath);
  }

  /**
   * Types for the running command; returns the number of bytes accepted.
   * @throws AdapterError INPUT_FULL
   */
  type(data: string, isEndOfFile: boolean): number {
    const { terminal } = this.#context.sessionShell.shell;
    const accepted = terminal.write(data);
    if (isEndOfFile) terminal.writeEndOfFile();
    this.#supervisor.noteActivity();
    return accepted;
  }

  [Symbol.dispose](): void {
    this.#context.echo[Symbol.dispose]();
  }
}

/** Replaces the shell of a session, when it has ended and on request: one replacement after another. No command runs until the last is complete. */
class ShellRecovery {
  readonly #context: SessionContext;
  readonly #cycle: RunCycle;
  readonly #turns = new Turns();
  #restarts = 0;

  constructor(context: SessionContext, cycle: RunCycle) {
    this.#context = context;
    this.#cycle = cycle;
  }

  /** Number of times the shell was replaced. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Resolves when the replacements requested so far are complete. */
  settled(): Promise<void> {
    return this.#turns.take(() => Promise.resolve());
  }

  /** Replaces the shell on request. Without a new shell, the session fails. */
  reset(replace: () => Promise<void>): Promise<void> {
    this.#context.life.enter({ type: 'reset' });
    return this.#replace('reset', replace);
  }

  /** Takes the exit of the shell: settles its command, and restores the shell unless the session is closed. */
  readonly onExit = (exit: TerminalExit): void => {
    const { life, sessionShell, options, queue } = this.#context;
    const cycle = this.#cycle;
    const mustRestore = life.isReplaceable;
    const command = mustRestore ? cycle.takeBack() : undefined;
    if (command) queue.putBack(command);
    cycle.noteExit(exit);
    const before = life.enter({ type: 'exited' });
    const lost = 'lost' in before ? before.lost : undefined;
    const warnings = life.isClosed ? [] : describeLoss(sessionShell.shell, exit, lost, options.log);
    const { run } = life;
    const finished = run && cycle.finishExited(run, exit, life.isClosed ? 'closed' : 'restarted', warnings);
    if (!run) for (const warning of warnings) cycle.noteWarning(warning);
    if (mustRestore) this.#restore(finished);
  };

  #restore(lastCommand?: Promise<void>): void {
    const { sessionShell, options } = this.#context;
    this.#replace('ended', async () => {
      await lastCommand;
      await sessionShell.restore(options);
    }).catch((error: unknown) => {
      options.log.error('a session could not be restarted', { error: String(error) });
    });
  }

  #replace(why: 'ended' | 'reset', replace: () => Promise<void>): Promise<void> {
    const replaced = this.#turns.take(async () => {
      try {
        await this.#context.queue.settled;
        await replace();
      } catch (error) {
        this.#fail(error as Error);
        throw error;
      }
      this.#resume();
    });
    this.#restarts += 1;
    this.#context.listener.onShellReplaced(why);
    return replaced;
  }

  #resume(): void {
    const { sessionShell, life } = this.#context;
    life.enter({ type: 'replaced' });
    if (life.state.name !== 'idle') return;
    this.#cycle.forgetJobs();
    // The new shell was killed while the processes of the old one were being ended.
    if (sessionShell.shell.terminal.hasExited) {
      life.enter({ type: 'exited' });
      this.#restore();
    } else this.#context.next();
  }

  #fail(error: Error): void {
    const { life, queue, listener } = this.#context;
    if (life.enter({ type: 'not replaced' }).name !== 'replacing') return;
    for (const command of queue.clear()) this.#cycle.answerNotStarted(command, error, { sessionState: 'closed' });
    listener.onFailed(error);
  }
}

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
  readonly #life = new SessionLife<CommandRun>();
  readonly #queue: CommandQueue;
  readonly #supervisor: Supervisor;
  readonly #cycle: RunCycle;
  readonly #recovery: ShellRecovery;
  readonly #refusedInBackground = new RefusedConnections();
  #sessionShell!: SessionShell;

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
    this.#supervisor = new Supervisor(context);
    this.#cycle = new RunCycle(context, this.#supervisor);
    this.terminal = new SessionTerminal(context, this.#supervisor);
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
        const output = session.#life.run?.onTerminalData(chunk);
        if (output && output.length > 0) listener.tap?.onTerminalData(output);
      },
      onExit: (exit) => {
        // The shell of a session that is being opened is not replaced: `SessionShell.open` fails.
        if (session.#life.state.name !== 'opening') session.#recovery.onExit(exit);
      },
      onRefused: session.#noteRefused,
      onSetUp: () => {
        session.#supervisor.rest('set-up');
      },
    });
    session.#life.enter({ type: 'opened' });
    session.#supervisor.rest('set-up');
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
    return this.#life.run?.command;
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
    await this.#recovery.settled();
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
  readonly findRunning = () => this.#life.run?.findUnsettled() ?? [];

  /** Ends a running or queued command of this session. */
  cancel(command: Command, reason: EndReason): void {
    const { run } = this.#life;
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
    const { run } = this.#life;
    return run?.command === command ? run.signal(signal) : [];
  }

  /**
   * Ends everything in the session and starts a fresh shell; queued commands run in it.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED, BAD_DIRECTORY: the session has ended then.
   */
  async reset(cwd: string, env: Readonly<Record<string, string>>): Promise<void> {
    await this.#recovery.reset(async () => {
      this.#life.run?.terminate({ status: 'killed', killedBy: 'client' });
      await this.#life.run?.command.finished;
      await this.#sessionShell.reset({ cwd, env });
      this.#cycle.forgetWarnings();
    });
  }

  /**
   * Closes the session: its EXIT trap runs, then every process is ended. Returns the processes that could not be ended.
   */
  async close(reason: EndReason): Promise<ReportedProcess[]> {
    if (this.#life.isClosed) return [];
    this.#life.enter({ type: 'closed' });
    this.terminal[Symbol.dispose]();
    for (const command of this.#queue.clear()) {
      command.requestEnd(reason);
      command.finish({ exitCode: exitCodeOfSignal('SIGHUP'), sessionState: 'closed', workingDirectory: null });
    }
    const { run } = this.#life;
    run?.terminate(reason);
    await run?.command.finished;
    this.#supervisor[Symbol.dispose]();
    await this.#recovery.settled();
    await this.#queue.settled;
    await this.#sessionShell.letExit();
    return this.#sessionShell.close(graceFor(reason, this.options.killGraceMs));
  }

  /** Notes a connection that was refused: with the running command, or with the next one. */
  readonly #noteRefused = (refusal: Refusal): void => {
    const { run } = this.#life;
    if (run) run.command.noteRefused(refusal);
    else if (this.#refusedInBackground.add(refusal) === 1) {
      this.#cycle.noteWarning(refusalWarning(refusal.message));
      this.listener.onRefused(refusal);
    }
  };

  /** Whether no command is running or queued. */
  get isIdle(): boolean {
    return this.#life.state.name === 'idle' && this.#queue.commands.length === 0;
  }

  readonly #next = (): void => {
    if (this.#life.state.name === 'idle') this.#queue.take(this.#sessionShell.shell, this.#cycle.start);
  };

  #createContext(): SessionContext {
    const shellOf = () => this.#sessionShell;
    return {
      options: this.options,
      listener: this.listener,
      queue: this.#queue,
      life: this.#life,
      limitTarget: this.watched,
      echo: new TerminalEcho(this.options.pool.env['PATH'] ?? ''),
      next: this.#next,
      get sessionShell() {
        return shellOf();
      },
    };
  }
}

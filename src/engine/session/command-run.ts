import type { SignalName } from '../../core/signals.js';
import { settledWithin, until } from '../../core/time.js';
import { type Command, ENDING_SIGNALS } from '../command/command.js';
import { Execution } from '../command/execution.js';
import { signalForeground } from '../command/foreground.js';
import { type EndReason, graceFor } from '../command/outcome.js';
import type { OutputStream } from '../output/output-stream.js';
import type { ProcessEntry, StartMarker } from '../platform/platform.js';
import type { ReportedProcess } from '../process/background-processes.js';
import { type EndOptions, endProcesses, killProcesses, signalProcesses } from '../process/end-processes.js';
import { type Climber, climb, ENDING_MS, LADDERS, type Whom } from '../process/ladder.js';
import { sendSignal } from '../system/signals.js';
import { findCommandProcesses, namespacePid } from '../process/find-processes.js';
import type { CommandPipes } from '../shell/pipe-pool.js';
import type { ShellProcess } from '../shell/shell-process.js';
import { TerminalFence } from '../shell/terminal-echo.js';
import { Deferred } from '../system/promises.js';
import type { SessionLife } from './session-state.js';

/** Signals a command of a session, and ends it in steps: Ctrl-C, SIGTERM, SIGKILL, and at last the shell. */
class CommandTermination implements Climber {
  readonly #run: CommandRun;
  readonly #killGraceMs: number;
  #steps: Promise<void> | undefined;
  #shellInterruptedAt = -Infinity;
  /** End of the grace period, on the monotonic clock. */
  #killAt = 0;

  constructor(run: CommandRun, killGraceMs: number) {
    this.#run = run;
    this.#killGraceMs = killGraceMs;
  }

  /** Whether the command is being ended. */
  get hasBegun(): boolean {
    return this.#steps !== undefined;
  }

  /** Begins to end the command; for an exceeded limit without a grace period. */
  begin(reason: EndReason): void {
    this.#killAt = performance.now() + graceFor(reason, this.#killGraceMs);
    this.#steps ??= (reason.breach ? this.#killAtOnce() : this.#escalate()).catch(this.#endUnlisted);
  }

  /**
   * Waits until the last process of the command has ended.
   * @returns the processes that could not be ended
   */
  async complete(): Promise<ProcessEntry[]> {
    await this.#steps;
    const { find, shell } = this.#run;
    try {
      const survivors = await endProcesses(find, Math.max(0, this.#killAt - performance.now()), this.#endOptions);
      return survivors.filter(shell.processes.isAlive);
    } catch {
      // They cannot be listed at the moment: a result without them is better than none.
      return [];
    }
  }

  /**
   * Resolves when the shell has started the command, or has finished it. A signal before that would hit the driver
   * while it reads its request, and the request would be lost.
   */
  async whenUnderWay(): Promise<void> {
    const run = this.#run;
    await until(() => run.isSettled || !run.shell.holdsRequests, 1, ENDING_MS.underWay);
  }

  /**
   * Signals the foreground processes of the command. Returns the processes that received the signal.
   * @param until deadline on the monotonic clock
   */
  signal(signal: SignalName, until = Infinity): Promise<ReportedProcess[]> {
    const run = this.#run;
    const { shell, command } = run;
    return signalForeground({
      shell,
      signal,
      mayInterruptShell: () => {
        const now = performance.now();
        if (now - this.#shellInterruptedAt < ENDING_MS.interruptsApart) return false;
        this.#shellInterruptedAt = now;
        return true;
      },
      onSend: (sent) => {
        command.noteSignal(sent);
      },
      isOver: () => run.isSettled || performance.now() > until,
    });
  }

  async #escalate(): Promise<void> {
    await this.whenUnderWay();
    if (!this.#run.isSettled) await climb(LADDERS.command, this.#killAt, this);
  }

  /** Ends the command without a grace period. */
  async #killAtOnce(): Promise<void> {
    const { shell, command, reported } = this.#run;
    const shellNumber = namespacePid(shell.pid, shell.root);
    // The command may have replaced its shell with `exec`, and end by the interrupt.
    void reported.then((how) => {
      if (how === 'exited') command.noteKilled([shellNumber]);
    });
    await climb(LADDERS.exceeding, this.#killAt, this);
  }

  readonly #endUnlisted = (): Promise<void> => climb(LADDERS.unlisted, this.#killAt, this);

  /** Sends the signal of a step. The result must not wait for a shell that does not react. */
  readonly send = (signal: NodeJS.Signals, whom: Whom, withinMs: number): unknown => {
    const { shell, find, isSettled } = this.#run;
    switch (whom) {
      case 'foreground':
        return isSettled ? undefined : this.signal('SIGINT', performance.now() + withinMs);
      case 'processes':
        return signalProcesses(find(), signal, shell.processes);
      case 'tree':
        return killProcesses(find, this.#endOptions);
      case 'shell':
      case 'group':
        return sendSignal(shell.pid, signal);
    }
  };

  readonly endsWithin = (ms: number): Promise<boolean> => settledWithin(this.#run.reported, ms);

  get #endOptions(): EndOptions {
    const { group, root, processes } = this.#run.shell;
    return { processes, group, root, onKill: this.#onKill };
  }

  readonly #onKill = (pids: readonly number[]): void => {
    this.#run.command.noteKilled(pids);
  };
}

/** Longest wait for the closing fence of a terminal whose program has already ended, in milliseconds. */
const FENCE_MS = 500;

/** The output of a command on the session's terminal: what comes between the two fences that the driver prints. */
class TerminalOutput {
  readonly #fence: TerminalFence;
  readonly #stdout: OutputStream;
  #onClosed: (() => void) | undefined;

  constructor(nonce: string, stdout: OutputStream) {
    this.#fence = new TerminalFence(nonce);
    this.#stdout = stdout;
  }

  /** Takes what the terminal has received; returns the output of the command in it. */
  push(chunk: Buffer): Buffer {
    const data = this.#fence.push(chunk);
    if (data.length > 0) this.#stdout.write(data);
    if (this.#fence.isClosed) this.#onClosed?.();
    return data;
  }

  /**
   * Waits for the closing fence, which arrives on another channel than the report. Undefined when there is nothing to
   * wait for: the fence is closed, or the shell that would print it has exited.
   */
  end(how: 'reported' | 'exited'): Promise<void> | undefined {
    if (this.#fence.isClosed) return undefined;
    if (how === 'exited') {
      this.#stdout.write(this.#fence.flush());
      return undefined;
    }
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#stdout.write(this.#fence.flush());
        resolve();
      };
      const timer = setTimeout(done, FENCE_MS);
      this.#onClosed = done;
    });
  }
}

/** A program that ends sooner than this, in milliseconds, has had no interactive input. */
const INTERACTIVE_MS = 50;

/** Dependencies of `CommandRun`. */
export interface RunOptions {
  readonly shell: ShellProcess;
  readonly slot: CommandPipes;
  readonly number: number;
  readonly nonce: string;
  /** Taken before the request was sent to the shell. */
  readonly startMarker: StartMarker;
  readonly killGraceMs: number;
  /** Called whenever the command writes output. */
  readonly onOutput: () => void;
}

/** A command in flight in a shell: forwards its output, and ends it on request. */
export class CommandRun extends Execution {
  readonly nonce: string;
  readonly #options: RunOptions;
  readonly #terminal: TerminalOutput | undefined;
  readonly #reported = new Deferred<'reported' | 'exited'>();
  readonly #life: SessionLife<CommandRun>;
  /** Created with the first signal: most commands get none. */
  #termination: CommandTermination | undefined;
  #hasLeftPipes = false;
  #survivors: readonly ProcessEntry[] = [];

  constructor(command: Command, options: RunOptions, life: SessionLife<CommandRun>) {
    super(command, options.slot, options.onOutput);
    this.#life = life;
    this.nonce = options.nonce;
    this.#options = options;
    this.#terminal = command.spec.tty ? new TerminalOutput(options.nonce, command.stdout) : undefined;
  }

  /** Resolves when the driver has reported the end, or the shell has exited. */
  get reported(): Promise<'reported' | 'exited'> {
    return this.#reported.promise;
  }

  /** The pipes of the command. */
  get slot(): CommandPipes {
    return this.#options.slot;
  }

  /** The shell in which the command runs. */
  get shell(): ShellProcess {
    return this.#options.shell;
  }

  /** Start marker, taken before the request was sent to the shell. */
  get startMarker(): StartMarker {
    return this.#options.startMarker;
  }

  /** Processes that could not be ended; known once `settle` has resolved. */
  get survivors(): readonly ProcessEntry[] {
    return this.#survivors;
  }

  /** Whether the driver has reported the end, or the shell has exited. */
  get isSettled(): boolean {
    return !this.#life.isUnderWay(this);
  }

  /** Whether the command ran as long as interactive programs do, which may change the terminal's modes. */
  get isLongRunning(): boolean {
    return this.command.ageMs > INTERACTIVE_MS;
  }

  /** Processes output of the terminal. Returns what is the command's: all of it for a command that does not run on it. */
  onTerminalData(chunk: Buffer): Buffer {
    if (!this.#terminal) return chunk;
    const output = this.#terminal.push(chunk);
    if (output.length > 0) this.noteOutput();
    return output;
  }

  override holdForClient(isHeld: boolean): void {
    super.holdForClient(isHeld);
    if (this.#terminal) this.#options.shell.terminal.setPaused(isHeld);
  }

  /**
   * Ends the command: Ctrl-C, SIGTERM, SIGKILL, and at last the shell. Only the first reason counts; after the end, its
   * result does not wait for filters any longer.
   */
  terminate(reason: EndReason): void {
    this.mayLinger &&= !this.isSettled;
    if (this.isSettled || !this.command.requestEnd(reason) || this.#termination?.hasBegun) return;
    this.#life.enter({ type: 'ended' });
    this.holdForClient(false);
    this.#toSignal.begin(reason);
  }

  /** Signals the foreground processes of the command. Returns the processes that received the signal. */
  async signal(signal: SignalName): Promise<ReportedProcess[]> {
    const { shell } = this.#options;
    await this.#toSignal.whenUnderWay();
    if (this.isSettled) {
      this.mayLinger &&= !ENDING_SIGNALS.has(signal);
      return [];
    }
    const processes = await this.#toSignal.signal(signal);
    // The shell's own loop receives an interrupt, which it may ignore; SIGKILL must not be ignored.
    const shellPid = shell.root.mainNamespacePid;
    const isShell = processes.some(({ pid }) => pid === shellPid) && shell.hasDriver;
    if (signal === 'SIGKILL' && isShell) this.terminate({ status: 'killed', killedBy: 'signal' });
    return processes;
  }

  /**
   * Reads the rest of the output once the session is settling: the driver has reported or the shell has exited. When the command is being
   * ended, resolves only after its last process has ended.
   */
  settle(how: 'reported' | 'exited'): Promise<void> | undefined {
    this.command.lifecycle.enter('reported');
    this.#reported.resolve(how);
    const termination = this.#termination;
    return termination?.hasBegun ? this.#settleTerminated(termination, how) : this.#terminal?.end(how);
  }

  /**
   * Leaves the pipes as they were last read. Those that background jobs still hold are read from `readOn` on until these
   * jobs end; `onFree` reports that the slot can serve another command. Returns whether background jobs hold the slot.
   * Repeated calls have no effect.
   */
  finishOutput(onFree: () => void): boolean {
    if (this.#hasLeftPipes) return false;
    this.#hasLeftPipes = true;
    const held = this.held.filter((feed) => feed.drain() === 'held');
    this.release();
    let open = held.length;
    const onClosed = () => {
      open -= 1;
      if (open === 0) onFree();
    };
    this.readOn = () => {
      for (const feed of held) feed.listen(onClosed);
    };
    if (open === 0) onFree();
    return open > 0;
  }

  /** Reads the output of background jobs: after the result, to which it does not belong. */
  readOn: () => void = () => undefined;

  /** Streams the output: only worth its cost when the command outlives the fast path. */
  listen(): void {
    this.stdout.listen();
    this.stderr.listen();
  }

  /** Running processes that the command has started; empty once the end has been reported. */
  findUnsettled(): ProcessEntry[] {
    return this.isSettled ? [] : this.find();
  }

  /** Finds the running processes that the command has started. */
  readonly find = (): ProcessEntry[] => {
    const { shell, number, startMarker } = this.#options;
    const { root, group, processes } = shell;
    return findCommandProcesses({ tag: shell.commandTag(number), root, beginning: startMarker, group, processes });
  };

  get #toSignal(): CommandTermination {
    return (this.#termination ??= new CommandTermination(this, this.#options.killGraceMs));
  }

  async #settleTerminated(termination: CommandTermination, how: 'reported' | 'exited'): Promise<void> {
    this.#survivors = await termination.complete();
    await this.#terminal?.end(how);
  }
}

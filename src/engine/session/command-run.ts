import type { SignalName } from '../../core/signals.js';
import type { Command } from '../command/command.js';
import type { EndReason } from '../command/outcome.js';
import { PipeFeed } from '../output/pipe-feed.js';
import type { ProcessEntry } from '../platform/contract/process-entry.js';
import { findCommandProcesses } from '../process/find-processes.js';
import type { ReportedProcess } from '../process/reported-process.js';
import type { StartMarker } from '../platform/contract/start-marker.js';
import type { CommandPipes } from '../shell/pipe-pool.js';
import type { ShellProcess } from '../shell/shell-process.js';
import { Deferred } from '../system/deferred.js';
import { CommandTermination } from './command-termination.js';
import { TerminalOutput } from './terminal-output.js';

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

/** A command in flight in a shell: forwards its output, watches its time-outs, and ends it on request. */
export class CommandRun {
  readonly command: Command;
  readonly nonce: string;
  readonly #options: RunOptions;
  readonly #out: PipeFeed;
  readonly #err: PipeFeed;
  readonly #terminal: TerminalOutput | undefined;
  readonly #reported = new Deferred<'reported' | 'exited'>();
  /** Created with the first signal: most commands get none. */
  #termination: CommandTermination | undefined;
  /** Aborted at the end of the run: clears its timers. Undefined on the fast path, which has none. */
  #running: AbortController | undefined;
  #quietTimer: NodeJS.Timeout | undefined;
  #isSettled = false;
  #survivors: readonly ProcessEntry[] = [];

  constructor(command: Command, options: RunOptions) {
    this.command = command;
    this.nonce = options.nonce;
    this.#options = options;
    this.#out = new PipeFeed(options.slot.out, command.stdout, this.#noteOutput);
    this.#err = new PipeFeed(options.slot.err, command.stderr, this.#noteOutput);
    this.#terminal = command.spec.tty ? new TerminalOutput(options.nonce, command.stdout) : undefined;
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
    return this.#isSettled;
  }

  /** Whether the command ran as long as interactive programs do, which may change the terminal's modes. */
  get isLongRunning(): boolean {
    return this.command.ageMs > INTERACTIVE_MS;
  }

  /** Processes output of the terminal. Returns what is the command's: all of it for a command that does not run on it. */
  onTerminalData(chunk: Buffer): Buffer {
    if (!this.#terminal) return chunk;
    const output = this.#terminal.push(chunk);
    if (output.length > 0) this.#noteOutput();
    return output;
  }

  /** Pauses or resumes reading of the command's output (backpressure). */
  holdForClient(isHeld: boolean): void {
    this.#out.holdForClient(isHeld);
    this.#err.holdForClient(isHeld);
    if (this.#terminal) this.#options.shell.terminal.setPaused(isHeld);
  }

  /**
   * Ends the command: Ctrl-C, SIGTERM, SIGKILL, and at last the shell. Only the first reason counts; calls after the
   * end have no effect.
   */
  terminate(reason: EndReason): void {
    if (this.#isSettled || !this.command.requestEnd(reason) || this.#termination?.hasBegun) return;
    this.holdForClient(false);
    this.#toSignal.begin(reason);
  }

  /** Signals the foreground processes of the command. Returns the processes that received the signal. */
  async signal(signal: SignalName): Promise<ReportedProcess[]> {
    const { shell } = this.#options;
    await this.#toSignal.whenUnderWay();
    if (this.#isSettled) return [];
    const processes = await this.#toSignal.signal(signal);
    // The shell's own loop receives an interrupt, which it may ignore; SIGKILL must not be ignored.
    const shellPid = shell.root.mainNamespacePid;
    const isShell = processes.some(({ pid }) => pid === shellPid) && shell.hasDriver;
    if (signal === 'SIGKILL' && isShell) this.terminate({ status: 'killed', killedBy: 'signal' });
    return processes;
  }

  /** Releases the resources of a command that has not started. */
  abandon(): void {
    this.#isSettled = true;
    this.#running?.abort();
    this.#out.release();
    this.#err.release();
  }

  /**
   * Reads the rest of the output after the driver has reported or the shell has exited. When the command is being
   * ended, resolves only after its last process has ended.
   */
  settle(how: 'reported' | 'exited'): Promise<void> | undefined {
    this.#isSettled = true;
    this.command.lifecycle.enter('reported');
    this.#running?.abort();
    this.#reported.resolve(how);
    const termination = this.#termination;
    return termination?.hasBegun ? this.#settleTerminated(termination, how) : this.#terminal?.end(how);
  }

  /**
   * Reads what the pipes hold. Pipes that background jobs still hold are read from `readOn` on until these jobs end;
   * `onFree` reports that the slot can serve another command. Returns whether background jobs hold the slot.
   */
  finishOutput(onFree: () => void): boolean {
    const feeds = [this.#out, this.#err];
    const held = feeds.filter((feed) => feed.drain() === 'held');
    for (const feed of feeds) feed.release();
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

  /** Called when the command outlives the fast path: only then are streams and timers worth their cost. */
  startMonitoring(): void {
    if (this.#isSettled) return;
    this.#out.listen();
    this.#err.listen();
    const { timeoutMs, noOutputTimeoutMs } = this.command.spec;
    this.#running = new AbortController();
    this.#timeOutAfter(timeoutMs - this.command.ageMs, this.#running.signal);
    if (noOutputTimeoutMs !== undefined) {
      this.#quietTimer = this.#timeOutAfter(noOutputTimeoutMs, this.#running.signal);
    }
  }

  /** Running processes that the command has started; empty once the end has been reported. */
  findUnsettled(): ProcessEntry[] {
    return this.#isSettled ? [] : this.#find();
  }

  #timeOutAfter(ms: number, signal: AbortSignal): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.terminate({ status: 'timed_out', killedBy: 'timeout' });
    }, ms);
    const clear = () => {
      clearTimeout(timer);
    };
    signal.addEventListener('abort', clear, { once: true });
    return timer;
  }

  readonly #noteOutput = (): void => {
    this.#quietTimer?.refresh();
    this.#options.onOutput();
  };

  readonly #find = (): ProcessEntry[] => {
    const { shell, number, startMarker } = this.#options;
    const { root, group, processes } = shell;
    return findCommandProcesses({ tag: shell.commandTag(number), root, beginning: startMarker, group, processes });
  };

  get #toSignal(): CommandTermination {
    const { shell, killGraceMs } = this.#options;
    return (this.#termination ??= new CommandTermination({
      command: this.command,
      shell,
      killGraceMs,
      reported: this.#reported.promise,
      isSettled: () => this.#isSettled,
      find: this.#find,
    }));
  }

  async #settleTerminated(termination: CommandTermination, how: 'reported' | 'exited'): Promise<void> {
    this.#survivors = await termination.complete();
    await this.#terminal?.end(how);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';

import type { SignalName } from '../../core/signals.js';
import type { StartMarker } from '../process/start-marker.js';
import { type Command, type EndReason, graceFor } from '../command/command.js';
import { Deferred } from '../system/deferred.js';
import { signalForeground } from '../command/foreground.js';
import { PipeFeed } from '../output/pipe-feed.js';
import { descriptorTarget, isAlive, type ProcessEntry } from '../process/process-table.js';
import {
  type ReportedProcess,
  endProcesses,
  findCommandProcesses,
  killProcesses,
  sendSignal,
  signalProcesses,
} from '../process/process-tree.js';
import type { ShellProcess } from '../shell/shell-process.js';
import { namespacePid } from '../process/namespace-pids.js';
import type { CommandPipes } from '../shell/pipe-pool.js';
import { TerminalFence } from '../shell/terminal-fence.js';

/** Grace period after Ctrl-C alone before SIGTERM is sent, in milliseconds. */
const INTERRUPT_MS = 150;
/**
 * Minimum interval between two interrupts of the shell itself, in milliseconds; closer ones coalesce, as pending
 * signals do. A second one would arrive right after the first has ended the command, and zsh exits when it is
 * interrupted while it reads a line.
 */
const INTERRUPTS_APART_MS = 100;
/** Time for the shell to report after SIGKILL before the shell itself is killed, in milliseconds. */
const REPORT_AFTER_KILL_MS = 150;
/** bash sleeps for one second when fork(2) fails. */
const RETRY_MS = 1200;
/** A program that ends sooner than this, in milliseconds, has had no interactive input. */
const INTERACTIVE_MS = 50;
/** Longest wait for the shell to read its request before a signal is sent anyway, in milliseconds. */
const UNDER_WAY_MS = 100;
/** Longest wait for the closing fence of a terminal whose program has already ended, in milliseconds. */
const FENCE_MS = 500;

/** Dependencies of `CommandRun`. */
export interface RunOptions {
  readonly shell: ShellProcess;
  readonly slot: CommandPipes;
  readonly number: number;
  readonly nonce: string;
  /** Taken before the request was sent to the shell. */
  readonly beginning: StartMarker;
  readonly killGraceMs: number;
  /** Called whenever the command writes output. */
  readonly onOutput: () => void;
}

/** A command in flight in a shell: forwards its output, runs its timers, and ends it on request. */
export class CommandRun {
  readonly command: Command;
  readonly nonce: string;
  readonly #options: RunOptions;
  readonly #out: PipeFeed;
  readonly #err: PipeFeed;
  readonly #fence: TerminalFence | undefined;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #reported = new Deferred<'reported' | 'exited'>();
  #quietTimer: NodeJS.Timeout | undefined;
  #isSettled = false;
  #isTerminating = false;
  #onFenceClosed: (() => void) | undefined;
  #survivors: readonly ProcessEntry[] = [];
  #termination: Promise<void> | undefined;
  #shellInterruptedAt = -Infinity;
  /** End of the grace period, on the monotonic clock. */
  #killAt = 0;

  constructor(command: Command, options: RunOptions) {
    this.command = command;
    this.nonce = options.nonce;
    this.#options = options;
    const onBytes = () => {
      this.#noteOutput();
    };
    this.#out = new PipeFeed(options.slot.out, command.stdout, onBytes);
    this.#err = new PipeFeed(options.slot.err, command.stderr, onBytes);
    this.#fence = command.spec.tty ? new TerminalFence(options.nonce) : undefined;
  }

  get slot(): CommandPipes {
    return this.#options.slot;
  }

  /** The shell in which the command runs. */
  get shell(): ShellProcess {
    return this.#options.shell;
  }

  /** Start marker, taken before the request was sent to the shell. */
  get beginning(): StartMarker {
    return this.#options.beginning;
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
  get hasLingered(): boolean {
    return this.command.ageMs > INTERACTIVE_MS;
  }

  /** Processes output of the terminal. */
  onTerminalData(chunk: Buffer): void {
    if (!this.#fence) return;
    const data = this.#fence.push(chunk);
    if (data.length > 0) {
      this.command.stdout.write(data);
      this.#noteOutput();
    }
    if (this.#fence.isClosed) this.#onFenceClosed?.();
  }

  /** Pauses or resumes reading of the command's output (backpressure). */
  holdForClient(isHeld: boolean): void {
    this.#out.holdForClient(isHeld);
    this.#err.holdForClient(isHeld);
    if (this.#fence) this.#options.shell.terminal.setPaused(isHeld);
  }

  /**
   * Ends the command: Ctrl-C, SIGTERM, SIGKILL, and at last the shell. Only the first reason counts; calls after the
   * end have no effect.
   */
  terminate(reason: EndReason): void {
    if (this.#isSettled || !this.command.requestEnd(reason) || this.#isTerminating) return;
    this.#isTerminating = true;
    this.holdForClient(false);
    this.#killAt = performance.now() + graceFor(reason, this.#options.killGraceMs);
    this.#termination = reason.breach ? this.#killAtOnce() : this.#escalate();
  }

  /**
   * Resolves when the shell has started the command, or has finished it. A signal before that would hit the driver
   * while it reads its request, and the request would be lost.
   */
  async whenUnderWay(): Promise<void> {
    const { shell } = this.#options;
    const { requestFd } = shell.installed.shell;
    const deadline = performance.now() + UNDER_WAY_MS;
    while (!this.#isSettled && performance.now() < deadline) {
      if (descriptorTarget(shell.pid, requestFd) !== shell.requestPath) return;
      await sleep(1);
    }
  }

  /** Signals the foreground processes of the command. Returns the processes that received the signal. */
  async signal(signal: SignalName): Promise<ReportedProcess[]> {
    const { shell } = this.#options;
    await this.whenUnderWay();
    if (this.#isSettled) return [];
    const processes = await this.#signalForeground(signal);
    // The shell's own loop receives an interrupt, which it may ignore; SIGKILL must not be ignored.
    const shellPid = shell.root.mainNamespacePid;
    const isShell = processes.some(({ pid }) => pid === shellPid) && shell.hasDriver;
    if (signal === 'SIGKILL' && isShell) this.terminate({ status: 'killed', killedBy: 'signal' });
    return processes;
  }

  /** @param until deadline on the monotonic clock */
  #signalForeground(signal: SignalName, until = Infinity): Promise<ReportedProcess[]> {
    const { shell } = this.#options;
    return signalForeground({
      root: shell.root,
      signal,
      hasDriver: shell.hasDriver,
      mayInterruptShell: () => {
        const now = performance.now();
        if (now - this.#shellInterruptedAt < INTERRUPTS_APART_MS) return false;
        this.#shellInterruptedAt = now;
        return true;
      },
      onSend: (sent) => {
        this.command.noteSignal(sent);
      },
      isOver: () => this.#isSettled || performance.now() > until,
    });
  }

  /** Releases the resources of a command that has not started. */
  abandon(): void {
    this.#isSettled = true;
    this.#clearTimers();
    this.#out.release();
    this.#err.release();
  }

  /**
   * Reads the rest of the output after the driver has reported or the shell has exited. When the command is being
   * ended, resolves only after its last process has ended.
   */
  settle(how: 'reported' | 'exited'): Promise<void> | undefined {
    this.#isSettled = true;
    this.#clearTimers();
    this.#reported.resolve(how);
    if (this.#termination) return this.#settleTerminated(this.#termination, how);
    return this.#endTerminalOutput(how);
  }

  /**
   * Reads what the pipes hold. Pipes that background jobs still hold are read until these jobs end; `onFree` reports
   * that the slot can serve another command. Returns whether background jobs hold the slot.
   */
  finishOutput(onFree: () => void): boolean {
    const feeds = [this.#out, this.#err].filter((feed) => feed.drain() === 'held');
    const free = [this.#out, this.#err].filter((feed) => !feeds.includes(feed));
    for (const feed of free) feed.release();
    let open = feeds.length;
    for (const feed of feeds) {
      feed.release();
      feed.listen(() => {
        open -= 1;
        if (open === 0) onFree();
      });
    }
    if (open === 0) onFree();
    return open > 0;
  }

  #noteOutput(): void {
    this.#quietTimer?.refresh();
    this.#options.onOutput();
  }

  /** Called when the command outlives the fast path: only then are streams and timers worth their cost. */
  linger(): void {
    if (this.#isSettled) return;
    this.#out.listen();
    this.#err.listen();
    const { timeoutMs, noOutputTimeoutMs } = this.command.spec;
    const timeOut = () => {
      this.terminate({ status: 'timed_out', killedBy: 'timeout' });
    };
    this.#timers.add(setTimeout(timeOut, timeoutMs - this.command.ageMs));
    if (noOutputTimeoutMs !== undefined) {
      this.#quietTimer = setTimeout(timeOut, noOutputTimeoutMs);
      this.#timers.add(this.#quietTimer);
    }
  }

  #clearTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Waits for the closing fence, which arrives on another channel than the report. */
  #endTerminalOutput(how: 'reported' | 'exited'): Promise<void> | undefined {
    if (!this.#fence || this.#fence.isClosed) return undefined;
    if (how === 'exited') {
      this.command.stdout.write(this.#fence.flush());
      return undefined;
    }
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        if (this.#fence) this.command.stdout.write(this.#fence.flush());
        resolve();
      };
      const timer = setTimeout(done, FENCE_MS);
      this.#onFenceClosed = done;
    });
  }

  /** Running processes that the command has started; empty once the end has been reported. */
  findUnsettled(): ProcessEntry[] {
    return this.#isSettled ? [] : this.#find();
  }

  readonly #find = (): ProcessEntry[] => {
    const { shell, number, beginning } = this.#options;
    const { root, group } = shell;
    return findCommandProcesses({ tag: shell.commandTag(number), root, beginning, group });
  };

  /** Time left before processes are killed, in milliseconds. */
  get #graceLeftMs(): number {
    return Math.max(0, this.#killAt - performance.now());
  }

  async #reportedWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, ms, false);
    });
    const inTime = await Promise.race([this.#reported.promise.then(() => true), late]);
    clearTimeout(timer);
    return inTime;
  }

  /** @param ms remaining time: the result must not wait for a shell that does not react */
  async #interrupt(ms: number): Promise<void> {
    if (!this.#isSettled) await this.#signalForeground('SIGINT', performance.now() + ms);
  }

  async #escalate(): Promise<void> {
    const { shell } = this.#options;
    await this.whenUnderWay();
    if (this.#isSettled) return;
    await this.#interrupt(this.#graceLeftMs);
    if (await this.#reportedWithin(Math.min(INTERRUPT_MS, this.#graceLeftMs))) return;
    signalProcesses(this.#find(), 'SIGTERM');
    // A shell that handles the interrupt slowly, or was between two children, receives it again.
    await this.#interrupt(this.#graceLeftMs);
    if (await this.#reportedWithin(this.#graceLeftMs)) return;
    signalProcesses(this.#find(), 'SIGKILL');
    await this.#interrupt(REPORT_AFTER_KILL_MS);
    if (await this.#reportedWithin(REPORT_AFTER_KILL_MS)) return;
    sendSignal(shell.pid, 'SIGKILL');
  }

  /** Ends the command without a grace period, its processes before the shell. */
  async #killAtOnce(): Promise<void> {
    const { shell } = this.#options;
    const shellNumber = namespacePid(shell.pid, shell.root);
    // The command may have replaced its shell with `exec`, and end by the interrupt.
    void this.#reported.promise.then((how) => {
      if (how === 'exited') this.command.noteKilled([shellNumber]);
    });
    await this.#kill();
    if (await this.#reportedWithin(REPORT_AFTER_KILL_MS)) return;
    await this.#interrupt(RETRY_MS);
    if (await this.#reportedWithin(RETRY_MS)) return;
    await this.#kill();
    if (await this.#reportedWithin(REPORT_AFTER_KILL_MS)) return;
    sendSignal(shell.pid, 'SIGKILL');
  }

  #kill(): Promise<ProcessEntry[]> {
    const { group, root } = this.#options.shell;
    return killProcesses(this.#find, { group, root, onKill: this.#onKill });
  }

  readonly #onKill = (pids: readonly number[]): void => {
    this.command.noteKilled(pids);
  };

  async #settleTerminated(termination: Promise<void>, how: 'reported' | 'exited'): Promise<void> {
    await termination;
    const { group, root } = this.#options.shell;
    const survivors = await endProcesses(this.#find, this.#graceLeftMs, { group, root, onKill: this.#onKill });
    this.#survivors = survivors.filter(isAlive);
    await this.#endTerminalOutput(how);
  }
}

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

/** How long Ctrl-C alone gets before the command's processes are asked by SIGTERM. */
const INTERRUPT_MS = 150;
/**
 * Interrupts of the shell itself that follow each other sooner than this are one, as pending signals are: the second would
 * meet it when it has just ended the command, and zsh ends itself when it is interrupted while it reads a line.
 */
const INTERRUPTS_APART_MS = 100;
/** How long after SIGKILL the shell gets to report before it is killed itself. */
const REPORT_AFTER_KILL_MS = 150;
/** bash sleeps for a second when it could start no process. */
const RETRY_MS = 1200;
/** Nobody types into a program that ends before this. */
const INTERACTIVE_MS = 50;
/** Longest wait for the shell to take up a command before it is signalled all the same. */
const UNDER_WAY_MS = 100;
/** Longest wait for the closing fence of a terminal whose program has already ended. */
const FENCE_MS = 500;

/** What a run asks of its session. */
export interface RunOptions {
  readonly shell: ShellProcess;
  readonly slot: CommandPipes;
  readonly number: number;
  readonly nonce: string;
  /** Before the shell was told. */
  readonly beginning: StartMarker;
  readonly killGraceMs: number;
  /** Called at every sign of life of the command. */
  readonly onOutput: () => void;
}

/** A command in flight in a shell: leads its output, keeps its time, and ends it when asked. */
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
  /** When politeness ends, on the monotonic clock. */
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

  /** The shell that it runs in. */
  get shell(): ShellProcess {
    return this.#options.shell;
  }

  /** When it began: before the shell was told. */
  get beginning(): StartMarker {
    return this.#options.beginning;
  }

  /** What could not be ended; known once `settle` has resolved. */
  get survivors(): readonly ProcessEntry[] {
    return this.#survivors;
  }

  /** Whether the driver has reported its end, or the shell has exited. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Whether it took as long as programs do that change the terminal's modes for a person. */
  get hasLingered(): boolean {
    return this.command.ageMs > INTERACTIVE_MS;
  }

  /** Takes what the terminal gave. */
  onTerminalData(chunk: Buffer): void {
    if (!this.#fence) return;
    const data = this.#fence.push(chunk);
    if (data.length > 0) {
      this.command.stdout.write(data);
      this.#noteOutput();
    }
    if (this.#fence.isClosed) this.#onFenceClosed?.();
  }

  /** Stops or goes on reading the command's output. */
  holdForClient(isHeld: boolean): void {
    this.#out.holdForClient(isHeld);
    this.#err.holdForClient(isHeld);
    if (this.#fence) this.#options.shell.terminal.setPaused(isHeld);
  }

  /** Ends the command: Ctrl-C, SIGTERM, SIGKILL, and at last the shell. The first reason wins, and none comes after its end. */
  terminate(reason: EndReason): void {
    if (this.#isSettled || !this.command.requestEnd(reason) || this.#isTerminating) return;
    this.#isTerminating = true;
    this.holdForClient(false);
    this.#killAt = performance.now() + graceFor(reason, this.#options.killGraceMs);
    this.#termination = reason.breach ? this.#killAtOnce() : this.#climbLadder();
  }

  /**
   * Resolves when the shell has begun with the command, or is done with it. A signal before that would hit the driver
   * while it reads its request, and lose it.
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

  /** Signals what the command has in the foreground. Gives the processes that got the signal. */
  async signal(signal: SignalName): Promise<ReportedProcess[]> {
    const { shell } = this.#options;
    await this.whenUnderWay();
    if (this.#isSettled) return [];
    const processes = await this.#signalForeground(signal);
    // The shell's own loop gets an interrupt, which it may ignore; SIGKILL is not to be ignored.
    const shellPid = shell.root.mainNamespacePid;
    const isShell = processes.some(({ pid }) => pid === shellPid) && shell.hasDriver;
    if (signal === 'SIGKILL' && isShell) this.terminate({ status: 'killed', killedBy: 'signal' });
    return processes;
  }

  /** @param until when to give up at the latest, on the monotonic clock */
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

  /** Forgets the command, which has not begun. */
  abandon(): void {
    this.#isSettled = true;
    this.#clearTimers();
    this.#out.release();
    this.#err.release();
  }

  /**
   * Reads the rest of the output, once the driver has reported or the shell has exited. When the command was to be
   * ended, resolves only after the last of its processes has gone.
   */
  settle(how: 'reported' | 'exited'): Promise<void> | undefined {
    this.#isSettled = true;
    this.#clearTimers();
    this.#reported.resolve(how);
    if (this.#termination) return this.#settleTerminated(this.#termination, how);
    return this.#endTerminalOutput(how);
  }

  /**
   * Reads what has come through the pipes. What background jobs still hold is read on until they end; `onFree` tells
   * that the slot can serve another command. Gives whether they hold it.
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

  /** Called when the command has not ended within a moment: only now are streams and timers worth their cost. */
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

  /** Waits for the closing fence, which comes by another way than the report. */
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

  /** What it has started and that still runs; nothing once it has reported its end. */
  findUnsettled(): ProcessEntry[] {
    return this.#isSettled ? [] : this.#find();
  }

  readonly #find = (): ProcessEntry[] => {
    const { shell, number, beginning } = this.#options;
    const { root, group } = shell;
    return findCommandProcesses({ tag: shell.commandTag(number), root, beginning, group });
  };

  /** Time left before processes are killed. */
  get #politeMs(): number {
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

  /** @param ms what is left for it: the answer must not wait for a shell that cannot be made to hear */
  async #interrupt(ms: number): Promise<void> {
    if (!this.#isSettled) await this.#signalForeground('SIGINT', performance.now() + ms);
  }

  async #climbLadder(): Promise<void> {
    const { shell } = this.#options;
    await this.whenUnderWay();
    if (this.#isSettled) return;
    await this.#interrupt(this.#politeMs);
    if (await this.#reportedWithin(Math.min(INTERRUPT_MS, this.#politeMs))) return;
    signalProcesses(this.#find(), 'SIGTERM');
    // A shell that handles the interrupt slowly, or was between two children, gets it once more.
    await this.#interrupt(this.#politeMs);
    if (await this.#reportedWithin(this.#politeMs)) return;
    signalProcesses(this.#find(), 'SIGKILL');
    await this.#interrupt(REPORT_AFTER_KILL_MS);
    if (await this.#reportedWithin(REPORT_AFTER_KILL_MS)) return;
    sendSignal(shell.pid, 'SIGKILL');
  }

  /** For what must not go on: no step of politeness, and first what the shell has started. */
  async #killAtOnce(): Promise<void> {
    const { shell } = this.#options;
    const shellNumber = namespacePid(shell.pid, shell.root);
    // The command may have taken its shell's place, and end by the interrupt.
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
    const survivors = await endProcesses(this.#find, this.#politeMs, { group, root, onKill: this.#onKill });
    this.#survivors = survivors.filter(isAlive);
    await this.#endTerminalOutput(how);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';

import type { SignalName } from '../../core/signals.js';
import { settledWithin } from '../../core/time.js';
import type { Command } from '../command/command.js';
import { type EndReason, graceFor } from '../command/outcome.js';
import { signalForeground } from '../command/foreground.js';
import { namespacePid } from '../process/namespace-pids.js';
import type { ProcessEntry } from '../platform/contract/process-entry.js';
import { type EndOptions, endProcesses, killProcesses, sendSignal, signalProcesses } from '../process/end-processes.js';
import type { ReportedProcess } from '../process/reported-process.js';
import type { ShellProcess } from '../shell/shell-process.js';

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
/** Longest wait for the shell to read its request before a signal is sent anyway, in milliseconds. */
const UNDER_WAY_MS = 100;

/** What a termination needs to know of its command. */
export interface TerminationTarget {
  readonly command: Command;
  readonly shell: ShellProcess;
  readonly killGraceMs: number;
  /** Resolves when the driver has reported the end, or the shell has exited. */
  readonly reported: Promise<'reported' | 'exited'>;
  /** Whether `reported` has resolved. */
  readonly isSettled: () => boolean;
  /** Finds the running processes that the command has started. */
  readonly find: () => ProcessEntry[];
}

/** Signals a command of a session, and ends it in steps: Ctrl-C, SIGTERM, SIGKILL, and at last the shell. */
export class CommandTermination {
  readonly #target: TerminationTarget;
  #steps: Promise<void> | undefined;
  #shellInterruptedAt = -Infinity;
  /** End of the grace period, on the monotonic clock. */
  #killAt = 0;

  constructor(target: TerminationTarget) {
    this.#target = target;
  }

  /** Whether the command is being ended. */
  get hasBegun(): boolean {
    return this.#steps !== undefined;
  }

  /** Begins to end the command; for an exceeded limit without a grace period. */
  begin(reason: EndReason): void {
    this.#killAt = performance.now() + graceFor(reason, this.#target.killGraceMs);
    this.#steps ??= (reason.breach ? this.#killAtOnce() : this.#escalate()).catch(this.#endUnlisted);
  }

  /**
   * Waits until the last process of the command has ended.
   * @returns the processes that could not be ended
   */
  async complete(): Promise<ProcessEntry[]> {
    await this.#steps;
    const { find } = this.#target;
    try {
      const survivors = await endProcesses(find, this.#graceLeftMs, this.#endOptions);
      return survivors.filter(this.#target.shell.processes.isAlive);
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
    const { shell, isSettled } = this.#target;
    const deadline = performance.now() + UNDER_WAY_MS;
    while (!isSettled() && performance.now() < deadline) {
      if (!shell.holdsRequests) return;
      await sleep(1);
    }
  }

  /**
   * Signals the foreground processes of the command. Returns the processes that received the signal.
   * @param until deadline on the monotonic clock
   */
  signal(signal: SignalName, until = Infinity): Promise<ReportedProcess[]> {
    const { shell, command, isSettled } = this.#target;
    return signalForeground({
      shell,
      signal,
      mayInterruptShell: () => {
        const now = performance.now();
        if (now - this.#shellInterruptedAt < INTERRUPTS_APART_MS) return false;
        this.#shellInterruptedAt = now;
        return true;
      },
      onSend: (sent) => {
        command.noteSignal(sent);
      },
      isOver: () => isSettled() || performance.now() > until,
    });
  }

  /** Time left before processes are killed, in milliseconds. */
  get #graceLeftMs(): number {
    return Math.max(0, this.#killAt - performance.now());
  }

  #reportedWithin(ms: number): Promise<boolean> {
    return settledWithin(this.#target.reported, ms);
  }

  /** @param ms remaining time: the result must not wait for a shell that does not react */
  async #interrupt(ms: number): Promise<void> {
    if (!this.#target.isSettled()) await this.signal('SIGINT', performance.now() + ms);
  }

  async #escalate(): Promise<void> {
    const { shell, find, isSettled } = this.#target;
    await this.whenUnderWay();
    if (isSettled()) return;
    await this.#interrupt(this.#graceLeftMs);
    if (await this.#reportedWithin(Math.min(INTERRUPT_MS, this.#graceLeftMs))) return;
    signalProcesses(find(), 'SIGTERM', shell.processes);
    // A shell that handles the interrupt slowly, or was between two children, receives it again.
    await this.#interrupt(this.#graceLeftMs);
    if (await this.#reportedWithin(this.#graceLeftMs)) return;
    signalProcesses(find(), 'SIGKILL', shell.processes);
    await this.#interrupt(REPORT_AFTER_KILL_MS);
    if (await this.#reportedWithin(REPORT_AFTER_KILL_MS)) return;
    sendSignal(shell.pid, 'SIGKILL');
  }

  /** Ends the command without a grace period, its processes before the shell. */
  async #killAtOnce(): Promise<void> {
    const { shell, command, reported } = this.#target;
    const shellNumber = namespacePid(shell.pid, shell.root);
    // The command may have replaced its shell with `exec`, and end by the interrupt.
    void reported.then((how) => {
      if (how === 'exited') command.noteKilled([shellNumber]);
    });
    await this.#kill();
    if (await this.#reportedWithin(REPORT_AFTER_KILL_MS)) return;
    await this.#interrupt(RETRY_MS);
    if (await this.#reportedWithin(RETRY_MS)) return;
    await this.#kill();
    if (await this.#reportedWithin(REPORT_AFTER_KILL_MS)) return;
    sendSignal(shell.pid, 'SIGKILL');
  }

  /** Where processes cannot be listed at the moment: ends the shell, of which all others hang up. */
  readonly #endUnlisted = async (): Promise<void> => {
    if (!(await this.#reportedWithin(this.#graceLeftMs))) sendSignal(this.#target.shell.pid, 'SIGKILL');
  };

  #kill(): Promise<ProcessEntry[]> {
    return killProcesses(this.#target.find, this.#endOptions);
  }

  get #endOptions(): EndOptions {
    const { group, root, processes } = this.#target.shell;
    return { processes, group, root, onKill: this.#onKill };
  }

  readonly #onKill = (pids: readonly number[]): void => {
    this.#target.command.noteKilled(pids);
  };
}

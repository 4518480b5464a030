import { setImmediate as nextTurn } from 'node:timers/promises';

import { type TerminalReader, TICKS_PER_SECOND } from '../platform/platform.js';
import type { ShellProcess } from './shell-process.js';

/** Delay of the first sample of a running command, and the longest interval, in milliseconds. */
export const FIRST_SAMPLE_MS = 60;
const LONGEST_PAUSE_MS = 1000;
/** Consecutive samples that must find the shell at its prompt: it may only be passing through. */
const SAMPLES_BEFORE_RECALL = 2;
/**
 * CPU time that a shell which looks lost may use, in wedge timeouts. Saving the state takes some seconds at most; what takes
 * longer is a trap of the user's that never ends. One that mostly sleeps is left to the time-out of the command.
 */
const CPU_TIMEOUTS = 10;
/** How long the output must have rested on an unfinished line before a program that waits for others too seems to ask, in milliseconds. */
const ASKS_AFTER_MS = 300;
/** A program whose wait ends within this time does its work, and looks for keys besides, in milliseconds. */
const SOON_MS = 10_000;
/** Samples without output after which programs outside of the session are searched for a reader, for the first time. */
const SAMPLES_BEFORE_SEARCH = 4;
const REPLACED = 'the shell was replaced by a program that reads the terminal';
/** States of processes that run, wait for a CPU, or wait for a disk: proc(5). */
const WORKING_STATES = 'RD';

/** How certain it is that a command waits for input. */
export type InputCertainty = 'certain' | 'likely';

/** Notified by `WedgeDetector`. */
export interface WedgeListener {
  /**
   * A process of the command waits for terminal input. Called once for each wait.
   * @param certainty `likely` for one that waits for others too
   */
  onAwaitingInput(certainty: InputCertainty): void;
  /** Whether the last line of the command's output is unfinished, as that of a question is. */
  readonly isAtPrompt: () => boolean;
  /** Whether the terminal takes a line that is not shown, as for a password. */
  readonly takesSecret: () => Promise<boolean>;
  /** The shell will not recover. */
  onWedged(why: string): void;
}

/**
 * Samples a shell with a long-running command, at growing intervals.
 * A shell can lose its driver in ways that it does not report: a command has unset the prompt hook and unwound to the
 * prompt (the driver's request descriptor, closed during a command, is then open), or has replaced the shell by another
 * program that now waits for the terminal and nothing else (no driver descriptor is left), or has disabled execution (`set -n`
 * in some shells: the shell waits for requests while one is unanswered). Other programs in its place run until they end.
 * The request descriptor is open as well while the shell saves its state before the command, or ends it. Therefore only
 * time counts in which the shell does nothing, and is not waiting for a CPU.
 */
export class WedgeDetector {
  readonly #shell: ShellProcess;
  readonly #listener: WedgeListener;
  readonly #wedgeTimeoutMs: number;
  #pauseMs = FIRST_SAMPLE_MS;
  #samplesAtPrompt = 0;
  #lost: LostTime | undefined;
  #isAwaitingInput = false;
  #activityAt = performance.now();
  #quietSamples = 0;
  /** The last program that was found to read the terminal. */
  #readerPid: number | undefined;
  #isRecalled = false;
  #isStopped = false;

  constructor(shell: ShellProcess, wedgeTimeoutMs: number, listener: WedgeListener) {
    this.#shell = shell;
    this.#wedgeTimeoutMs = wedgeTimeoutMs;
    this.#listener = listener;
  }

  /**
   * Records input or output: a later wait counts as a new one.
   * @returns whether the next sample is due after the first pause again
   */
  noteActivity(): boolean {
    this.#isAwaitingInput = false;
    this.#activityAt = performance.now();
    this.#quietSamples = 0;
    this.#lost = undefined;
    const isSlow = this.#pauseMs > FIRST_SAMPLE_MS;
    this.#pauseMs = FIRST_SAMPLE_MS;
    return isSlow;
  }

  /** Nothing is told any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Takes a sample; returns the pause until the next one, in milliseconds. */
  sample(): number {
    const pausedMs = this.#pauseMs;
    this.#quietSamples += 1;
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
    const why = this.#findLoss();
    if (why === undefined) this.#lost = undefined;
    else if (this.#isTooLong(pausedMs)) void this.#tell(why);
    return this.#pauseMs;
  }

  /** Returns in which way the shell looks lost, if it does. */
  #findLoss(): string | undefined {
    const { pid, requests, processes, terminal, installed } = this.#shell;
    if (processes.fileBeingRead(pid) === requests.path) {
      this.#recall(() => {
        this.#shell.requests.askToReport();
      });
      return 'the shell came to rest without a report on the command';
    }
    if (!this.#shell.holdsRequests) return this.#checkCommand();
    if (processes.findTerminalReader(pid, terminal.slavePath)?.pid === pid)
      this.#recall(() => terminal.write(installed.shell.recall));
    return 'the shell has left the command without a report';
  }

  /** Recalls a shell that rests at its prompt, or before its next request: once, and not when it passes through. */
  #recall(recall: () => unknown): void {
    this.#samplesAtPrompt += 1;
    if (this.#samplesAtPrompt < SAMPLES_BEFORE_RECALL || this.#isRecalled) return;
    this.#isRecalled = true;
    recall();
  }

  #checkCommand(): string | undefined {
    this.#samplesAtPrompt = 0;
    const { pid, processes, terminal } = this.#shell;
    const reader = processes.findTerminalReader(pid, terminal.slavePath, this.#outsidePids);
    this.#readerPid = reader?.pid;
    if (!reader) this.#isAwaitingInput = false;
    else if (!this.#isAwaitingInput) this.#noteReader(reader);
    const isLost = reader?.pid === pid && reader.kind === 'only' && reader.timeoutMs >= SOON_MS;
    return isLost && !this.#shell.hasDriver ? REPLACED : undefined;
  }

  #noteReader({ kind }: TerminalReader): void {
    const { isAtPrompt, takesSecret } = this.#listener;
    if (kind === 'only') this.#tellOfWait('certain');
    else if (kind === 'hidden') {
      void takesSecret().then((isSecret) => {
        if (isSecret && !this.#isStopped && !this.#isAwaitingInput) this.#tellOfWait('certain');
      });
    } else if (performance.now() - this.#activityAt >= ASKS_AFTER_MS && isAtPrompt()) this.#tellOfWait('likely');
  }

  #tellOfWait(certainty: InputCertainty): void {
    this.#isAwaitingInput = true;
    this.#listener.onAwaitingInput(certainty);
  }

  /** The last reader, or sometimes all processes: looking at them takes some milliseconds for each hundred. */
  readonly #outsidePids = (): readonly number[] => {
    if (this.#readerPid !== undefined) return [this.#readerPid];
    const samples = this.#quietSamples;
    const isPowerOfTwo = (samples & (samples - 1)) === 0;
    return samples >= SAMPLES_BEFORE_SEARCH && isPowerOfTwo ? this.#shell.processes.pids() : [];
  };

  /**
   * Whether the shell has looked lost for too long.
   * @param pausedMs time since the last sample, as planned: what a daemon that got no CPU has missed does not count
   */
  #isTooLong(pausedMs: number): boolean {
    const { cpuMs, isWorking } = this.#activity();
    const before = this.#lost ?? { cpuMs, firstCpuMs: cpuMs, idleMs: -pausedMs };
    const hasWorked = isWorking || cpuMs !== before.cpuMs;
    this.#lost = { ...before, cpuMs, idleMs: hasWorked ? 0 : before.idleMs + pausedMs };
    const { idleMs, firstCpuMs } = this.#lost;
    return idleMs >= this.#wedgeTimeoutMs || cpuMs - firstCpuMs >= CPU_TIMEOUTS * this.#wedgeTimeoutMs;
  }

  /** CPU time so far of the shell and of its programs in the foreground, and whether one of them has something to do. */
  #activity(): { readonly cpuMs: number; readonly isWorking: boolean } {
    const { pid, processes } = this.#shell;
    const shell = processes.read(pid);
    if (!shell) return { cpuMs: 0, isWorking: false };
    const programs = processes.childrenOf(pid).filter(({ group }) => group === shell.foregroundGroup);
    const all = [shell, ...programs];
    return {
      cpuMs: all.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0) * (1000 / TICKS_PER_SECOND),
      isWorking: all.some(({ state }) => WORKING_STATES.includes(state)),
    };
  }

  /** Tells the listener, unless a report that is in the pipe already ends the command: it is read within two turns. */
  async #tell(why: string): Promise<void> {
    await nextTurn();
    await nextTurn();
    if (why === REPLACED && (await this.#isServer())) return;
    if (!this.#isStopped) this.#listener.onWedged(why);
  }

  /** Whether the program in place of the shell listens on a port, and may read its terminal for commands only. */
  async #isServer(): Promise<boolean> {
    const { pid, platform } = this.#shell;
    return (await platform.listening.portsOf([pid])).length > 0;
  }
}

/** What a shell that looks lost has done. */
interface LostTime {
  /** CPU time at the first of the samples, and at the last one. */
  readonly firstCpuMs: number;
  readonly cpuMs: number;
  /** Time since it has last done something. */
  readonly idleMs: number;
}

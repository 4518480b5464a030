import type { ShellProcess } from './shell-process.js';

/** Delay of the first sample of a running command, and the longest interval, in milliseconds. */
const FIRST_SAMPLE_MS = 60;
const LONGEST_PAUSE_MS = 1000;
/** Consecutive samples that must find the shell at its prompt: it may only be passing through. */
const SAMPLES_BEFORE_RECALL = 2;

/** Notified by `WedgeDetector`. */
export interface WedgeListener {
  /** A process of the command waits for terminal input. Called once for each wait. */
  onAwaitingInput(): void;
  /** The shell will not recover. */
  onWedged(why: string): void;
}

/**
 * Samples a shell with a long-running command at growing intervals.
 * A shell can lose its driver in ways that it does not report: a command has unset the prompt hook and unwound to the
 * prompt (the driver's request descriptor, closed during a command, is then open), or has replaced the shell by another
 * program that now reads the terminal (no driver descriptor is left), or has disabled execution (`set -n` in some
 * shells: the shell waits for requests while one is unanswered).
 */
export class WedgeDetector {
  readonly #shell: ShellProcess;
  readonly #listener: WedgeListener;
  readonly #wedgeTimeoutMs: number;
  #timer: NodeJS.Timeout;
  #pauseMs = FIRST_SAMPLE_MS;
  #samplesAtPrompt = 0;
  #lostSince: number | undefined;
  #isAwaitingInput = false;
  #isRecalled = false;

  constructor(shell: ShellProcess, wedgeTimeoutMs: number, listener: WedgeListener) {
    this.#shell = shell;
    this.#wedgeTimeoutMs = wedgeTimeoutMs;
    this.#listener = listener;
    this.#timer = setTimeout(this.#sample, this.#pauseMs);
  }

  /** Records input or output: a later wait counts as a new one. */
  noteActivity(): void {
    this.#isAwaitingInput = false;
    this.#lostSince = undefined;
    if (this.#pauseMs === FIRST_SAMPLE_MS) return;
    this.#pauseMs = FIRST_SAMPLE_MS;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#sample, this.#pauseMs);
  }

  /** Ends the sampling; harmless when repeated. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  readonly #sample = (): void => {
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
    this.#timer = setTimeout(this.#sample, this.#pauseMs);
    const { pid, requestPath, processes } = this.#shell;
    if (processes.fileBeingRead(pid) === requestPath)
      this.#lose('the shell came to rest without a report on the command');
    else if (this.#shell.holdsRequests) this.#checkPrompt();
    else this.#checkCommand();
  };

  #checkPrompt(): void {
    this.#samplesAtPrompt += 1;
    const { pid, terminal, installed, processes } = this.#shell;
    const isPatient = this.#samplesAtPrompt >= SAMPLES_BEFORE_RECALL && !this.#isRecalled;
    if (isPatient && processes.isReadingTerminal(pid)) {
      this.#isRecalled = true;
      terminal.write(installed.shell.recall);
    }
    this.#lose('the shell has left the command without a report');
  }

  #checkCommand(): void {
    this.#samplesAtPrompt = 0;
    const reader = findTerminalReader(this.#shell);
    if (reader === undefined) {
      this.#isAwaitingInput = false;
      this.#lostSince = undefined;
      return;
    }
    if (reader === this.#shell.pid && !this.#shell.hasDriver) {
      this.#lose('the shell was replaced by a program that reads the terminal');
    } else if (!this.#isAwaitingInput) {
      this.#isAwaitingInput = true;
      this.#listener.onAwaitingInput();
    }
  }

  #lose(why: string): void {
    this.#lostSince ??= performance.now();
    if (performance.now() - this.#lostSince >= this.#wedgeTimeoutMs) this.#listener.onWedged(why);
  }
}

/** Finds a foreground process of the shell's terminal that is blocked in a read from it. */
export function findTerminalReader({
  pid: shellPid,
  processes,
}: Pick<ShellProcess, 'pid' | 'processes'>): number | undefined {
  const { read, childPidsOf, isReadingTerminal } = processes;
  const shell = read(shellPid);
  if (!shell) return undefined;
  const isInForeground = (pid: number) => read(pid)?.group === shell.foregroundGroup;
  const pending = [shellPid];
  for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
    if (isInForeground(pid) && isReadingTerminal(pid)) return pid;
    pending.push(...childPidsOf(pid));
  }
  return undefined;
}

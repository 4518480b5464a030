import { setTimeout as sleep } from 'node:timers/promises';

import { AdapterError } from '../../core/errors.js';
import type { Limits } from '../../core/limits/limits.js';
import type { Log } from '../../core/logging/log.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import type { ProcessEntry } from '../platform/contract/process-entry.js';
import { type ReportedProcess, reportProcesses } from '../process/reported-process.js';
import { InternalRequests } from './internal-requests.js';
import { endShell, letExit } from './shell-end.js';
import type { ShellPool } from './shell-pool.js';
import type { ShellListener, ShellProcess } from './shell-process.js';
import type { ShellReport } from './shell-reports.js';
import type { ShellRequest } from './shell-request.js';
import * as states from './state/shell-state.js';
import { StateSaver } from './state/state-saver.js';
import type { InstalledShell } from '../shells/list.js';
import { isDirectory } from '../system/is-directory.js';

/** A shortage of processes or descriptors may be over a moment later. */
const START_ATTEMPTS = 3;
const START_PAUSE_MS = 250;

/** Size of a terminal, in characters. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** Directory and variables of a shell. */
export interface ShellSetting {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Dependencies of `SessionShell`. */
export interface SessionShellOptions {
  readonly installed: InstalledShell;
  readonly sandbox: SandboxProfile;
  readonly cols: number;
  readonly rows: number;
  readonly pool: ShellPool;
  readonly killGraceMs: number;
  /** Limits that the kernel enforces for each shell of the session. */
  readonly limits: Limits;
  readonly log: Log;
}

/**
 * The replaceable shell of a session. The shell can be replaced by a new one, in a fresh state or with the state of the
 * old one; the listener receives the reports of the current shell.
 */
export class SessionShell {
  /** Saves the state of the shell, and reads it. */
  readonly state: StateSaver;
  readonly #options: SessionShellOptions;
  readonly #listener: ShellListener;
  #shell: ShellProcess;
  #size: TerminalSize;
  readonly #internal = new InternalRequests();
  #isBusy = false;
  #commands = 0;
  /** Processes that the exit of the last shell may have hidden. */
  #hiddenByExit: readonly ProcessEntry[] = [];
  #workingDirectory: string;

  private constructor(options: SessionShellOptions, listener: ShellListener, shell: ShellProcess) {
    this.#options = options;
    this.#listener = listener;
    this.#shell = shell;
    this.#workingDirectory = options.pool.cwd;
    this.#size = { cols: options.cols, rows: options.rows };
    this.state = new StateSaver(this);
    this.#adopt(shell);
  }

  /**
   * Takes a first shell from the pool and sets it up.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED, BAD_DIRECTORY
   */
  static async open(
    options: SessionShellOptions,
    setting: ShellSetting,
    listener: ShellListener,
  ): Promise<SessionShell> {
    const shell = await options.pool.take(options.installed, options.sandbox, options.limits);
    const created = new SessionShell(options, listener, shell);
    try {
      await created.#setUp(setting, false);
      return created;
    } catch (error) {
      await created.close(0);
      throw error;
    }
  }

  /** The current shell. */
  get shell(): ShellProcess {
    return this.#shell;
  }

  /** Whether a command or an internal request is under way. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Directory of the shell after its last command. */
  get workingDirectory(): string {
    return this.#workingDirectory;
  }

  /**
   * Records the end of a command: the directory, where the report has one, and that the state must be saved. A
   * long-running program may have left the terminal's modes in disorder.
   */
  noteReport(report: ShellReport, isLongRunning: boolean): void {
    this.#isBusy = false;
    this.state.noteEnd(isLongRunning);
    if (report.workingDirectory !== '') this.#workingDirectory = report.workingDirectory;
  }

  /** Size of the terminal, in characters. */
  get size(): TerminalSize {
    return this.#size;
  }

  /** Number of commands that were sent to shells of the session so far. */
  get commandCount(): number {
    return this.#commands;
  }

  /** Returns the number of the next command, which is part of the tag of the command's processes. */
  nextNumber(): number {
    this.#commands += 1;
    return this.#commands;
  }

  /** Sends a request to the shell; returns the nonce with which the shell reports its end. */
  send(request: ShellRequest): string {
    const nonce = this.#shell.send(request);
    this.#isBusy = true;
    return nonce;
  }

  /** Sets the terminal's size, also for later shells of the session. */
  resize(cols: number, rows: number): void {
    this.#size = { cols, rows };
    this.#shell.terminal.resize(cols, rows);
  }

  /** Replaces the shell by a fresh one, and ends the processes of the old one. */
  async reset(setting: ShellSetting): Promise<void> {
    await this.#replace(() => this.#setUp(setting, true));
  }

  /** Replaces the shell by a new one with the old one's directory, variables, functions, aliases, options, umask and traps. */
  async restore(fallback: ShellSetting): Promise<void> {
    await this.#replace((old) => this.#restoreState(old, fallback));
  }

  /** Asks the shell to exit, so that its EXIT trap runs, and waits for that. */
  async letExit(): Promise<void> {
    this.#hiddenByExit = await letExit(this.#shell);
  }

  /**
   * Ends the shell and everything that it has started; returns the processes that could not be ended. Not usable
   * afterwards.
   * @param graceMs time between SIGTERM and SIGKILL
   */
  close(graceMs: number): Promise<ReportedProcess[]> {
    this.state[Symbol.dispose]();
    return this.#end(this.#shell, graceMs);
  }

  async #end(shell: ShellProcess, graceMs = this.#options.killGraceMs): Promise<ReportedProcess[]> {
    try {
      const survivors = await endShell(shell, { graceMs, known: this.#hiddenByExit }, this.#options.log);
      return reportProcesses(survivors.filter(shell.processes.isAlive), shell.processes, shell.root);
    } finally {
      this.#options.pool.discard(shell);
    }
  }

  #adopt(shell: ShellProcess): void {
    this.#shell = shell;
    this.#isBusy = false;
    this.state.noteReplaced();
    shell.terminal.resize(this.#size.cols, this.#size.rows);
    shell.group.setLimits(this.#options.limits);
    shell.listener = {
      ...this.#listener,
      onReport: (report) => {
        if (!this.#internal.takeReport(report)) this.#listener.onReport(report);
      },
      onExit: (exit) => {
        if (shell !== this.#shell) return;
        this.#internal.end();
        this.#listener.onExit(exit);
      },
    };
  }

  async #replace(setUp: (old: ShellProcess) => Promise<void>, graceMs?: number): Promise<void> {
    const old = this.#shell;
    try {
      this.#adopt(await this.#take());
      await setUp(old);
    } finally {
      await this.#end(old, graceMs);
    }
  }

  async #take(): Promise<ShellProcess> {
    const { pool, installed, sandbox, limits, log } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await pool.take(installed, sandbox, limits);
      } catch (error) {
        if (attempt === START_ATTEMPTS) throw error;
        log.warn('a shell could not be started; trying again', { error: String(error) });
        await sleep(START_PAUSE_MS);
      }
    }
  }

  async #restoreState(old: ShellProcess, fallback: ShellSetting): Promise<void> {
    const { pool, log } = this.#options;
    const cwd = (await this.#firstEnterable([this.#workingDirectory, fallback.cwd])) ?? pool.cwd;
    for (const parts of states.partsToTry(old.directory)) {
      try {
        await this.#loadState(parts, cwd);
        return;
      } catch (error) {
        log.warn('the saved state of a shell is of no use', { error: String(error) });
        await this.#replace(() => Promise.resolve(), 0);
      }
    }
    await this.#setUp({ cwd, env: fallback.env }, true);
  }

  /** The first directory that can be entered; the shell of another user tries it, since the daemon has other rights. */
  async #firstEnterable(directories: readonly string[]): Promise<string | undefined> {
    if (!this.#shell.owner) return directories.find((path) => isDirectory(this.#shell.see(path)));
    const { shell } = this.#options.installed;
    const report = await this.#run(directories.map((path) => `cd -- ${shell.quote(path)} 2>/dev/null`).join(' || '));
    return report?.exitCode === 0 ? report.workingDirectory : undefined;
  }

  async #loadState(parts: states.StateParts, cwd: string): Promise<void> {
    const report = await this.#run(states.copyParts(parts, this.#shell, this.#options.installed.shell));
    if (!report) throw new AdapterError('SHELL_FAILED', 'the shell ended while it took its state');
    await this.#setUp({ cwd, env: {} }, true);
  }

  async #setUp({ cwd, env }: ShellSetting, mustChange: boolean): Promise<void> {
    const isElsewhere = mustChange || cwd !== this.#options.pool.cwd;
    const text = this.#options.installed.shell.setUp({ env, ...(isElsewhere && { cwd }) });
    this.#workingDirectory = cwd;
    if (text === '') return;
    const report = await this.#run(text);
    if (!report) throw new AdapterError('SHELL_FAILED', `${this.#options.installed.path} ended while it was set up`);
    if (report.exitCode !== 0) throw new AdapterError('BAD_DIRECTORY', `the shell could not enter ${cwd}`);
    this.noteReport(report, false);
  }

  /** Runs an internal request; returns undefined when the shell has ended or not answered in time. */
  #run(text: string): Promise<ShellReport | undefined> {
    return this.#internal.run(this.#shell, (slot) =>
      this.send({ slot, text, number: this.nextNumber(), isOnTerminal: false }),
    );
  }
}

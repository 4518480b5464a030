import { copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { AdapterError } from '../../core/errors.js';
import type { Limits } from '../../core/limits/limits.js';
import type { Log } from '../../core/logging/log.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import { Deferred } from '../system/deferred.js';
import { isAlive } from '../process/process-table.js';
import { type ReportedProcess, reportProcesses } from '../process/process-tree.js';
import { endShell, letExit } from './shell-end.js';
import type { ShellPool } from './shell-pool.js';
import type { ShellListener, ShellProcess } from './shell-process.js';
import type { ShellReport } from './shell-reports.js';
import { newestState, newState, stampsOfStates, stateBeyond } from './shell-state.js';
import type { InstalledShell } from '../shells/list.js';
import { quote } from '../shells/shell.js';

/** Longest wait for text of the adapter's own: a saved state with a megabyte of variables takes some. */
const INTERNAL_TIMEOUT_MS = 5000;
/** Pause after which the shell's state is saved: long enough that commands in a row don't pay for it. */
const SAVE_AFTER_MS = 40;
/** A machine short of processes or descriptors may have some again a moment later. */
const START_ATTEMPTS = 3;
const START_PAUSE_MS = 250;

/** Size of a terminal, in characters. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** Directory and variables that a shell is given. */
export interface ShellSetting {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What a seat is made of. */
export interface SessionShellOptions {
  readonly installed: InstalledShell;
  readonly sandbox: SandboxProfile;
  readonly cols: number;
  readonly rows: number;
  readonly pool: ShellPool;
  readonly killGraceMs: number;
  /** What the kernel is to keep for each shell that sits here. */
  readonly limits: Limits;
  readonly log: Log;
}

/**
 * The place of a session's shell. The shell in it can be replaced by a new one, set up afresh or with what the old one
 * had; whoever listens sees the reports of the shell that sits there now.
 */
export class SessionShell {
  readonly #options: SessionShellOptions;
  readonly #listener: ShellListener;
  #shell: ShellProcess;
  #size: TerminalSize;
  #internal: { readonly nonce: string; readonly done: Deferred<ShellReport | undefined> } | undefined;
  readonly #saveTimer: NodeJS.Timeout;
  #mustTidy = false;
  /** Something has run since the shell was asked to save its state. */
  #isUnsaved = true;
  /** Stamps of the states that were there when it was asked. */
  #statesBefore: readonly string[] = [];
  #commands = 0;
  #workingDirectory: string;

  private constructor(options: SessionShellOptions, listener: ShellListener, shell: ShellProcess) {
    this.#options = options;
    this.#listener = listener;
    this.#shell = shell;
    this.#workingDirectory = options.pool.cwd;
    this.#size = { cols: options.cols, rows: options.rows };
    this.#saveTimer = setTimeout(() => {
      this.saveNow();
    }, SAVE_AFTER_MS).unref();
    this.#adopt(shell);
  }

  /**
   * Seats a first shell.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED, BAD_DIRECTORY
   */
  static async open(
    options: SessionShellOptions,
    setting: ShellSetting,
    listener: ShellListener,
  ): Promise<SessionShell> {
    const shell = await options.pool.take(options.installed, options.sandbox, options.limits);
    const seat = new SessionShell(options, listener, shell);
    try {
      await seat.#setUp(setting, false);
      return seat;
    } catch (error) {
      await seat.close(0);
      throw error;
    }
  }

  /** The shell that sits there now. */
  get shell(): ShellProcess {
    return this.#shell;
  }

  /** Directory of the shell after its last command. */
  get workingDirectory(): string {
    return this.#workingDirectory;
  }

  /**
   * Takes note of a command's end: of the directory, where the report has one, and of what is to be saved. A program
   * that took its time may have left the terminal's modes in disorder.
   */
  noteReport(report: ShellReport, hasLingered: boolean): void {
    this.#mustTidy ||= hasLingered;
    this.#isUnsaved = true;
    this.#saveTimer.refresh();
    if (report.workingDirectory !== '') this.#workingDirectory = report.workingDirectory;
  }

  get size(): TerminalSize {
    return this.#size;
  }

  /** Numbers the commands; part of their processes' tag. */
  nextNumber(): number {
    this.#commands += 1;
    return this.#commands;
  }

  /** Has the shell's state saved before anything else runs in it. */
  saveNow(): void {
    if (!this.#isUnsaved) return;
    this.#isUnsaved = false;
    this.#statesBefore = stampsOfStates(this.#shell.directory);
    this.#shell.askToSave(this.#mustTidy);
    this.#mustTidy = false;
  }

  /**
   * The shell's state as it is now: exported variables, functions and aliases, as the shell prints them. For a shell that
   * waits for a command; undefined when it does not tell in time.
   */
  async readState(): Promise<string | undefined> {
    const shell = this.#shell;
    const known = stampsOfStates(shell.directory);
    // A save that is under way will do too: nothing has run since it was asked for.
    if (this.#isUnsaved) this.saveNow();
    else shell.askToSave(false);
    return newState(shell.directory, known, () => shell !== this.#shell || shell.terminal.hasExited);
  }

  /** The state as it was saved after the last command; undefined until that is done. */
  get savedState(): string | undefined {
    return this.#isUnsaved ? undefined : stateBeyond(this.#shell.directory, this.#statesBefore);
  }

  /** Sets the terminal's size, for the shells that follow too. */
  resize(cols: number, rows: number): void {
    this.#size = { cols, rows };
    this.#shell.terminal.resize(cols, rows);
  }

  /** Puts a fresh shell in the place of the old one, whose processes are ended. */
  async reset(setting: ShellSetting): Promise<void> {
    await this.#replace(() => this.#setUp(setting, true));
  }

  /** Puts a new shell with the old one's directory, exported variables, functions and aliases in its place. */
  async restore(fallback: ShellSetting): Promise<void> {
    await this.#replace((old) => this.#bringBack(old, fallback));
  }

  /** Asks the shell to end by itself, so that its EXIT trap runs, and waits for that. */
  async letExit(): Promise<void> {
    await letExit(this.#shell);
  }

  /**
   * Ends the shell and everything that it has started; gives what could not be ended. The seat is of no more use.
   * @param graceMs time between SIGTERM and SIGKILL
   */
  close(graceMs: number): Promise<ReportedProcess[]> {
    clearTimeout(this.#saveTimer);
    return this.#end(this.#shell, graceMs);
  }

  async #end(shell: ShellProcess, graceMs = this.#options.killGraceMs): Promise<ReportedProcess[]> {
    const survivors = await endShell(shell, graceMs, this.#options.log);
    this.#options.pool.discard(shell);
    return reportProcesses(survivors.filter(isAlive), shell.root);
  }

  #adopt(shell: ShellProcess): void {
    this.#shell = shell;
    this.#isUnsaved = true;
    shell.terminal.resize(this.#size.cols, this.#size.rows);
    shell.group.setLimits(this.#options.limits);
    shell.listener = {
      onReport: (report) => {
        if (this.#internal?.nonce === report.nonce) this.#endInternal(report);
        else this.#listener.onReport(report);
      },
      onTerminalData: (chunk) => {
        this.#listener.onTerminalData(chunk);
      },
      onExit: (exit) => {
        if (shell !== this.#shell) return;
        this.#endInternal(undefined);
        this.#listener.onExit(exit);
      },
    };
  }

  async #replace(setUp: (old: ShellProcess) => Promise<void>): Promise<void> {
    const old = this.#shell;
    try {
      this.#adopt(await this.#take());
      await setUp(old);
    } finally {
      await this.#end(old);
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

  async #bringBack(old: ShellProcess, fallback: ShellSetting): Promise<void> {
    const { pool, log } = this.#options;
    const cwd = [this.#workingDirectory, fallback.cwd].find((path) => isDirectory(this.#shell.see(path))) ?? pool.cwd;
    const stateFile = newestState(old.directory);
    if (stateFile === undefined) {
      await this.#setUp({ cwd, env: fallback.env }, true);
      return;
    }
    try {
      await this.#takeState(stateFile, cwd);
    } catch (error) {
      // The saved state breaks any shell that takes it: a fresh one it is, then.
      log.warn('the saved state of a shell is of no use', { error: String(error) });
      const broken = this.#shell;
      this.#adopt(await this.#take());
      await this.#end(broken, 0);
      await this.#setUp({ cwd, env: fallback.env }, true);
    }
  }

  async #takeState(stateFile: string, cwd: string): Promise<void> {
    // In a sandbox a shell sees no directory but its own.
    const copy = join(this.#shell.directory, 'state.old');
    copyFileSync(stateFile, copy);
    const report = await this.#run(this.#options.installed.shell.restore(copy));
    if (!report) throw new AdapterError('SHELL_FAILED', 'the shell ended while it took its state');
    await this.#setUp({ cwd, env: {} }, true);
  }

  async #setUp({ cwd, env }: ShellSetting, mustChange: boolean): Promise<void> {
    const lines = Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`);
    if (mustChange || cwd !== this.#options.pool.cwd) lines.push(`cd -- ${quote(cwd)} && unset OLDPWD`);
    this.#workingDirectory = cwd;
    if (lines.length === 0) return;
    const report = await this.#run(lines.join('\n'));
    if (!report) throw new AdapterError('SHELL_FAILED', `${this.#options.installed.path} ended while it was set up`);
    if (report.exitCode !== 0) throw new AdapterError('BAD_DIRECTORY', `the shell could not enter ${cwd}`);
    this.noteReport(report, false);
  }

  /** Runs text of the adapter's own; undefined when the shell ended or did not come back. */
  async #run(text: string): Promise<ShellReport | undefined> {
    const shell = this.#shell;
    const slot = await shell.takeSlot();
    const done = new Deferred<ShellReport | undefined>();
    const nonce = shell.send({ slot, text, number: this.nextNumber(), isOnTerminal: false });
    this.#internal = { nonce, done };
    const timer = setTimeout(() => {
      this.#endInternal(undefined);
    }, INTERNAL_TIMEOUT_MS);
    const report = await done.promise;
    clearTimeout(timer);
    const ignore = () => undefined;
    if (report && slot.out.drain(ignore) === 'free' && slot.err.drain(ignore) === 'free') shell.returnSlot(slot);
    return report;
  }

  #endInternal(report: ShellReport | undefined): void {
    this.#internal?.done.resolve(report);
    this.#internal = undefined;
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // It has been removed.
    return false;
  }
}

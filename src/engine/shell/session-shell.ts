import { setTimeout as sleep } from 'node:timers/promises';

import { AdapterError } from '../../core/errors.js';
import type { Limits } from '../../core/limits.js';
import type { Log } from '../../core/log.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import type { CommandEnd, Warning } from '../command/outcome.js';
import { isListedByProgram, type ProcessEntry } from '../platform/platform.js';
import { type ReportedProcess, reportProcesses } from '../process/background-processes.js';
import { endProcesses, waitForEnd } from '../process/end-processes.js';
import { ENDING_MS } from '../process/ladder.js';
import { findSessionProcesses, hasNoProcesses, isSandboxed } from '../process/find-processes.js';
import { askPatiently, type KnownMembers } from '../process/process-snapshot.js';
import type { InstalledShell } from '../shells/list.js';
import { Deferred } from '../system/promises.js';
import { isDirectory } from '../system/local-files.js';
import { pidExists, sendSignal } from '../system/signals.js';
import type { CommandPipes } from './pipe-pool.js';
import type { ShellPool } from './shell-pool.js';
import type { ShellListener, ShellProcess, ShellReport, ShellRequest } from './shell-process.js';
import * as states from './shell-state.js';
import { StateSaver } from './shell-state.js';
import type { TerminalExit } from './terminal.js';

/**
 * Longest wait for an internal request, in milliseconds: a saved state with a megabyte of variables takes some time.
 */
const TIMEOUT_MS = 5000;

/** Requests of a session itself, such as the set-up of its shell; one at a time. */
class InternalRequests {
  #pending: { readonly nonce: string; readonly done: Deferred<ShellReport | undefined> } | undefined;

  /**
   * Runs a request; returns undefined when the shell has ended or not answered in time.
   * @param send sends it, and returns the nonce of its report
   */
  async run(shell: ShellProcess, send: (slot: CommandPipes) => string): Promise<ShellReport | undefined> {
    const slot = await shell.takeSlot();
    // Nothing reports an exit that was delivered before.
    if (shell.terminal.hasExited) return undefined;
    const done = new Deferred<ShellReport | undefined>();
    try {
      this.#pending = { nonce: send(slot), done };
    } catch (error) {
      // EMFILE, or no space for the text: the shell has got nothing.
      shell.returnSlot(slot);
      throw error;
    }
    const timer = setTimeout(this.end, TIMEOUT_MS);
    const report = await done.promise;
    clearTimeout(timer);
    const ignore = () => undefined;
    if (report && slot.out.drain(ignore) === 'free' && slot.err.drain(ignore) === 'free') shell.returnSlot(slot);
    return report;
  }

  get isPending(): boolean {
    return this.#pending !== undefined;
  }

  /** Takes a report if it is about the request; returns whether it is. */
  takeReport(report: ShellReport): boolean {
    if (this.#pending?.nonce !== report.nonce) return false;
    this.#pending.done.resolve(report);
    this.#pending = undefined;
    return true;
  }

  /** Gives up the request: the shell has ended, or does not answer. */
  readonly end = (): void => {
    this.#pending?.done.resolve(undefined);
    this.#pending = undefined;
  };
}

/** Time for which a shell that waits counts as alone once it was, in milliseconds. */
const ALONE_MS = 1000;
/** Longest polling interval, in milliseconds. */
const MAX_PAUSE_MS = 20;

/** Asks a shell to exit, so that its EXIT trap runs, and waits for that. Returns processes that the exit would hide. */
async function letExit(shell: ShellProcess): Promise<readonly ProcessEntry[]> {
  const { processes, terminal, pid } = shell;
  if (terminal.hasExited) return [];
  const { entry, hidden } = await lookBeforeExit(shell);
  if (!entry) return [];
  shell.requests.askToExit();
  const isThere = () => (isListedByProgram(processes) ? pidExists(pid) : processes.isAlive(entry));
  const deadline = performance.now() + ENDING_MS.exitTrap;
  for (let pause = 1; isThere() && performance.now() < deadline; pause = Math.min(MAX_PAUSE_MS, pause * 2)) {
    await sleep(pause);
  }
  return hidden;
}

/** A shell before its exit, unless it has ended. */
interface BeforeExit {
  readonly entry: ProcessEntry | undefined;
  /**
   * What would not be found after the exit: without marks, a process with an emptied environment is known by its terminal
   * alone, which the kernel takes from it then.
   */
  readonly hidden: readonly ProcessEntry[];
}

async function lookBeforeExit(shell: ShellProcess): Promise<BeforeExit> {
  const { platform, processes, pid } = shell;
  const look = () => ({ entry: processes.read(pid), hidden: platform.can.marks ? [] : findSessionProcesses(shell) });
  // A shell that waits starts nothing: what was alone with it then is so still. Not for long: it may have traps.
  const before = await processes.ask(look, Math.max(shell.idleSince, performance.now() - ALONE_MS));
  return before.entry && before.hidden.length === 0 ? before : processes.ask(look);
}

/** The processes that are known to belong to a shell, with further ones. */
const membersWith = ({ group, processes }: ShellProcess, others: readonly ProcessEntry[]): KnownMembers => ({
  isKeptByKernel: group.isKeptByKernel,
  members: () => [...group.members(), ...others.filter(processes.isAlive).map(({ pid }) => pid)],
  holdForks: (isHeld) => {
    group.holdForks(isHeld);
  },
});

/** How a shell is ended. */
interface ShellEnd {
  /** Time between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** Processes that belong to it, though nothing may show that any more. */
  readonly known: readonly ProcessEntry[];
}

/** Ends a shell and everything that it has started. Returns the processes that were still running at the end. */
async function endShell(shell: ShellProcess, { graceMs, known }: ShellEnd, log: Log): Promise<ProcessEntry[]> {
  const { processes, tag, root } = shell;
  const { sessionLeader, rootPids } = shell.root;
  // A sandbox outlives its leader for a moment.
  const mayRun = !shell.terminal.hasExited || isSandboxed(shell.root);
  const ownEntries = mayRun ? rootPids.flatMap((pid) => processes.read(pid) ?? []) : [];
  const group = known.length === 0 ? shell.group : membersWith(shell, known);
  const scope = { tag, root, group, processes };
  const find = () => findSessionProcesses(scope);
  let survivors: ProcessEntry[];
  try {
    // Most shells have nothing left: when many are ended at once, they are searched for together.
    survivors = (await hasNoProcesses(scope)) ? [] : await endProcesses(find, graceMs, { processes, group });
  } catch (error) {
    // EMFILE: processes cannot be listed. Closing the shell's own descriptors frees enough of them.
    log.warn('a session is ended at once', { error: String(error) });
    sendSignal(sessionLeader, 'SIGKILL');
    shell.close();
    survivors = await askPatiently(() => endProcesses(find, 0, { processes, group }));
  }
  const leaderEntry = ownEntries.find(({ pid }) => pid === sessionLeader);
  if (leaderEntry && processes.isAlive(leaderEntry)) sendSignal(sessionLeader, 'SIGKILL');
  // A sandbox ends shortly after its leader.
  if (isSandboxed(shell.root)) await waitForEnd(ownEntries, ENDING_MS.sandbox, processes);
  return survivors;
}

/** A shortage of processes or descriptors may be over a moment later. */
const START_ATTEMPTS = 3;
const START_PAUSE_MS = 250;

/** Size of a terminal, in characters. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** Receives the events of the current shell of a session. */
export interface SessionShellListener extends ShellListener {
  /** The shell is set up: it waits for a command, or for what else its replacement takes. */
  onSetUp(): void;
}

/** Directory and variables of a shell. */
interface ShellSetting {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Dependencies of `SessionShell`. */
interface SessionShellOptions {
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
  readonly #listener: SessionShellListener;
  #shell: ShellProcess;
  #size: TerminalSize;
  readonly #internal = new InternalRequests();
  #commands = 0;
  /** Processes that the exit of the last shell may have hidden. */
  #hiddenByExit: readonly ProcessEntry[] = [];
  #workingDirectory: string;

  private constructor(options: SessionShellOptions, listener: SessionShellListener, shell: ShellProcess) {
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
    listener: SessionShellListener,
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

  /** Whether a request of the session itself is under way. */
  get hasRequest(): boolean {
    return this.#internal.isPending;
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
    return this.#shell.send(request);
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
    this.#listener.onSetUp();
  }

  /** Runs an internal request; returns undefined when the shell has ended or not answered in time. */
  #run(text: string): Promise<ShellReport | undefined> {
    return this.#internal.run(this.#shell, (slot) =>
      this.send({ slot, text, number: this.nextNumber(), isOnTerminal: false }),
    );
  }
}

const KEPT =
  'in the last directory, with the variables, functions, aliases, options, umask and traps of the last completed command';

/**
 * Returns, and logs, what a session has lost with its shell.
 * @param wedge why the shell was killed, if it was wedged
 */
export function describeLoss(shell: ShellProcess, exit: TerminalExit, wedge: string | undefined, log: Log): Warning[] {
  const how = exit.signal > 0 ? `was ended by signal ${exit.signal}` : `ended with code ${exit.exitCode}`;
  const why = wedge ?? `The shell ${how}`;
  log.info('a shell has ended and is replaced', { why, pid: shell.pid });
  const { notRestored } = shell.installed.shell;
  const message = `${why}. A new shell has been started ${KEPT}, except for \`set -e\`, ${notRestored}.`;
  const warnings: Warning[] = [{ code: wedge === undefined ? 'SHELL_ENDED' : 'SHELL_WEDGED', message }];
  if (hasLeftSome(shell)) {
    warnings.push({ code: 'BACKGROUND_ENDED', message: 'Its background processes are ended.' });
  }
  return warnings;
}

function hasLeftSome(shell: ShellProcess): boolean {
  try {
    return findSessionProcesses({ ...scopeOf(shell), root: undefined }).some(({ pid }) => !isRoot(shell, pid));
  } catch {
    // They cannot be listed at the moment. They are ended all the same, once that is possible.
    return false;
  }
}

const scopeOf = ({ tag, group, processes }: ShellProcess) => ({ tag, group, processes });

/** Whether it is of the shell itself: the kernel ends a sandbox a moment after the process that was killed. */
const isRoot = ({ root }: ShellProcess, pid: number): boolean => root.rootPids.includes(pid);

/** Whether a warning reports that the shell was replaced. */
export const tellsLoss = ({ code }: Warning): boolean => code === 'SHELL_ENDED' || code === 'SHELL_WEDGED';

/** Exit code of a command that could not be started, as in shells. */
const NOT_STARTED = 126;

/** Returns, and logs, the end of a command that could not be started. */
export function notStarted(error: unknown, log: Log): Pick<CommandEnd, 'exitCode' | 'warnings'> {
  const { message } = error as Error;
  log.warn('a command could not be started', { error: message });
  return { exitCode: NOT_STARTED, warnings: [{ code: 'NOT_STARTED', message: `The command was not run: ${message}` }] };
}

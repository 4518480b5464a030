import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import { hasLimits, type Limits } from '../../core/limits/limits.js';
import type { Log } from '../../core/logging/log.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import type { SandboxStatus } from '../../core/sandbox/status.js';
import { makeFifos } from '../system/fifo.js';
import type { LimitMechanism } from '../limits/mechanism.js';
import { whereabouts } from '../process/process-table.js';
import { endProcesses, findSessionProcesses } from '../process/process-tree.js';
import { randomBytes } from '../system/random.js';
import { settledWithin } from '../system/within.js';
import type { RuntimeDirectory } from '../instance/runtime-directory.js';
import type { Launcher } from '../sandbox/launcher.js';
import { shellFifos, ShellProcess, type ShellProcessOptions } from './shell-process.js';
import type { InstalledShell } from '../shells/list.js';

/** Number of directories whose FIFOs are created by one process. */
const DIRECTORIES_AT_ONCE = 4;
/** Start timeouts of consecutive attempts, in milliseconds: a loaded machine needs seconds. */
const START_TIMEOUTS_MS = [5_000, 15_000] as const;
/**
 * Delay before the pool is refilled, in milliseconds: a session that has just received a shell has a command for it,
 * and starting the next shell blocks the daemon for a moment.
 */
const REFILL_AFTER_MS = 5;
/** Terminal size of sessions that request none, in characters. */
const DEFAULT_COLS = 200;
const DEFAULT_ROWS = 50;

/** Properties that a shell from the pool must share with the requested one. */
type ShellKind = Pick<ShellProcessOptions, 'installed' | 'profile' | 'isLimited'>;

/** Dependencies of `ShellPool`. */
export interface ShellPoolOptions {
  readonly runtime: RuntimeDirectory;
  /** The shell that is started ahead of need. */
  readonly defaultShell: InstalledShell;
  /** Creates the process group of each shell. */
  readonly mechanism: LimitMechanism;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whether the current configuration limits the resources of every session. */
  readonly isLimited: () => boolean;
  /** Number of shells to keep ready. */
  readonly size: number;
  readonly launcher: Launcher;
  readonly log: Log;
}

/** Starts shells, some of them ahead of need: a session then opens without waiting for one. */
export class ShellPool implements AsyncDisposable {
  readonly #options: ShellPoolOptions;
  readonly #warm: ShellProcess[] = [];
  readonly #directories: string[] = [];
  #makingDirectories: Promise<void> | undefined;
  #refilling: Promise<void> | undefined;
  #checking: Promise<void> | undefined;
  #refillTimer: NodeJS.Timeout | undefined;
  /** Shells that are not ready yet. */
  readonly #starting = new Set<ShellProcess>();
  /** Whether the last start of the default shell succeeded. */
  #hasStarted = false;
  #isClosed = false;

  constructor(options: ShellPoolOptions) {
    this.#options = options;
  }

  /** Default environment of a shell. */
  get env(): Readonly<Record<string, string>> {
    return this.#options.env;
  }

  /** Directory in which shells start. */
  get cwd(): string {
    return this.#options.cwd;
  }

  /** State of the sandbox for these shells. */
  get sandbox(): SandboxStatus {
    return this.#options.launcher.standing;
  }

  get defaultShell(): InstalledShell {
    return this.#options.defaultShell;
  }

  /**
   * Returns a shell that waits for its first command; a prestarted one if it is of the kind that is kept ready.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED
   */
  async take(installed: InstalledShell, profile: SandboxProfile, limits: Limits): Promise<ShellProcess> {
    const kind = { installed, profile, isLimited: hasLimits(limits) || this.#options.isLimited() };
    if (this.#isKeptReady(kind)) {
      for (let shell = this.#warm.shift(); shell; shell = this.#warm.shift()) {
        this.#refillSoon();
        // Limits may have been added to or removed from the configuration since the shell was started.
        const isFit = shell.isIsolated === this.#options.launcher.isolates(kind);
        if (isFit && !shell.terminal.hasExited && shell.hasItsFiles) return shell;
        void this.#dismiss(shell);
      }
    }
    const shell = await this.#startWithRetry(kind);
    this.#refillSoon();
    return shell;
  }

  /** Starts shells until the configured number is ready. */
  async fill(): Promise<void> {
    this.#refilling ??= this.#refill().finally(() => {
      this.#refilling = undefined;
    });
    await this.#refilling;
  }

  /**
   * Verifies that the default shell can be started: one is ready, the last start succeeded, or a new attempt succeeds.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED
   */
  async assertCanStart(): Promise<void> {
    if (this.#hasStarted || this.#warm.some(({ terminal }) => !terminal.hasExited)) return;
    this.#checking ??= this.#checkStart().finally(() => {
      this.#checking = undefined;
    });
    await this.#checking;
  }

  /** Closes a shell and removes its directory. The caller has ended its processes before. */
  discard(shell: ShellProcess): void {
    shell.close();
    shell.group[Symbol.dispose]();
    rmSync(shell.directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#refillTimer);
    // No session waits for these shells any more; some may never become ready.
    const starting = [...this.#starting];
    await Promise.all(starting.map(({ tag }) => endProcesses(() => findSessionProcesses({ tag, root: undefined }), 0)));
    await Promise.allSettled([this.#refilling, this.#checking]);
    await Promise.all(this.#warm.splice(0).map((shell) => this.#dismiss(shell)));
  }

  /** Ends a shell in which nothing has run. */
  async #dismiss(shell: ShellProcess): Promise<void> {
    const { rootPids } = shell.root;
    const find = () =>
      findSessionProcesses({ tag: shell.tag, root: undefined }).filter(({ pid }) => rootPids.includes(pid));
    await endProcesses(find, 0);
    this.discard(shell);
  }

  async #checkStart(): Promise<void> {
    const shell = await this.#start(this.#standardKind);
    if (!this.#isClosed && this.#warm.length < this.#options.size) this.#warm.push(shell);
    else await this.#dismiss(shell);
  }

  #refillSoon(): void {
    if (this.#isClosed || this.#warm.length >= this.#options.size) return;
    this.#refillTimer ??= setTimeout(() => {
      this.#refillTimer = undefined;
      this.fill().catch((error: unknown) => {
        // Closing the pool ends the shells that are being started for it.
        if (this.#isClosed) return;
        this.#options.log.warn('a shell could not be started ahead of need', { error: String(error) });
      });
    }, REFILL_AFTER_MS).unref();
  }

  async #refill(): Promise<void> {
    while (!this.#isClosed && this.#warm.length < this.#options.size) {
      this.#warm.push(await this.#start(this.#standardKind));
    }
  }

  /** The kind of sessions without special requests. */
  get #standardKind(): ShellKind {
    const { defaultShell, isLimited } = this.#options;
    return { installed: defaultShell, profile: this.sandbox.profile, isLimited: isLimited() };
  }

  #isKeptReady(kind: ShellKind): boolean {
    const standard = this.#standardKind;
    const { launcher } = this.#options;
    return (
      kind.installed.path === standard.installed.path &&
      kind.profile === standard.profile &&
      launcher.isolates(kind) === launcher.isolates(standard)
    );
  }

  /** Starts a shell; retries once if it is not ready in time. */
  async #startWithRetry(kind: ShellKind): Promise<ShellProcess> {
    const [first, second] = START_TIMEOUTS_MS;
    try {
      return await this.#start(kind, first);
    } catch (error) {
      if (!(error instanceof StartTimeout)) throw error;
      this.#options.log.warn('a shell did not come up; trying another', { error: error.message });
      return this.#start(kind, second);
    }
  }

  async #start(kind: ShellKind, timeoutMs: number = START_TIMEOUTS_MS[1]): Promise<ShellProcess> {
    const isDefault = this.#isKeptReady(kind);
    try {
      const shell = await this.#startOne(kind, timeoutMs);
      if (isDefault) this.#hasStarted = true;
      return shell;
    } catch (error) {
      if (isDefault) this.#hasStarted = false;
      throw error;
    }
  }

  async #startOne(kind: ShellKind, timeoutMs: number): Promise<ShellProcess> {
    const { cwd, env, launcher } = this.#options;
    const directory = await this.#takeDirectory();
    const size = { cols: DEFAULT_COLS, rows: DEFAULT_ROWS };
    const shell = this.#make({ ...kind, directory, cwd, env, ...size, launcher });
    this.#starting.add(shell);
    try {
      if (!(await settledWithin(shell.ready, timeoutMs))) {
        const { state, waitsIn } = whereabouts(shell.pid);
        const where = `state ${state}, waits in ${waitsIn}`;
        throw new StartTimeout(
          'SHELL_FAILED',
          `${kind.installed.path} did not come up in ${timeoutMs / 1000} s (${where})`,
        );
      }
      // The shell waits for its first command now: no fork can be missed meanwhile.
      await shell.group.begin(shell.root.sessionLeader, false);
    } catch (error) {
      this.discard(shell);
      throw error;
    } finally {
      this.#starting.delete(shell);
    }
    return shell;
  }

  #make(options: Omit<ShellProcessOptions, 'tag' | 'group'>): ShellProcess {
    const tag = `${this.#options.runtime.instance}.${randomBytes(6).toString('hex')}`;
    const group = this.#options.mechanism.createGroup(tag, options.launcher.isolates(options));
    try {
      return new ShellProcess({ ...options, tag, group });
    } catch (error) {
      group[Symbol.dispose]();
      throw error;
    }
  }

  async #takeDirectory(): Promise<string> {
    for (;;) {
      const directory = this.#directories.pop();
      if (directory !== undefined && existsSync(directory)) return directory;
      if (directory !== undefined) continue;
      this.#makingDirectories ??= this.#makeDirectories().finally(() => {
        this.#makingDirectories = undefined;
      });
      await this.#makingDirectories;
    }
  }

  async #makeDirectories(): Promise<void> {
    const { runtime } = this.#options;
    runtime.ensure();
    const directories = Array.from({ length: DIRECTORIES_AT_ONCE }, () =>
      join(runtime.path, `s${randomBytes(6).toString('hex')}`),
    );
    for (const directory of directories) mkdirSync(directory, { mode: 0o700 });
    try {
      await makeFifos(directories.flatMap(shellFifos));
    } catch (error) {
      throw new AdapterError('RESOURCE_EXHAUSTED', `named pipes could not be made: ${(error as Error).message}`, {
        cause: error,
      });
    }
    this.#directories.push(...directories);
  }
}

/** A shell was not ready in time. */
class StartTimeout extends AdapterError {}

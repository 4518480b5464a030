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
import type { RuntimeDirectory } from '../instance/runtime-directory.js';
import type { Launcher } from '../sandbox/launcher.js';
import { shellFifos, ShellProcess, type ShellProcessOptions } from './shell-process.js';
import type { InstalledShell } from '../shells/list.js';

/** Directories whose FIFOs are made by one process. */
const DIRECTORIES_AT_ONCE = 4;
/** Longest that a shell may take to come up, one attempt after another: a loaded machine needs seconds. */
const START_TIMEOUTS_MS = [5_000, 15_000] as const;
/** Whoever has just got a shell has a command for it, and starting the next one stops the daemon for a while: after that, in milliseconds. */
const REFILL_AFTER_MS = 5;
/** Terminal size of sessions that ask for none, in characters. */
const DEFAULT_COLS = 200;
const DEFAULT_ROWS = 50;

/** What makes one shell fit in the place of another. */
type ShellKind = Pick<ShellProcessOptions, 'installed' | 'profile' | 'isLimited'>;

/** What every shell of the daemon starts with. */
export interface ShellPoolOptions {
  readonly runtime: RuntimeDirectory;
  /** The shell that is started ahead of need. */
  readonly defaultShell: InstalledShell;
  /** Where the processes of each shell are put together. */
  readonly mechanism: LimitMechanism;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whether the configuration, as it is now, limits what every session may use. */
  readonly isLimited: () => boolean;
  /** Shells to keep ready. */
  readonly size: number;
  readonly launcher: Launcher;
  readonly log: Log;
}

/** Starts shells, some of them before they are asked for: a session then opens without waiting for one. */
export class ShellPool implements AsyncDisposable {
  readonly #options: ShellPoolOptions;
  readonly #warm: ShellProcess[] = [];
  readonly #directories: string[] = [];
  #makingDirectories: Promise<void> | undefined;
  #refilling: Promise<void> | undefined;
  #trying: Promise<void> | undefined;
  #refillTimer: NodeJS.Timeout | undefined;
  /** Shells that have not come up yet. */
  readonly #starting = new Set<ShellProcess>();
  /** Whether the last start of the default shell went well. */
  #hasStarted = false;
  #isClosed = false;

  constructor(options: ShellPoolOptions) {
    this.#options = options;
  }

  /** Environment of a shell that was given none. */
  get env(): Readonly<Record<string, string>> {
    return this.#options.env;
  }

  /** Directory that shells start in. */
  get cwd(): string {
    return this.#options.cwd;
  }

  /** How it stands with the sandbox of its shells. */
  get sandbox(): SandboxStatus {
    return this.#options.launcher.standing;
  }

  get defaultShell(): InstalledShell {
    return this.#options.defaultShell;
  }

  /**
   * Gives a shell that waits for its first command, started ahead of need if it is of the kind that is kept ready.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED
   */
  async take(installed: InstalledShell, profile: SandboxProfile, limits: Limits): Promise<ShellProcess> {
    const kind = { installed, profile, isLimited: hasLimits(limits) || this.#options.isLimited() };
    if (this.#isKeptReady(kind)) {
      for (let shell = this.#warm.shift(); shell; shell = this.#warm.shift()) {
        this.#refillSoon();
        // Since it was started the configuration may have got limits, or lost them.
        const isFit = shell.isIsolated === this.#options.launcher.isolates(kind);
        if (isFit && !shell.terminal.hasExited && shell.hasItsFiles) return shell;
        void this.#dismiss(shell);
      }
    }
    const shell = await this.#startAtLast(kind);
    this.#refillSoon();
    return shell;
  }

  /** Starts the shells that are to be ready. */
  async fill(): Promise<void> {
    this.#refilling ??= this.#refill().finally(() => {
      this.#refilling = undefined;
    });
    await this.#refilling;
  }

  /**
   * Sees to it that the default shell can be started: one is ready, the last start went well, or another one does.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED
   */
  async assertCanStart(): Promise<void> {
    if (this.#hasStarted || this.#warm.some(({ terminal }) => !terminal.hasExited)) return;
    this.#trying ??= this.#try().finally(() => {
      this.#trying = undefined;
    });
    await this.#trying;
  }

  /** Closes a shell and removes its directory. Its processes are ended before. */
  discard(shell: ShellProcess): void {
    shell.close();
    shell.group[Symbol.dispose]();
    rmSync(shell.directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#refillTimer);
    // Nobody waits for them any more, least of all for those that would never come up.
    const starting = [...this.#starting];
    await Promise.all(starting.map(({ tag }) => endProcesses(() => findSessionProcesses({ tag, root: undefined }), 0)));
    await Promise.allSettled([this.#refilling, this.#trying]);
    await Promise.all(this.#warm.splice(0).map((shell) => this.#dismiss(shell)));
  }

  /** Ends a shell that nothing has run in. */
  async #dismiss(shell: ShellProcess): Promise<void> {
    const { rootPids } = shell.root;
    const find = () =>
      findSessionProcesses({ tag: shell.tag, root: undefined }).filter(({ pid }) => rootPids.includes(pid));
    await endProcesses(find, 0);
    this.discard(shell);
  }

  async #try(): Promise<void> {
    const shell = await this.#start(this.#standardKind);
    if (!this.#isClosed && this.#warm.length < this.#options.size) this.#warm.push(shell);
    else await this.#dismiss(shell);
  }

  #refillSoon(): void {
    if (this.#isClosed || this.#warm.length >= this.#options.size) return;
    this.#refillTimer ??= setTimeout(() => {
      this.#refillTimer = undefined;
      this.fill().catch((error: unknown) => {
        // The end of the pool is the end of what is being started for it.
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

  /** What sessions get that ask for nothing. */
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

  /** Starts a shell, and another one if it does not come up. */
  async #startAtLast(kind: ShellKind): Promise<ShellProcess> {
    const [first, second] = START_TIMEOUTS_MS;
    try {
      return await this.#start(kind, first);
    } catch (error) {
      if (!(error instanceof ShellLate)) throw error;
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
      await withTimeout(shell.ready, timeoutMs, () => {
        const { state, waitsIn } = whereabouts(shell.pid);
        return `${kind.installed.path} did not come up in ${timeoutMs / 1000} s (state ${state}, waits in ${waitsIn})`;
      });
      // It waits for its first command now: nothing is forked meanwhile that would be missed.
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

/** A shell took too long to come up. */
class ShellLate extends AdapterError {}

async function withTimeout(promise: Promise<void>, ms: number, describe: () => string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ShellLate('SHELL_FAILED', describe()));
    }, ms);
  });
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import type { Limits } from '../../core/limits.js';
import type { Log } from '../../core/log.js';
import type { SandboxStatus } from '../../core/sandbox.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import { settledWithin } from '../../core/time.js';
import type { ProcessDirectory } from '../instance/runtime-directory.js';
import type { LimitMechanism } from '../limits/mechanism.js';
import type { Platform } from '../platform/platform.js';
import { endProcesses } from '../process/end-processes.js';
import { findSessionProcesses } from '../process/find-processes.js';
import type { Launcher } from '../sandbox/launcher.js';
import { isPlaceGone } from '../sandbox/sandbox.js';
import type { InstalledShell } from '../shells/list.js';
import { makeFifos } from '../system/fifo.js';
import { makeDirectoryFor } from '../system/own-user.js';
import { randomBytes } from '../system/random.js';
import { tryRemoveTree } from '../system/local-files.js';
import { FailedStart, shellFifos, ShellProcess, type ShellProcessOptions } from './shell-process.js';

/** Number of directories whose FIFOs are created by one process: to start it takes as long as to start a shell. */
const DIRECTORIES_AT_ONCE = 16;

/** Provides each shell with a directory of its own below the runtime directory, with its FIFOs. */
class ShellDirectories {
  readonly #runtime: ProcessDirectory;
  readonly #ready: string[] = [];
  #making: Promise<void> | undefined;

  constructor(runtime: ProcessDirectory) {
    this.#runtime = runtime;
  }

  /**
   * Returns a directory for one shell.
   * @throws AdapterError RESOURCE_EXHAUSTED
   */
  async take(): Promise<string> {
    for (;;) {
      const directory = this.#ready.pop();
      // A command may have removed it.
      if (directory !== undefined && existsSync(directory)) return directory;
      if (directory !== undefined) continue;
      this.#making ??= this.#make().finally(() => {
        this.#making = undefined;
      });
      await this.#making;
    }
  }

  async #make(): Promise<void> {
    this.#runtime.ensure();
    const directories = Array.from({ length: DIRECTORIES_AT_ONCE }, () =>
      join(this.#runtime.path, `s${randomBytes(6).toString('hex')}`),
    );
    const { owner } = this.#runtime;
    for (const directory of directories) makeDirectoryFor(owner, directory);
    try {
      await makeFifos(directories.flatMap(shellFifos), owner);
    } catch (error) {
      throw new AdapterError('RESOURCE_EXHAUSTED', `named pipes could not be made: ${(error as Error).message}`, {
        cause: error,
      });
    }
    this.#ready.push(...directories);
  }
}

/** Start timeouts of consecutive attempts, in milliseconds: a loaded machine needs seconds. */
const START_TIMEOUTS_MS = [5_000, 15_000] as const;
/** Terminal size of sessions that request none, in characters. */
const DEFAULT_COLS = 200;
const DEFAULT_ROWS = 50;

/** What shells of one kind have in common. */
type ShellKind = Pick<ShellProcessOptions, 'installed' | 'profile' | 'isLimited'>;

/** Dependencies of `ShellStarter`. */
interface ShellStarterOptions {
  readonly platform: Platform;
  readonly runtime: ProcessDirectory;
  /** Creates the process group of each shell. */
  readonly mechanism: LimitMechanism;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly launcher: Launcher;
  readonly log: Log;
}

/** Starts shells, and ends those in which nothing has run. */
class ShellStarter {
  readonly #options: ShellStarterOptions;
  readonly #directories: ShellDirectories;
  /** Shells that are not ready yet. */
  readonly #starting = new Set<ShellProcess>();
  #isAbandoned = false;

  constructor(options: ShellStarterOptions) {
    this.#options = options;
    this.#directories = new ShellDirectories(options.runtime);
  }

  /**
   * Starts a shell that waits for its first command; tries once more if it is not ready in time, is killed, or if a hidden
   * path of its sandbox was removed meanwhile.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED
   */
  async start(kind: ShellKind): Promise<ShellProcess> {
    const [first, second] = START_TIMEOUTS_MS;
    try {
      return await this.#attempt(kind, first);
    } catch (error) {
      if (this.#isAbandoned || !mayComeUp(error)) throw error;
      this.#options.log.warn('a shell did not come up; trying another', { error: error.message });
      return this.#attempt(kind, second);
    }
  }

  async #attempt(kind: ShellKind, timeoutMs: number): Promise<ShellProcess> {
    const { cwd, env, launcher } = this.#options;
    const network = await launcher.networkFor(kind.profile);
    const directory = await this.#directories.take().catch((error: unknown) => {
      network?.[Symbol.dispose]();
      throw error;
    });
    const size = { cols: DEFAULT_COLS, rows: DEFAULT_ROWS };
    const shell = this.#make({
      ...kind,
      platform: this.#options.platform,
      directory,
      cwd,
      env,
      ...size,
      launcher,
      network,
    });
    this.#starting.add(shell);
    try {
      if (!(await settledWithin(shell.ready, timeoutMs))) throw failedStart(shell, lateness(shell, timeoutMs));
      // The shell waits for its first command now: no fork can be missed meanwhile.
      await shell.group.begin(shell.root.sessionLeader, false);
      // Its exit was delivered when there was no listener yet: a session would wait for it in vain.
      if (shell.terminal.hasExited) throw failedStart(shell, 'ended as soon as it had come up');
    } catch (error) {
      this.discard(shell);
      throw error;
    } finally {
      this.#starting.delete(shell);
    }
    return shell;
  }

  /** Closes a shell and removes its directory. The caller has ended its processes before. */
  discard(shell: ShellProcess): void {
    shell.close();
    shell.network?.[Symbol.dispose]();
    shell.group[Symbol.dispose]();
    tryRemoveTree(shell.directory, this.#options.log);
  }

  /** Ends a shell in which nothing has run. */
  async dismiss(shell: ShellProcess): Promise<void> {
    const { processes } = shell;
    const { rootPids } = shell.root;
    const find = () =>
      findSessionProcesses({ tag: shell.tag, root: undefined, processes }).filter(({ pid }) => rootPids.includes(pid));
    await endProcesses(find, 0, { processes });
    this.discard(shell);
  }

  /** Ends the shells that are being started: some may never become ready. Their starts fail. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    const starting = [...this.#starting];
    const { processes } = this.#options.platform;
    await Promise.all(
      starting.map(({ tag }) => {
        return endProcesses(() => findSessionProcesses({ tag, root: undefined, processes }), 0, { processes });
      }),
    );
  }

  #make(options: Omit<ShellProcessOptions, 'tag' | 'group'>): ShellProcess {
    const { launcher } = options;
    const tag = `${this.#options.runtime.instance}.${randomBytes(6).toString('hex')}`;
    const group = this.#options.mechanism.createGroup(tag, launcher.isolates(options), launcher.holds(options));
    try {
      return new ShellProcess({ ...options, tag, group });
    } catch (error) {
      options.network?.[Symbol.dispose]();
      group[Symbol.dispose]();
      throw error;
    }
  }
}

/** A shell was not ready in time, or has ended since. */
const failedStart = ({ installed }: ShellProcess, what: string) => new FailedStart(`${installed.path} ${what}`);

/** Whether another attempt may succeed. */
const mayComeUp = (error: unknown): error is AdapterError =>
  error instanceof FailedStart || (error instanceof AdapterError && isPlaceGone(error.message));

function lateness({ pid, processes }: ShellProcess, timeoutMs: number): string {
  const { state, waitsIn } = processes.whereabouts(pid);
  return `did not come up in ${timeoutMs / 1000} s (state ${state}, waits in ${waitsIn})`;
}

/**
 * Delay before the pool is refilled, in milliseconds: a session that has just received a shell has a command for it,
 * and starting the next shell blocks the daemon for a moment.
 */
const REFILL_AFTER_MS = 5;
/** Number of kinds besides the standard one of which a shell is kept ready: those that were requested last. */
const MAX_OTHER_KINDS = 3;
/** Time for which a kind counts as in use after a request, in milliseconds. */
const IN_USE_MS = 10 * 60_000;

/** Dependencies of `ShellPool`. */
interface ShellPoolOptions extends ShellStarterOptions {
  /** The shell of sessions that request none. */
  readonly defaultShell: InstalledShell;
  /** Whether the current configuration, or a request, has asked for the limits of a session. */
  readonly isLimited: (limits: Limits) => boolean;
  /** Number of shells of the standard kind to keep ready. */
  readonly size: number;
}

/** Shells of one kind that are kept ready. */
interface Shelf {
  readonly kind: ShellKind;
  readonly shells: ShellProcess[];
  /** On the monotonic clock, in milliseconds. */
  requestedAt: number;
}

/**
 * Starts shells, some of them ahead of need: a session then opens without waiting for one. Shells of the standard kind
 * are always kept ready, and one shell of each other kind that is in use.
 */
export class ShellPool implements AsyncDisposable {
  readonly #options: ShellPoolOptions;
  readonly #starter: ShellStarter;
  /** By kind; the one requested last is at the end. */
  readonly #shelves = new Map<string, Shelf>();
  #refilling: Promise<void> | undefined;
  #checking: Promise<void> | undefined;
  #refillTimer: NodeJS.Timeout | undefined;
  #expiryTimer: NodeJS.Timeout | undefined;
  /** Whether the last start of a shell of the standard kind succeeded. */
  #hasStarted = false;
  #isClosed = false;

  constructor(options: ShellPoolOptions) {
    this.#options = options;
    this.#starter = new ShellStarter(options);
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

  /** The shell of sessions that request none. */
  get defaultShell(): InstalledShell {
    return this.#options.defaultShell;
  }

  /**
   * Returns a shell that waits for its first command, one that was started ahead of need if there is one of the kind.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED
   */
  async take(installed: InstalledShell, profile: SandboxProfile, limits: Limits): Promise<ShellProcess> {
    const kind = { installed, profile, isLimited: this.#options.isLimited(limits) };
    const shelf = this.#requested(kind);
    const isUsable = (shell: ShellProcess) =>
      !shell.terminal.hasExited &&
      shell.hasItsFiles &&
      shell.protection === this.#options.launcher.protectionOf(profile);
    for (let shell = shelf.shells.shift(); shell; shell = shelf.shells.shift()) {
      this.#refillSoon();
      if (isUsable(shell)) return shell;
      void this.#starter.dismiss(shell);
    }
    const shell = await this.#track(kind, this.#starter.start(kind));
    this.#refillSoon();
    return shell;
  }

  /** Starts shells until all that are to be kept ready are. */
  async fill(): Promise<void> {
    this.#refilling ??= this.#refill().finally(() => {
      this.#refilling = undefined;
    });
    await this.#refilling;
  }

  /**
   * Verifies that a shell of the standard kind can be started: one is ready, the last start succeeded, or a new attempt
   * succeeds.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED
   */
  async assertCanStart(): Promise<void> {
    if (this.#hasStarted || this.#standard.shells.some(({ terminal }) => !terminal.hasExited)) return;
    this.#checking ??= this.#checkStart().finally(() => {
      this.#checking = undefined;
    });
    await this.#checking;
  }

  /** Closes a shell and removes its directory. The caller has ended its processes before. */
  discard(shell: ShellProcess): void {
    this.#starter.discard(shell);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#refillTimer);
    clearTimeout(this.#expiryTimer);
    // No session waits for these shells any more.
    await this.#starter.abandon();
    await Promise.allSettled([this.#refilling, this.#checking]);
    await Promise.all([...this.#shelves.values()].flatMap((shelf) => this.#clear(shelf)));
  }

  async #checkStart(): Promise<void> {
    const { kind, shells } = this.#standard;
    const shell = await this.#track(kind, this.#starter.start(kind));
    if (!this.#isClosed && shells.length < this.#options.size) shells.push(shell);
    else await this.#starter.dismiss(shell);
  }

  #refillSoon(): void {
    if (this.#isClosed) return;
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
    this.#retire();
    for (let shelf = this.#nextToFill; shelf && !this.#isClosed; shelf = this.#nextToFill) {
      const { kind, shells } = shelf;
      shells.push(await this.#track(kind, this.#starter.start(kind)));
    }
  }

  /** A shelf with room: that of the standard kind first. */
  get #nextToFill(): Shelf | undefined {
    const { size } = this.#options;
    const standard = this.#standard;
    if (standard.shells.length < size) return standard;
    if (size === 0) return undefined;
    return [...this.#shelves.values()].find(({ shells }) => shells.length === 0);
  }

  /** Ends the shells of kinds that are no longer in use: not requested for a while, or changed by the configuration. */
  #retire(): void {
    clearTimeout(this.#expiryTimer);
    const standard = this.#standard;
    const others = [...this.#shelves].filter(([, shelf]) => shelf !== standard);
    const oldest = performance.now() - IN_USE_MS;
    const tooMany = others.length - MAX_OTHER_KINDS;
    for (const [index, [key, shelf]] of others.entries()) {
      if (index >= tooMany && shelf.requestedAt > oldest) continue;
      this.#shelves.delete(key);
      for (const ended of this.#clear(shelf)) void ended;
    }
    if (this.#shelves.size > 1) {
      this.#expiryTimer = setTimeout(() => {
        this.#retire();
      }, IN_USE_MS).unref();
    }
  }

  #clear({ shells }: Shelf): Promise<void>[] {
    return shells.splice(0).map((shell) => this.#starter.dismiss(shell));
  }

  /** The kind of sessions without special requests. */
  get #standard(): Shelf {
    const { defaultShell, isLimited } = this.#options;
    return this.#shelfOf({ installed: defaultShell, profile: this.sandbox.profile, isLimited: isLimited({}) });
  }

  /** Notes a request for a kind. */
  #requested(kind: ShellKind): Shelf {
    const shelf = this.#shelfOf(kind);
    shelf.requestedAt = performance.now();
    const key = this.#keyOf(kind);
    this.#shelves.delete(key);
    this.#shelves.set(key, shelf);
    return shelf;
  }

  #shelfOf(kind: ShellKind): Shelf {
    const key = this.#keyOf(kind);
    let shelf = this.#shelves.get(key);
    if (!shelf) this.#shelves.set(key, (shelf = { kind, shells: [], requestedAt: performance.now() }));
    return shelf;
  }

  #keyOf(kind: ShellKind): string {
    return `${kind.installed.path} ${this.#options.launcher.wayOf(kind)}`;
  }

  /** Notes whether a shell of the standard kind could be started. */
  async #track(kind: ShellKind, starting: Promise<ShellProcess>): Promise<ShellProcess> {
    const isStandard = this.#shelfOf(kind) === this.#standard;
    try {
      const shell = await starting;
      if (isStandard) this.#hasStarted = true;
      return shell;
    } catch (error) {
      if (isStandard) this.#hasStarted = false;
      throw error;
    }
  }
}

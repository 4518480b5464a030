import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/logging/log.js';
import { settledWithin } from '../../core/time.js';
import type { ProcessDirectory } from '../instance/runtime-directory.js';
import type { LimitMechanism } from '../limits/mechanism.js';
import type { Platform } from '../platform/contract/platform.js';
import { endProcesses } from '../process/end-processes.js';
import { findSessionProcesses } from '../process/find-processes.js';
import type { Launcher } from '../sandbox/launcher.js';
import { isPlaceGone } from '../sandbox/place-gone.js';
import { randomBytes } from '../system/random.js';
import { tryRemoveTree } from '../system/remove-tree.js';
import { ShellDirectories } from './shell-directories.js';
import { ShellProcess } from './shell-process.js';
import type { ShellProcessOptions } from './shell-program.js';

/** Start timeouts of consecutive attempts, in milliseconds: a loaded machine needs seconds. */
const START_TIMEOUTS_MS = [5_000, 15_000] as const;
/** Terminal size of sessions that request none, in characters. */
const DEFAULT_COLS = 200;
const DEFAULT_ROWS = 50;

/** What shells of one kind have in common. */
export type ShellKind = Pick<ShellProcessOptions, 'installed' | 'profile' | 'isLimited'>;

/** Dependencies of `ShellStarter`. */
export interface ShellStarterOptions {
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
export class ShellStarter {
  readonly #options: ShellStarterOptions;
  readonly #directories: ShellDirectories;
  /** Shells that are not ready yet. */
  readonly #starting = new Set<ShellProcess>();

  constructor(options: ShellStarterOptions) {
    this.#options = options;
    this.#directories = new ShellDirectories(options.runtime);
  }

  /**
   * Starts a shell; tries once more if it is not ready in time, is killed right after, or if a hidden path of its sandbox
   * was removed meanwhile.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED
   */
  async startWithRetry(kind: ShellKind): Promise<ShellProcess> {
    const [first, second] = START_TIMEOUTS_MS;
    try {
      return await this.start(kind, first);
    } catch (error) {
      if (!mayComeUp(error)) throw error;
      this.#options.log.warn('a shell did not come up; trying another', { error: error.message });
      return this.start(kind, second);
    }
  }

  /**
   * Starts a shell that waits for its first command.
   * @throws AdapterError SHELL_FAILED, RESOURCE_EXHAUSTED
   */
  async start(kind: ShellKind, timeoutMs: number = START_TIMEOUTS_MS[1]): Promise<ShellProcess> {
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
      if (!(await settledWithin(shell.ready, timeoutMs))) throw new FailedStart(shell, lateness(shell, timeoutMs));
      // The shell waits for its first command now: no fork can be missed meanwhile.
      await shell.group.begin(shell.root.sessionLeader, false);
      // Its exit was delivered when there was no listener yet: a session would wait for it in vain.
      if (shell.terminal.hasExited) throw new FailedStart(shell, 'ended as soon as it had come up');
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
class FailedStart extends AdapterError {
  constructor({ installed }: ShellProcess, what: string) {
    super('SHELL_FAILED', `${installed.path} ${what}`);
  }
}

/** Whether another attempt may succeed. */
const mayComeUp = (error: unknown): error is AdapterError =>
  error instanceof FailedStart || (error instanceof AdapterError && isPlaceGone(error.message));

function lateness({ pid, processes }: ShellProcess, timeoutMs: number): string {
  const { state, waitsIn } = processes.whereabouts(pid);
  return `did not come up in ${timeoutMs / 1000} s (state ${state}, waits in ${waitsIn})`;
}

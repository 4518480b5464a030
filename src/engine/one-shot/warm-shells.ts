import type { Limits } from '../../core/limits.js';
import type { Log } from '../../core/log.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import type { ProcessDirectory } from '../instance/runtime-directory.js';
import type { LimitMechanism, ProcessGroup } from '../limits/mechanism.js';
import type { Platform } from '../platform/platform.js';
import type { Launcher } from '../sandbox/launcher.js';
import type { SandboxNetwork } from '../sandbox/sandbox-networks.js';
import type { InstalledShell } from '../shells/list.js';
import { waitingShell } from '../shells/one-shot.js';
import { randomBytes } from '../system/random.js';
import { OneShotProcess, requestFile } from './one-shot-process.js';
import type { OneShotProgram } from './start-message.js';
import { isThere, type PipeSet, PipeSets } from './pipe-sets.js';
import type { ProcessStarter } from './process-starter.js';

/**
 * A used shell is replaced once its command has ended or after this time, in milliseconds: starting one must not delay
 * the command.
 */
const REFILL_AFTER_MS = 5;
/** Interval at which pipes that a process of an ended one-shot still holds are checked again, in milliseconds. */
const PIPE_RETRY_MS = 50;

/** Dependencies of `WarmShells`. */
export interface WarmShellsOptions {
  readonly platform: Platform;
  readonly runtime: ProcessDirectory;
  readonly starter: ProcessStarter;
  readonly launcher: Launcher;
  readonly shell: InstalledShell;
  /** Creates the process group of each process. */
  readonly mechanism: LimitMechanism;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whether the current configuration, or a request, has asked for the limits of a command. */
  readonly isLimited: (limits: Limits) => boolean;
  /** Limits of commands that ask for none: shells get them ahead of need too. */
  readonly standardLimits: () => Limits;
  /** Number of shells to start ahead of need, each used once. */
  readonly prewarm: number;
  readonly log: Log;
}

/** Properties that a prestarted process must share with the requested one. */
export type OneShotKind = Pick<OneShotProgram, 'profile' | 'isLimited'>;

/** A program to start, without what every process gets. */
type Program = Omit<OneShotProgram, 'tag' | 'group'>;

/** Starts the processes of one-shots; keeps shells ready that are started ahead of need. */
export class WarmShells implements AsyncDisposable {
  readonly #options: WarmShellsOptions;
  readonly #pipes: PipeSets;
  readonly #warm: OneShotProcess[] = [];
  #refillTimer: NodeJS.Timeout | undefined;
  #filling: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: WarmShellsOptions) {
    this.#options = options;
    this.#pipes = new PipeSets(options.runtime);
  }

  /** The kind of a command that asks for `profile`, and runs with these limits. */
  kindOf(profile: SandboxProfile | undefined, limits: Limits): OneShotKind {
    const { launcher, isLimited } = this.#options;
    return { profile: profile ?? launcher.standing.profile, isLimited: isLimited(limits) };
  }

  /** Starts shells until the configured number is ready. */
  fill(): Promise<void> {
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  /** Returns a shell that waits for its request: one that is ready, or a new one. */
  async take(kind: OneShotKind): Promise<OneShotProcess> {
    return this.#takeWarm(kind) ?? this.#startShell(kind);
  }

  /** Starts a program. */
  async start(program: Program): Promise<OneShotProcess> {
    return this.#launch(await this.#pipes.take(), program);
  }

  /** Replaces used shells soon. */
  refillSoon(): void {
    this.#refillTimer ??= setTimeout(() => {
      this.#refill();
    }, REFILL_AFTER_MS).unref();
  }

  /** Replaces used shells in the next turn of the event loop, if any have to be replaced. */
  refillNow(): void {
    if (!this.#refillTimer) return;
    setImmediate(() => {
      this.#refill();
    });
  }

  /** Releases a shell that waits for a request which could not be written. */
  dismiss(process: OneShotProcess): void {
    process.files.remove();
    process.dismiss();
    void process.ended.then(() => {
      process.group[Symbol.dispose]();
      this.releasePipes(process.pipes);
    });
  }

  /** Returns pipes to the pool once no process holds them. */
  releasePipes(pipes: PipeSet): void {
    if (this.#pipes.give(pipes)) return;
    setTimeout(() => {
      this.releasePipes(pipes);
    }, PIPE_RETRY_MS).unref();
  }

  /** Starts no more shells, and ends those that are ready. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#filling?.catch(() => undefined);
    const warm = this.#warm.splice(0);
    for (const process of warm) process.dismiss();
    await Promise.all(warm.map((process) => process.ended));
    for (const { group } of warm) group[Symbol.dispose]();
    clearTimeout(this.#refillTimer);
  }

  /** Closes the pipes, once no process of a one-shot is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    this.#pipes[Symbol.dispose]();
  }

  async #fill(): Promise<void> {
    while (!this.#isClosed && this.#warm.length < this.#options.prewarm) {
      const process = await this.#startShell(this.#standardKind);
      // Only once it runs: during the start the starter, with all its threads, is in the group too.
      void process.started.then(() => {
        if (!process.hasEnded) process.group.setLimits(this.#options.standardLimits());
      });
      this.#warm.push(process);
    }
  }

  #refill(): void {
    clearTimeout(this.#refillTimer);
    this.#refillTimer = undefined;
    this.fill().catch((error: unknown) => {
      this.#options.log.warn('a shell could not be started ahead of need', { error: String(error) });
    });
  }

  #takeWarm(kind: OneShotKind): OneShotProcess | undefined {
    const { launcher } = this.#options;
    const way = launcher.wayOf(kind);
    if (way !== launcher.wayOf(this.#standardKind)) return undefined;
    if (this.#warm.length === 0) return undefined;
    // Since the shell was started, limits may have been added to the configuration, or repositories to the workspace.
    const protection = launcher.protectionOf(kind.profile);
    const isUsable = (process: OneShotProcess) =>
      process.way === way && process.protection === protection && !process.hasEnded && isThere(process.pipes);
    for (let process = this.#warm.shift(); process; process = this.#warm.shift()) {
      if (isUsable(process)) return process;
      this.dismiss(process);
    }
    return undefined;
  }

  async #startShell(kind: OneShotKind): Promise<OneShotProcess> {
    const pipes = await this.#pipes.take();
    const { shell, cwd, env } = this.#options;
    const waiting = waitingShell(shell, requestFile(pipes));
    return this.#launch(pipes, { ...waiting, cwd, env: { ...env, ...waiting.env }, takesRequest: true, ...kind });
  }

  async #launch(pipes: PipeSet, program: Program): Promise<OneShotProcess> {
    const { starter, launcher, runtime, mechanism, platform } = this.#options;
    const tag = `${runtime.instance}.${randomBytes(6).toString('hex')}`;
    let group: ProcessGroup | undefined;
    let network: SandboxNetwork | undefined;
    try {
      network = await launcher.networkFor(program.profile);
      group = mechanism.createGroup(tag, launcher.isolates(program), launcher.holds(program));
      return new OneShotProcess({ starter, launcher, platform }, { tag, group, network, ...program }, pipes);
    } catch (error) {
      network?.[Symbol.dispose]();
      group?.[Symbol.dispose]();
      this.releasePipes(pipes);
      throw error;
    }
  }

  /** The kind of commands without special requests. */
  get #standardKind(): OneShotKind {
    return this.kindOf(undefined, {});
  }
}

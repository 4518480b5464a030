import { hasLimits } from '../../core/limits/limits.js';
import type { Log } from '../../core/logging/log.js';
import type { SignalName } from '../../core/signals.js';
import type { SandboxStatus } from '../../core/sandbox/status.js';
import { type StartMarker, markStart } from '../process/start-marker.js';
import { type Command, type EndReason, graceFor } from '../command/command.js';
import { listenUntilClosed } from '../output/closed-output.js';
import { startWithLimits, type OnLongRunning, oneShotLimitTarget } from './one-shot-limit-target.js';
import { noteKernelActions } from '../session/session-limit-target.js';
import type { LimitMechanism, ProcessGroup } from '../limits/mechanism.js';
import { findBackgroundProcesses, commandLineOf, reportBackgroundProcesses } from '../process/background-processes.js';
import { OrphanReaper } from './orphan-reaper.js';
import { findNewProcesses } from '../process/new-processes.js';
import { OneShotProcess, type OneShotProgram, requestFile } from './one-shot-process.js';
import { BACKGROUND_ENDED, commandEnd, failedStart } from './one-shot-end.js';
import { PipeFeed } from '../output/pipe-feed.js';
import { isThere, type PipeSet, PipeSets } from './pipe-sets.js';
import type { ProcessEnd, ProcessStarter } from './process-starter.js';
import { type ProcessEntry, readProcess } from '../process/process-table.js';
import { endProcesses, type ReportedProcess, reportProcesses, sendSignal } from '../process/process-tree.js';
import { randomBytes } from '../system/random.js';
import type { RuntimeDirectory } from '../instance/runtime-directory.js';
import type { Launcher } from '../sandbox/launcher.js';
import type { InstalledShell } from '../shells/list.js';
import { oneShotText } from '../shells/one-shot-text.js';

/** Limit of the fast path, in milliseconds: for shorter commands a stream costs more than the command. */
const STREAM_AFTER_MS = 5;
/**
 * A used shell is replaced once its command has ended or after this time, in milliseconds: starting one must not delay
 * the command.
 */
const REFILL_AFTER_MS = 5;
/** Interval at which pipes that a process of an ended one-shot still holds are checked again, in milliseconds. */
const PIPE_RETRY_MS = 50;

/** Dependencies of `OneShotRunner`. */
export interface OneShotOptions {
  readonly runtime: RuntimeDirectory;
  readonly starter: ProcessStarter;
  readonly launcher: Launcher;
  readonly shell: InstalledShell;
  /** Creates the process group of each command. */
  readonly mechanism: LimitMechanism;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly killGraceMs: number;
  /** Whether the current configuration limits the resources of every command. */
  readonly isLimited: () => boolean;
  /** Number of shells to start ahead of need, each used once. */
  readonly prewarm: number;
  readonly log: Log;
}

/** Properties that a prestarted process must share with the requested one. */
type OneShotKind = Pick<OneShotProgram, 'profile' | 'isLimited'>;

/** A one-shot command in flight. */
interface Flight {
  readonly command: Command;
  readonly process: OneShotProcess;
  readonly beginning: StartMarker;
  readonly feeds: readonly PipeFeed[];
  readonly timers: NodeJS.Timeout[];
  termination: Promise<unknown> | undefined;
}

/** Runs commands without a session: each in its own process with a fresh environment; no process is left behind. */
export class OneShotRunner implements AsyncDisposable {
  readonly #options: OneShotOptions;
  readonly #pipes: PipeSets;
  readonly #flights = new Map<Command, Flight>();
  readonly #warm: OneShotProcess[] = [];
  readonly #orphanReaper: OrphanReaper;
  #refillTimer: NodeJS.Timeout | undefined;
  #filling: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: OneShotOptions) {
    this.#options = options;
    this.#pipes = new PipeSets(options.runtime);
    this.#orphanReaper = new OrphanReaper(options, () => this.#flights.size === 0);
  }

  /** State of the sandbox for these commands. */
  get sandbox(): SandboxStatus {
    return this.#options.launcher.standing;
  }

  /** The shell that runs command texts. */
  get shell(): InstalledShell {
    return this.#options.shell;
  }

  /** Number of commands in flight. */
  get running(): number {
    return this.#flights.size;
  }

  /** Starts shells until the configured number is ready. */
  fill(): Promise<void> {
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  /**
   * Runs a command; its `finished` resolves at the end.
   * @param onLingering called when the command outlives the fast path
   */
  async run(command: Command, onLingering: OnLongRunning = () => undefined): Promise<void> {
    try {
      if (command.spec.stdinPipe) await command.spec.stdinPipe.make();
      command.start();
      const beginning = markStart();
      const process = command.spec.args ? await this.#startProgram(command) : await this.#startText(command);
      this.#follow({ command, process, beginning }, onLingering);
    } catch (error) {
      command.finish(failedStart(command, error as NodeJS.ErrnoException));
    }
  }

  /** Ends a command with all its processes. */
  terminate(command: Command, reason: EndReason): void {
    const flight = this.#flights.get(command);
    if (!flight || flight.process.hasEnded || !command.requestEnd(reason)) return;
    for (const feed of flight.feeds) feed.holdForClient(false);
    flight.termination = flight.process.started.then(() =>
      endProcesses(() => flight.process.findProcesses(), graceFor(reason, this.#options.killGraceMs), {
        group: flight.process.group,
        root: flight.process.root,
        onKill: (pids) => {
          command.noteKilled(pids);
        },
      }),
    );
  }

  /** Signals the process group of a command. */
  signal(command: Command, signal: SignalName): ReportedProcess[] {
    const root = this.#flights.get(command)?.process.root;
    const entry = root && readProcess(root.main);
    if (!entry) return [];
    command.noteSignal(signal);
    const reported = reportProcesses([entry], root);
    return sendSignal(-entry.group, signal) ? reported : [];
  }

  /** Pauses or resumes reading the output of a command (backpressure). */
  holdForClient(command: Command, isHeld: boolean): void {
    for (const feed of this.#flights.get(command)?.feeds ?? []) feed.holdForClient(isHeld);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const command of this.#flights.keys()) this.terminate(command, { status: 'killed', killedBy: 'shutdown' });
    await Promise.all([...this.#flights.keys()].map((command) => command.finished));
    await this.#filling?.catch(() => undefined);
    const warm = this.#warm.splice(0);
    for (const process of warm) process.dismiss();
    await Promise.all(warm.map((process) => process.ended));
    for (const { group } of warm) group[Symbol.dispose]();
    clearTimeout(this.#refillTimer);
    await this.#orphanReaper[Symbol.asyncDispose]();
    this.#pipes[Symbol.dispose]();
  }

  // --- starting ---------------------------------------------------------------------------------------------------

  async #fill(): Promise<void> {
    while (!this.#isClosed && this.#warm.length < this.#options.prewarm) {
      this.#warm.push(this.#startShell(await this.#pipes.take(), this.#standardKind));
    }
  }

  async #startProgram(command: Command): Promise<OneShotProcess> {
    const { spec } = command;
    const process = this.#launch(await this.#pipes.take(), {
      file: spec.command,
      args: spec.args ?? [],
      cwd: spec.cwd ?? this.#options.cwd,
      env: { ...this.#options.env, ...spec.env },
      stdin: spec.stdin ?? spec.stdinPipe,
      takesRequest: false,
      ...this.#kindOf(command),
    });
    startWithLimits(command, process);
    return process;
  }

  async #startText(command: Command): Promise<OneShotProcess> {
    const { spec } = command;
    const kind = this.#kindOf(command);
    const process = this.#takeWarm(kind) ?? this.#startShell(await this.#pipes.take(), kind);
    startWithLimits(command, process);
    try {
      const stdinFile = process.placeStdin(spec.stdin ?? spec.stdinPipe);
      process.sendRequest(oneShotText({ cwd: spec.cwd, env: spec.env, stdinFile, text: spec.command }));
    } catch (error) {
      this.#dismiss(process);
      throw error;
    }
    this.#refillTimer ??= setTimeout(() => {
      this.#refill();
    }, REFILL_AFTER_MS).unref();
    return process;
  }

  /** Starts shells to replace used ones. */
  #refill(): void {
    clearTimeout(this.#refillTimer);
    this.#refillTimer = undefined;
    this.fill().catch((error: unknown) => {
      this.#options.log.warn('a shell could not be started ahead of need', { error: String(error) });
    });
  }

  #takeWarm(kind: OneShotKind): OneShotProcess | undefined {
    const standard = this.#standardKind;
    const isIsolated = this.#options.launcher.isolates(kind);
    if (kind.profile !== standard.profile || isIsolated !== this.#options.launcher.isolates(standard)) return undefined;
    for (let process = this.#warm.shift(); process; process = this.#warm.shift()) {
      // Limits may have been added to or removed from the configuration since the shell was started.
      if (process.isIsolated === isIsolated && !process.hasEnded && isThere(process.pipes)) return process;
      this.#dismiss(process);
    }
    return undefined;
  }

  #startShell(pipes: PipeSet, kind: OneShotKind): OneShotProcess {
    const { shell, cwd, env: base } = this.#options;
    const { args, env: extra } = shell.shell.oneShot(requestFile(pipes));
    const env = { ...base, ...extra };
    return this.#launch(pipes, { file: shell.path, args, cwd, env, takesRequest: true, ...kind });
  }

  #launch(pipes: PipeSet, program: Omit<OneShotProgram, 'tag' | 'group'>): OneShotProcess {
    const { starter, launcher, runtime, mechanism } = this.#options;
    const tag = `${runtime.instance}.${randomBytes(6).toString('hex')}`;
    let group: ProcessGroup | undefined;
    try {
      group = mechanism.createGroup(tag, launcher.isolates(program));
      return new OneShotProcess(starter, launcher, { ...program, tag, group }, pipes);
    } catch (error) {
      group?.[Symbol.dispose]();
      this.#releasePipes(pipes);
      throw error;
    }
  }

  /** Releases a shell that waits for a request which could not be written. */
  #dismiss(process: OneShotProcess): void {
    process.removeFiles();
    process.dismiss();
    void process.ended.then(() => {
      process.group[Symbol.dispose]();
      this.#releasePipes(process.pipes);
    });
  }

  /** The kind of commands without special requests. */
  get #standardKind(): OneShotKind {
    return { profile: this.sandbox.profile, isLimited: this.#options.isLimited() };
  }

  #kindOf({ spec }: Command): OneShotKind {
    const { profile, isLimited } = this.#standardKind;
    return { profile: spec.sandbox ?? profile, isLimited: isLimited || hasLimits(spec.resourceLimits ?? {}) };
  }

  // --- in flight ----------------------------------------------------------------------------------------------------

  #follow(started: Pick<Flight, 'command' | 'process' | 'beginning'>, onLingering: OnLongRunning): void {
    const { command, process } = started;
    const { spec } = command;
    const timeOut = () => {
      this.terminate(command, { status: 'timed_out', killedBy: 'timeout' });
    };
    const quiet = spec.noOutputTimeoutMs === undefined ? undefined : setTimeout(timeOut, spec.noOutputTimeoutMs);
    const onBytes = () => {
      quiet?.refresh();
    };
    const { out, err } = process.pipes;
    const stdout = new PipeFeed(out, command.stdout, onBytes);
    const stderr = new PipeFeed(err, command.stderr, onBytes);
    const listen = () => {
      if (!this.#flights.has(command)) return;
      stderr.listen();
      this.#listenToStdout(command, process, stdout);
      // During the start the starter is in the group, with the counters of all its ended children.
      void process.started.then(() => {
        if (this.#flights.has(command)) onLingering(oneShotLimitTarget(command, process, this.terminate.bind(this)));
      });
    };
    const timers = [
      setTimeout(timeOut, spec.timeoutMs),
      // Pending ends are processed first: under load, most commands that seem long-running have already ended.
      setTimeout(() => setImmediate(listen), STREAM_AFTER_MS),
      ...(quiet ? [quiet] : []),
    ];
    const flight: Flight = { ...started, feeds: [stdout, stderr], timers, termination: undefined };
    this.#flights.set(command, flight);
    void process.ended.then((end) => this.#settle(flight, end));
  }

  #listenToStdout(command: Command, { started }: OneShotProcess, feed: PipeFeed): void {
    const isRunning = () => this.#flights.has(command);
    listenUntilClosed({ feed, graceMs: command.spec.closedOutputTimeoutMs, started, isRunning }, () => {
      this.terminate(command, { status: 'killed', killedBy: 'client' });
    });
  }

  async #settle(flight: Flight, end: ProcessEnd): Promise<void> {
    const { command, process, feeds, timers } = flight;
    for (const timer of timers) clearTimeout(timer);
    const how = commandEnd(end, command);
    const { group, numbers } = process;
    const kept = noteKernelActions(
      command,
      { group, numbers, limits: {}, own: [] },
      how.exitCode,
      process.unharmedBy(end),
    );
    let survivors: ProcessEntry[] = [];
    if (command.endReason) {
      await flight.termination;
      survivors = await endProcesses(() => process.findProcesses(), 0);
    }
    const isHeld = feeds.map((feed) => feed.drain()).includes('held');
    const isIsolated = process.isIsolated;
    const hasLeft = !isIsolated && (isHeld || findNewProcesses(process.scope, flight.beginning).length > 0);
    const background = hasLeft ? await this.#findLeft(process, isHeld) : [];
    for (const feed of feeds) feed.release();
    const ownShell = { line: process.shellLine, name: this.#options.shell.shell.name };
    this.#flights.delete(command);
    if (isIsolated) command.stderr.write(process.complaint);
    command.finish({
      ...how,
      survivors: reportProcesses(survivors),
      backgroundProcesses: reportBackgroundProcesses(background, ownShell),
      // In a sandbox they ended with it, before they could be listed.
      warnings: [
        ...(how.warnings ?? []),
        ...kept,
        ...(background.length > 0 || (isHeld && isIsolated) ? [BACKGROUND_ENDED] : []),
      ],
    });
    if (command.spec.stdin !== undefined || command.spec.stdinPipe) process.removeFiles();
    this.#orphanReaper.end(process);
    this.#releasePipes(process.pipes);
    if (!this.#refillTimer) return;
    setImmediate(() => {
      this.#refill();
    });
  }

  /** Returns pipes to the pool once no process holds them. */
  #releasePipes(pipes: PipeSet): void {
    if (this.#pipes.give(pipes)) return;
    setTimeout(() => {
      this.#releasePipes(pipes);
    }, PIPE_RETRY_MS).unref();
  }

  #findLeft(process: OneShotProcess, isHeld: boolean): Promise<ProcessEntry[]> {
    return findBackgroundProcesses({
      scope: process.scope,
      mustBeThere: isHeld,
      isAppearing: ({ pid }) => commandLineOf(pid) === process.shellLine,
    });
  }
}

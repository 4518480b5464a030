import type { SandboxStatus } from '../../core/sandbox/status.js';
import type { SignalName } from '../../core/signals.js';
import { type Command, ENDING_SIGNALS } from '../command/command.js';
import { type EndReason, graceFor } from '../command/outcome.js';
import { listenUntilClosed } from '../output/closed-output.js';
import { PipeFeed } from '../output/pipe-feed.js';
import { endProcesses, sendSignal } from '../process/end-processes.js';
import { type ReportedProcess, reportProcesses } from '../process/reported-process.js';
import type { StartMarker } from '../platform/contract/start-marker.js';
import { noteKernelActions } from '../command/kernel-limits.js';
import type { InstalledShell } from '../shells/list.js';
import {
  BACKGROUND_ENDED,
  cancelledStart,
  commandEnd,
  describeLeft,
  endGroup,
  endRest,
  failedStart,
  leftBy,
} from './one-shot-end.js';
import { oneShotLimitTarget, type OnLongRunning } from './one-shot-limit-target.js';
import type { OneShotProcess } from './one-shot-process.js';
import { OrphanReaper } from './orphan-reaper.js';
import type { ProcessEnd } from './process-starter.js';
import { OneShotStarter } from './one-shot-start.js';
import { PendingWork } from '../system/pending-work.js';
import { WarmShells, type WarmShellsOptions } from './warm-shells.js';

/** Limit of the fast path, in milliseconds: for shorter commands a stream costs more than the command. */
const STREAM_AFTER_MS = 5;

/** Dependencies of `OneShotRunner`. */
export interface OneShotOptions extends WarmShellsOptions {
  readonly killGraceMs: number;
}

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
  readonly #flights = new Map<Command, Flight>();
  /** Commands whose process is being started. */
  readonly #starting = new Set<Command>();
  readonly #shells: WarmShells;
  readonly #starter: OneShotStarter;
  readonly #orphanReaper: OrphanReaper;
  /** Commands that have not ended, or have left pipes, files and a group that are still there. */
  readonly #settling: PendingWork;
  #isClosed = false;

  constructor(options: OneShotOptions) {
    this.#options = options;
    this.#settling = new PendingWork((error) => {
      options.log.error('a command without a session has not ended cleanly', { error: String(error) });
    });
    this.#shells = new WarmShells(options);
    this.#starter = new OneShotStarter(options, this.#shells);
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

  /** Number of commands in flight, without internal ones. */
  get running(): number {
    return [...this.#flights.keys(), ...this.#starting].filter(({ spec }) => spec.isInternal !== true).length;
  }

  /** Starts shells until the configured number is ready. */
  fill(): Promise<void> {
    return this.#shells.fill();
  }

  /**
   * Runs a command; its `finished` resolves at the end.
   * @param onLingering called when the command outlives the fast path
   */
  async run(command: Command, onLingering: OnLongRunning = () => undefined): Promise<void> {
    this.#starting.add(command);
    try {
      if (this.#isClosed) command.requestEnd({ status: 'killed', killedBy: 'shutdown' });
      if (command.spec.stdinPipe) await command.spec.stdinPipe.make();
      command.start();
      const beginning = this.#options.platform.processes.markStart();
      const process = await this.#starter.start(command);
      const flight = this.#follow({ command, process, beginning }, onLingering);
      if (command.endReason) this.#end(flight, command.endReason);
    } catch (error) {
      const { endReason } = command;
      const failed = () => failedStart(command, error as NodeJS.ErrnoException, this.#options.env['PATH']);
      command.finish(endReason ? cancelledStart() : failed());
    } finally {
      this.#starting.delete(command);
    }
  }

  /** Ends a command with all its processes; one that is being started does not run, or ends at once. */
  terminate(command: Command, reason: EndReason): void {
    const flight = this.#flights.get(command);
    const isThere = flight ? !flight.process.hasEnded : this.#starting.has(command);
    if (!isThere || !command.requestEnd(reason) || !flight) return;
    this.#end(flight, reason);
  }

  /**
   * Signals the process group of a command. One that is being started is cancelled by a signal that ends commands.
   * @returns the processes that got the signal
   */
  async signal(command: Command, signal: SignalName): Promise<ReportedProcess[]> {
    if (this.#starting.has(command) && ENDING_SIGNALS.has(signal)) {
      this.terminate(command, { status: 'interrupted', killedBy: 'signal' });
    }
    const process = this.#flights.get(command)?.process;
    await process?.started;
    const { processes } = this.#options.platform;
    const root = process?.root;
    const entry = root && processes.read(root.main);
    if (!entry) return [];
    command.noteSignal(signal);
    const reported = reportProcesses([entry], processes, root);
    return sendSignal(-entry.group, signal) ? reported : [];
  }

  /** Pauses or resumes reading the output of a command (backpressure). */
  holdForClient(command: Command, isHeld: boolean): void {
    for (const feed of this.#flights.get(command)?.feeds ?? []) feed.holdForClient(isHeld);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const running = [...this.#starting, ...this.#flights.keys()];
    for (const command of running) this.terminate(command, { status: 'killed', killedBy: 'shutdown' });
    await Promise.all(running.map((command) => command.finished));
    await Promise.all(this.#settling.all);
    await this.#shells.close();
    await this.#orphanReaper[Symbol.asyncDispose]();
    await this.#shells[Symbol.asyncDispose]();
  }

  #end(flight: Flight, reason: EndReason): void {
    const { command, process, feeds } = flight;
    for (const feed of feeds) feed.holdForClient(false);
    const graceMs = graceFor(reason, this.#options.killGraceMs);
    const end = async () => {
      await process.started;
      const { processes, group, root } = process;
      const onKill = command.noteKilled.bind(command);
      await endProcesses(() => process.findProcesses(), graceMs, { processes, group, root, onKill });
    };
    flight.termination = end().catch(() => endGroup(process, graceMs));
  }

  #follow(started: Pick<Flight, 'command' | 'process' | 'beginning'>, onLingering: OnLongRunning): Flight {
    const { command, process } = started;
    const { spec } = command;
    const timeOut = () => {
      this.terminate(command, { status: 'timed_out', killedBy: 'timeout' });
    };
    const quiet = spec.noOutputTimeoutMs === undefined ? undefined : setTimeout(timeOut, spec.noOutputTimeoutMs);
    const onBytes = () => {
      quiet?.refresh();
    };
    if (process.network) process.network.onRefused = command.noteRefused;
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
    const flight: Flight = { feeds: [stdout, stderr], timers, termination: undefined, ...started };
    this.#flights.set(command, flight);
    const settle = (end: ProcessEnd) => {
      for (const timer of timers) clearTimeout(timer);
      return this.#settle(flight, end);
    };
    this.#settling.add(process.ended.then(settle));
    return flight;
  }

  #listenToStdout(command: Command, { started }: OneShotProcess, feed: PipeFeed): void {
    const isRunning = () => this.#flights.has(command);
    listenUntilClosed({ feed, graceMs: command.spec.closedOutputTimeoutMs, started, isRunning }, () => {
      this.terminate(command, { status: 'killed', killedBy: 'client' });
    });
  }

  async #settle(flight: Flight, end: ProcessEnd): Promise<void> {
    const { command, process, beginning, feeds } = flight;
    const endedAt = performance.now();
    const { group, numbers, isIsolated, processes, complaint } = process;
    const how = commandEnd(end, command, this.#options.env['PATH'], complaint);
    const watched = { group, numbers, isEnding: processes.isEnding, limits: {}, own: [] };
    const kept = noteKernelActions(command, watched, how.exitCode, process.unharmedBy(end));
    // Nothing is awaited without need: most commands end here at once.
    const survivors = command.endReason ? await endRest(process, flight.termination) : [];
    const isHeld = feeds.map((feed) => feed.drain()).includes('held');
    const { background, warnings } = await leftBy(process, beginning, isHeld);
    for (const feed of feeds) feed.release();
    this.#flights.delete(command);
    if (complaint.length > 0) command.errors.write(complaint);
    // In a sandbox they ended with it, before they could be listed.
    const hadBackground = background.length > 0 || (isHeld && isIsolated);
    const shellName = this.#options.shell.shell.name;
    const left = await describeLeft(process, { background, survivors, endedAt, shellName });
    command.finish({
      exitCode: how.exitCode,
      sessionState: how.sessionState,
      workingDirectory: how.workingDirectory,
      ...left,
      warnings: [...(how.warnings ?? []), ...kept, ...warnings, ...(hadBackground ? [BACKGROUND_ENDED] : [])],
    });
    await this.#cleanUp(flight, hadBackground || survivors.length > 0);
  }

  /** @param hasRest whether processes are left, which must not outlive the result for long */
  async #cleanUp({ process }: Flight, hasRest: boolean): Promise<void> {
    if (!hasRest) await nextTurn();
    process.files.remove();
    this.#orphanReaper.end(process);
    this.#shells.releasePipes(process.pipes);
    this.#shells.refillNow();
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

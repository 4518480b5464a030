import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import type { SandboxStatus } from '../../core/sandbox.js';
import type { SignalName } from '../../core/signals.js';
import { settledWithin } from '../../core/time.js';
import { type Command, ENDING_SIGNALS } from '../command/command.js';
import {
  type CommandEnd,
  type EndReason,
  exitCodeOfSignal,
  graceFor,
  unlisted,
  type Warning,
} from '../command/outcome.js';
import { Execution } from '../command/execution.js';
import { noteKernelActions } from '../command/resource-use.js';
import { listenUntilClosed, type PipeFeed } from '../output/output-pipe.js';
import type { ProcessEntry, StartMarker } from '../platform/platform.js';
import { askPatiently } from '../process/process-snapshot.js';
import {
  commandLineOf,
  findBackgroundProcesses,
  findNewProcesses,
  reportBackgroundProcesses,
  type ReportedProcess,
  reportProcesses,
} from '../process/background-processes.js';
import { endProcesses } from '../process/end-processes.js';
import { climb, LADDERS } from '../process/ladder.js';
import { sendSignal } from '../system/signals.js';
import { isPlaceGone } from '../sandbox/sandbox.js';
import type { InstalledShell } from '../shells/list.js';
import { needsFile, needsOwnStart, textArguments } from '../shells/one-shot.js';
import { quote } from '../shells/shell.js';
import { PendingWork } from '../system/promises.js';
import { StageTimer } from '../system/stage-timer.js';
import { oneShotLimitTarget, type OneShotProcess, type OnLongRunning, startWithLimits } from './one-shot-process.js';
import { OrphanReaper } from './orphan-reaper.js';
import type { ProcessEnd } from './process-starter.js';
import type { OneShotProgram } from './start-message.js';
import { type OneShotKind, WarmShells, type WarmShellsOptions } from './warm-shells.js';

/** Warning of a result that lists background processes: unlike a session, a one-shot ends them. */
const BACKGROUND_ENDED: Warning = {
  code: 'BACKGROUND_ENDED',
  message:
    'A one-shot command ends with everything it started: its background processes are being ended. Use a session to keep them.',
};

/**
 * Converts the end of a one-shot's process into a command end.
 * @param path the daemon's PATH
 * @param complaint what bubblewrap has printed
 */
function commandEnd(end: ProcessEnd, command: Command, path?: string, complaint?: Buffer): CommandEnd {
  if (end.kind === 'failed') return failedStart(command, end, path);
  const exitCode = end.kind === 'exited' ? end.exitCode : exitCodeOfSignal(end.signal);
  return { exitCode, sessionState: null, workingDirectory: null, warnings: unmadeSandbox(complaint) };
}

/** Error codes of a machine without free processes, descriptors or memory at the moment. */
const EXHAUSTED: ReadonlySet<string> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);
/** Error codes of a program that cannot be run: the exit code says enough. */
const UNUSABLE: ReadonlySet<string> = new Set(['EACCES', 'ENOEXEC', 'E2BIG']);

/**
 * Returns the end of a command that could not be started, and writes a line to its error output. Exit codes as in shells: 127
 * for a missing program, 126 for one that cannot be run.
 */
function failedStart(
  command: Command,
  { code = '', message }: { code?: string | undefined; message: string },
  path: string | undefined,
): CommandEnd {
  const isMissing = isMissingProgram(command, code, path);
  const reason = isMissing ? 'command not found' : code === 'EACCES' ? 'Permission denied' : message;
  command.errors.write(Buffer.from(`${command.spec.args ? command.spec.command : 'shell-adapter'}: ${reason}\n`));
  const warnings = isMissing || UNUSABLE.has(code) ? [] : [notStarted(code, message)];
  return { exitCode: isMissing ? 127 : 126, sessionState: null, workingDirectory: null, warnings };
}

const notStarted = (code: string, message: string): Warning => ({
  code: EXHAUSTED.has(code) ? 'RESOURCE_EXHAUSTED' : 'NOT_STARTED',
  message: `The command was not run: ${message}`,
});

/** Returns a warning that the command has not run, if a file to hide was removed while its sandbox was started. */
function unmadeSandbox(complaint: Buffer | undefined): readonly Warning[] {
  const text = complaint?.toString().trim() ?? '';
  return isPlaceGone(text) ? [notStarted('', `${text}. It can be sent again`)] : [];
}

/** execvp(3) gives EACCES for a missing program as well, when a folder of PATH may not be searched. */
function isMissingProgram({ spec: { command, args, env } }: Command, code: string, path = ''): boolean {
  if (code === 'ENOENT') return true;
  if (code !== 'EACCES' || !args || command.includes('/')) return false;
  return !(env?.['PATH'] ?? path).split(delimiter).some((folder) => existsSync(join(folder, command)));
}

/** Returns the end of a command that was cancelled before it ran. */
const cancelledStart = (): CommandEnd => ({
  exitCode: exitCodeOfSignal('SIGINT'),
  sessionState: null,
  workingDirectory: null,
  warnings: [notStarted('', 'it was cancelled before its start')],
});

/** Longest wait for filters of an ended command, in milliseconds: what they have not printed by then is lost. */
const FILTER_PATIENCE_MS = 5000;

/** Processes that a command has left running, and a warning if they cannot be listed. */
interface LeftRunning {
  readonly background: readonly ProcessEntry[];
  readonly warnings: readonly Warning[];
}

/**
 * Finds the processes that an ended one-shot has left running: none in a sandbox, where they end with it. A failed search
 * never keeps the command from its end.
 * @param isHeld whether a process still holds its pipes
 */
async function leftBy(flight: Flight, isHeld: boolean): Promise<LeftRunning> {
  try {
    return { background: await askPatiently(() => search(flight, isHeld)), warnings: [] };
  } catch (error) {
    return { background: [], warnings: [unlisted(error)] };
  }
}

async function search(flight: Flight, isHeld: boolean): Promise<ProcessEntry[]> {
  const { process, beginning } = flight;
  if (process.isIsolated) return [];
  const { scope, shellLine } = process;
  const mayHaveLeft = await scope.processes.ask(() => isHeld || findNewProcesses(scope, beginning).length > 0);
  if (!mayHaveLeft) return [];
  return findBackgroundProcesses({
    scope,
    output: flight.leftOutput(FILTER_PATIENCE_MS),
    isAppearing: ({ pid }) => commandLineOf(pid, scope.processes) === shellLine,
  });
}

/**
 * Ends what is still running of a terminated command.
 * @returns the processes that survive, as far as they can be listed
 */
async function endRest(process: OneShotProcess, termination: Promise<unknown> | undefined): Promise<ProcessEntry[]> {
  await termination;
  return endProcesses(() => process.findProcesses(), 0, { processes: process.processes }).catch(() => []);
}

async function endGroup({ pid, ended }: OneShotProcess, graceMs: number): Promise<void> {
  if (pid === undefined) return;
  await climb(LADDERS.unlistedOneShot, performance.now() + graceMs, {
    send: (signal) => sendSignal(-pid, signal),
    endsWithin: (ms) => settledWithin(ended, ms),
  });
}

/** The processes that an ended command has left. */
interface Left {
  readonly background: readonly ProcessEntry[];
  readonly survivors: readonly ProcessEntry[];
  /** End of the command on the monotonic clock: a list of processes since then is new enough. */
  readonly endedAt: number;
  readonly shellName: string;
}

/** Describes what a command has left, for its result; nothing where processes cannot be listed. */
async function describeLeft(
  { processes, shellLine }: OneShotProcess,
  { background, survivors, endedAt, shellName }: Left,
): Promise<Pick<CommandEnd, 'survivors' | 'backgroundProcesses'>> {
  const describe = () => ({
    survivors: reportProcesses(survivors, processes),
    backgroundProcesses: reportBackgroundProcesses(background, { line: shellLine, name: shellName }, processes),
  });
  try {
    return await processes.ask(describe, endedAt);
  } catch {
    return {};
  }
}

/** Starts commands without a session: a text in a warm shell, a program with arguments without one. */
class OneShotStarter {
  readonly #options: WarmShellsOptions;
  readonly #shells: WarmShells;

  constructor(options: WarmShellsOptions, shells: WarmShells) {
    this.#options = options;
    this.#shells = shells;
  }

  /** Starts a command; rejects with the system's error when that is not possible. */
  start(command: Command): Promise<OneShotProcess> {
    const program = this.#programOf(command);
    return program ? this.#startProgram(command, program) : this.#startText(command);
  }

  /**
   * Returns the program that is started with the variables of the command: its own, or a shell that would not take them
   * later. Undefined where a waiting shell runs it: also for another user, since what changes the user runs as root, and
   * must not get the command's variables, such as LD_PRELOAD.
   */
  #programOf({ spec }: Command): Pick<OneShotProgram, 'file' | 'args'> | undefined {
    const { launcher, shell } = this.#options;
    if (launcher.owner) return undefined;
    if (spec.args) return { file: spec.command, args: spec.args };
    if (!needsOwnStart(spec.env) || needsFile(spec.command)) return undefined;
    return { file: shell.path, args: textArguments(shell, spec.command) };
  }

  async #startProgram(command: Command, program: Pick<OneShotProgram, 'file' | 'args'>): Promise<OneShotProcess> {
    const { spec } = command;
    const process = await this.#shells.start({
      ...program,
      cwd: spec.cwd ?? this.#options.cwd,
      env: { ...this.#options.env, ...spec.env },
      stdin: spec.stdin ?? spec.stdinPipe,
      takesRequest: false,
      isMerged: spec.isMerged,
      ...this.#kindOf(command),
    });
    startWithLimits(command, process);
    return process;
  }

  async #startText(command: Command): Promise<OneShotProcess> {
    const { spec } = command;
    const process = await this.#shells.take(this.#kindOf(command));
    startWithLimits(command, process);
    try {
      if (command.endReason) throw new Error('the command was cancelled before its start');
      const stdinFile = process.files.placeStdin(spec.stdin ?? spec.stdinPipe);
      process.sendRequest(this.#options.shell, { stdinFile, text: textOf(spec), ...spec });
    } catch (error) {
      this.#shells.dismiss(process);
      throw error;
    }
    this.#shells.refillSoon();
    return process;
  }

  #kindOf({ spec }: Command): OneShotKind {
    return this.#shells.kindOf(spec.sandbox, spec.resourceLimits ?? {});
  }
}

/** The text that a shell runs for a command: a program with arguments takes its place. */
function textOf({ command, args }: Command['spec']): string {
  if (!args) return command;
  // bash would take the name for an option of `exec`, and dash has no `--`.
  if (command.startsWith('-')) return `printf '%s: command not found\\n' ${quote(command)} >&2; exit 127`;
  return `exec ${[command, ...args].map(quote).join(' ')}`;
}

/** Limit of the fast path, in milliseconds: for shorter commands a stream costs more than the command. */
const STREAM_AFTER_MS = 5;

/** Dependencies of `OneShotRunner`. */
export interface OneShotOptions extends WarmShellsOptions {
  readonly killGraceMs: number;
}

/** A one-shot command in flight. */
class Flight extends Execution {
  readonly process: OneShotProcess;
  readonly beginning: StartMarker;
  termination: Promise<unknown> | undefined;

  constructor(command: Command, process: OneShotProcess, beginning: StartMarker) {
    super(command, process.pipes);
    this.process = process;
    this.beginning = beginning;
  }
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
      const flight = this.#follow(new Flight(command, process, beginning), onLingering);
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
    if (flight?.process.hasEnded) flight.mayLinger = false;
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
    const flight = this.#flights.get(command);
    if (flight?.process.hasEnded && ENDING_SIGNALS.has(signal)) flight.mayLinger = false;
    const process = flight?.process;
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
    this.#flights.get(command)?.holdForClient(isHeld);
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
    const { command, process } = flight;
    flight.holdForClient(false);
    const graceMs = graceFor(reason, this.#options.killGraceMs);
    const end = async () => {
      await process.started;
      const { processes, group, root } = process;
      const onKill = command.noteKilled.bind(command);
      await endProcesses(() => process.findProcesses(), graceMs, { processes, group, root, onKill });
    };
    flight.termination = end().catch(() => endGroup(process, graceMs));
  }

  #follow(flight: Flight, onLingering: OnLongRunning): Flight {
    const { command, process } = flight;
    if (process.network) process.network.onRefused = command.noteRefused;
    const timer = new StageTimer(STREAM_AFTER_MS, () => {
      this.#listen(flight, onLingering);
    });
    const timeOut = () => {
      this.terminate(command, { status: 'timed_out', killedBy: 'timeout' });
    };
    timer.set(flight.timeOuts(command.spec.timeoutMs, timeOut));
    this.#flights.set(command, flight);
    const settle = (end: ProcessEnd) => {
      timer[Symbol.dispose]();
      return this.#settle(flight, end);
    };
    this.#settling.add(process.ended.then(settle));
    return flight;
  }

  /** Streams the output of a command that outlives the fast path. */
  #listen(flight: Flight, onLingering: OnLongRunning): void {
    const { command, process, stdout, stderr } = flight;
    if (!this.#flights.has(command)) return;
    stderr.listen();
    this.#listenToStdout(command, process, stdout);
    // During the start the starter is in the group, with the counters of all its ended children.
    void process.started.then(() => {
      if (this.#flights.has(command)) onLingering(oneShotLimitTarget(command, process, this.terminate.bind(this)));
    });
  }

  #listenToStdout(command: Command, { started }: OneShotProcess, feed: PipeFeed): void {
    const isRunning = () => this.#flights.has(command);
    listenUntilClosed({ feed, graceMs: command.spec.closedOutputTimeoutMs, started, isRunning }, () => {
      this.terminate(command, { status: 'killed', killedBy: 'client' });
    });
  }

  async #settle(flight: Flight, end: ProcessEnd): Promise<void> {
    const { command, process } = flight;
    const endedAt = performance.now();
    const { group, numbers, isIsolated, processes, complaint } = process;
    const how = commandEnd(end, command, this.#options.env['PATH'], complaint);
    const watched = { group, numbers, isEnding: processes.isEnding, limits: {}, own: [] };
    const kept = noteKernelActions(command, watched, how.exitCode, process.unharmedBy(end));
    // Nothing is awaited without need: most commands end here at once.
    const survivors = command.endReason ? await endRest(process, flight.termination) : [];
    const isHeld = flight.drain();
    const { background, warnings } = await leftBy(flight, isHeld);
    if (isHeld) flight.drain();
    flight.release();
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

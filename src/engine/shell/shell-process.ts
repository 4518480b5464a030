import { existsSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';

import type { Refusal } from '../../core/egress.js';
import { AdapterError } from '../../core/errors.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import type { Command } from '../command/command.js';
import type { ProcessGroup } from '../limits/mechanism.js';
import { placeStdin, type StdinPipe } from '../output/stdin-pipe.js';
import { type Platform, type Processes, TAG_VARIABLE } from '../platform/platform.js';
import { isSandboxed, plainRoot, type ProcessRoot, sandboxRoot } from '../process/find-processes.js';
import { MARK_VARIABLE, markOf } from '../process/session-mark.js';
import type { Launcher } from '../sandbox/launcher.js';
import type { SandboxNetwork } from '../sandbox/sandbox-networks.js';
import type { InstalledShell } from '../shells/list.js';
import { DRIVER_FILES, type DriverRequest, type Shell, type SurroundingText } from '../shells/shell.js';
import { closeAll, drain, openBoth, sharedReadBuffer } from '../system/fifo.js';
import type { FileOwner } from '../system/own-user.js';
import { randomText } from '../system/random.js';
import { Turns } from '../system/promises.js';
import { type CommandPipes, firstFifos, PipePool, pipesName, writeFile, writeText } from './pipe-pool.js';
import { Terminal, type TerminalExit, type TerminalProgram } from './terminal.js';

/** Tells whether a shell still runs its driver, as opposed to a program that has replaced it. */
class DriverPresence {
  readonly #platform: Platform;
  /** What the shell shows with its driver; only where open files are not known. */
  #programAtStart: string | undefined;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Notes what the shell looks like with its driver; undefined where there is nothing to note. */
  note(pid: number): Promise<undefined> | undefined {
    const { can, processes } = this.#platform;
    if (can.openFiles) return undefined;
    processes.followProgram(pid);
    // What was listed before the shell was executed shows another program.
    const note = () => {
      this.#programAtStart = processes.programOf(pid);
      return undefined;
    };
    // Measured, so that its start does not count for its first command.
    return processes.ask(note, 'new', 'all');
  }

  /**
   * Whether the driver is there.
   * @param paths of the driver's FIFOs, of which it always holds one
   */
  isIn(pid: number, paths: readonly string[]): boolean {
    const { can, processes } = this.#platform;
    if (!can.openFiles) return processes.programOf(pid) === this.#programAtStart;
    return paths.some((path) => processes.holdsDescriptorOf(pid, path));
  }
}

/** Exit code of a driver that could not open its files: EX_OSERR of sysexits.h. */
const EX_OSERR = 71;

/** Options of a shell process. */
export interface ShellProcessOptions {
  readonly installed: InstalledShell;
  /** Directory with the FIFOs `cmd`, `ctl` and those of the first slots. */
  readonly directory: string;
  readonly tag: string;
  /** The process group of the shell and its processes. */
  readonly group: ProcessGroup;
  readonly platform: Platform;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
  readonly launcher: Launcher;
  readonly profile: SandboxProfile;
  /** Whether any resource limit applies to the shell. */
  readonly isLimited: boolean;
  /** The network of its sandbox, if that has one of its own. */
  readonly network?: SandboxNetwork | undefined;
}

/**
 * Returns the program of a shell's terminal: the shell with its driver, in its surroundings.
 * @throws AdapterError SHELL_FAILED when the driver is not there any more
 * @param isIsolated whether it has its own PID namespace
 */
function shellProgram(options: ShellProcessOptions, isIsolated: boolean): TerminalProgram {
  const { installed, directory, tag, cwd, env, cols, rows, launcher, profile, isLimited, network } = options;
  const { driver } = installed.shell;
  // Without it the shell would come up, and never be ready.
  if (!existsSync(driver)) {
    const message = `${driver} is missing: the installation has changed since the daemon was started; restart the daemon`;
    throw new AdapterError('SHELL_FAILED', message);
  }
  const invocation = installed.shell.session(directory, isIsolated);
  const command = [...(invocation.launcher ?? []), installed.path, ...invocation.args];
  const launch = { profile, isLimited, command, env, directory, ownFiles: DRIVER_FILES, cwd, network };
  const [file = installed.path, ...args] = launcher.wrap(launch);
  const markers = { [TAG_VARIABLE]: tag, [MARK_VARIABLE]: markOf(tag) };
  const variables = { ...env, ...invocation.env, ...markers };
  return { file, args, cwd: launcher.startDirectory(cwd), env: variables, cols, rows, owner: launcher.owner };
}

/** The error of a shell whose next start may succeed: it was not ready in time, or something has killed it. */
export class FailedStart extends AdapterError {
  constructor(message: string) {
    super('SHELL_FAILED', message);
  }
}

/** The error of a shell that has ended before its driver was ready. */
function endAtStart(path: string, { exitCode, signal }: TerminalExit, output: string): AdapterError {
  if (signal !== 0) return new FailedStart(`${path} was killed by signal ${signal} at its start`);
  if (exitCode !== EX_OSERR) {
    const what = output === '' ? '' : `: ${output}`;
    return new AdapterError('SHELL_FAILED', `${path} ended with code ${exitCode} at its start${what}`);
  }
  const message = `${path} could not open its files: the limit of open files (ulimit -n) is too low`;
  return new AdapterError('RESOURCE_EXHAUSTED', message);
}

/** TERM of a command with its own terminal. */
const TTY_TERM = 'xterm-256color';

/** A request to the driver. */
export interface ShellRequest {
  readonly slot: CommandPipes;
  readonly text: string;
  /** Number of the command in its session; part of the tag of its processes. */
  readonly number: number;
  readonly stdin?: string | StdinPipe | undefined;
  readonly isOnTerminal: boolean;
  readonly surroundings?: SurroundingText | undefined;
}

/** Returns the driver request of a command. */
export function requestFor(command: Command, shell: Shell, slot: CommandPipes, number: number): ShellRequest {
  const { tty, env: own, cwd, stdinPipe, stdin = stdinPipe } = command.spec;
  const env = tty ? { TERM: TTY_TERM, ...own } : own;
  const text = command.textFor(shell);
  const steps = shell.stepsBefore?.(text) ?? [];
  const isSurrounded = env || cwd !== undefined || steps.length > 0;
  const surroundings = isSurrounded ? shell.surround({ env, cwd, steps }) : undefined;
  return { slot, text, number, stdin, isOnTerminal: tty, surroundings };
}

const NONCE_BYTES = 16;
/** Placeholder for the nonce, of 22 characters, where no report is expected. */
const NO_NONCE = '0'.repeat(22);

/** The shell that reads the requests. */
interface ReadingShell {
  readonly installed: InstalledShell;
  readonly directory: string;
  /** The user of the shell, if it is not the daemon's. */
  readonly owner: FileOwner | undefined;
  readonly hasExited: () => boolean;
}

/** The FIFO from which a driver reads requests. */
class RequestPipe implements Disposable {
  /** Where it is. */
  readonly path: string;
  readonly #shell: ReadingShell;
  #fd: number | undefined;
  #last = '';
  /** Whether the last request was written a second time. */
  #isRepeated = false;

  constructor(shell: ReadingShell) {
    this.#shell = shell;
    this.path = join(shell.directory, 'cmd');
  }

  /** Opens it. */
  open(): void {
    this.#fd = openBoth(this.path);
  }

  /** Sends a command to the driver. Returns the nonce that identifies its report. */
  send(request: ShellRequest): string {
    const { slot, surroundings, stdin } = request;
    let mode = stdin === undefined ? (request.isOnTerminal ? 't' : 'o') : request.isOnTerminal ? 'u' : 'i';
    const path = join(this.#shell.directory, slot.name);
    if (stdin !== undefined) {
      slot.files.push(`${path}.in`);
      placeStdin(`${path}.in`, stdin, this.#shell.owner);
    }
    if (surroundings) {
      writeFile(slot, `${path}.pre`, surroundings.before);
      writeFile(slot, `${path}.post`, surroundings.after);
      mode = mode.toUpperCase();
    }
    const nonce = randomText(NONCE_BYTES);
    const { text, number } = request;
    this.#send({ mode, slot: slot.name, number: commandNumber(number), nonce, text }, slot);
    return nonce;
  }

  /**
   * Asks the shell to save the state that a replacement would need, and to restore the terminal's modes, as soon as it
   * is idle.
   * @param names variables whose values it shows at the start of the state
   */
  askToSave(mustTidy: boolean, names: readonly string[] = []): void {
    this.#ask(mustTidy ? 'r' : 's', names.join(' '));
  }

  /** Asks a shell that waits for requests to report a command that it has not reported: see `Shell.reportLine`. */
  askToReport(): void {
    const { reportLine } = this.#shell.installed.shell;
    if (reportLine !== undefined) this.#write(reportLine);
  }

  /** Writes the last request again for a shell that is back at its prompt: see `Shell.takesRequestsOnce`. */
  repeatLast(): void {
    if (this.#shell.installed.shell.takesRequestsOnce !== true) return;
    this.#isRepeated = true;
    this.#write(this.#last);
  }

  /** Asks the shell to exit, so that its EXIT trap runs. */
  askToExit(): void {
    this.#ask('q');
  }

  /**
   * Takes back a request of a shell that has ended.
   * @returns whether its command has certainly not started, and can run elsewhere: its nonce is still in the pipe. A
   * process that is killed while it waits for input still consumes input that arrives at that moment; but it waits for
   * the start of a request, which is read apart from the nonce.
   */
  takeBack(nonce: string): boolean {
    if (this.#fd === undefined || this.#isRepeated) return false;
    let unread = '';
    drain(this.#fd, (chunk) => {
      unread += chunk.toString('latin1');
    });
    return unread.includes(nonce);
  }

  [Symbol.dispose](): void {
    closeAll([this.#fd]);
    this.#fd = undefined;
  }

  /** Sends a request; `slot` is that of its command. */
  #send(request: DriverRequest, slot?: CommandPipes): void {
    const { line, file } = this.#shell.installed.shell.request(request);
    if (slot && file !== undefined) writeText(slot, file);
    this.#last = line;
    this.#isRepeated = false;
    this.#write(line);
  }

  #write(line: string): void {
    if (this.#fd !== undefined && !this.#shell.hasExited()) writeSync(this.#fd, line);
  }

  #ask(mode: 's' | 'r' | 'q', text = ''): void {
    if (this.#shell.hasExited()) return;
    this.#send({ mode, slot: pipesName(0), number: commandNumber(0), nonce: NO_NONCE, ...(text !== '' && { text }) });
  }
}

/** The number of a command, in requests and in the tag of its processes. */
const commandNumber = (number: number): string => String(number % 1_000_000).padStart(6, '0');

/** Longest valid report: a directory name and some numbers. Longer ones are not from the driver. */
const MAX_REPORT_BYTES = 16 * 1024;

/** Report of the driver when a command has ended. */
export interface ShellReport {
  /**
   * The command's nonce; `ready` when the driver has started, `idle` when the shell is back at its prompt, `lost` when
   * it cannot read a command.
   */
  readonly nonce: string;
  readonly exitCode: number;
  /** `$!`: the newest background process of the shell itself, 0 for none. */
  readonly backgroundPid: number;
  readonly workingDirectory: string;
}

/** Reads reports from a FIFO, until the returned socket is destroyed. */
function readReports(path: string, onReport: (report: ShellReport) => void): Socket {
  let partial = '';
  const take = (text: string) => {
    const parts = (partial + text).split('\0');
    const rest = parts.pop() ?? '';
    partial = rest.length > MAX_REPORT_BYTES ? '' : rest;
    for (const part of parts) onReport(parseReport(part));
  };
  const onread = {
    buffer: sharedReadBuffer,
    callback: (length: number) => {
      take(sharedReadBuffer.toString('utf8', 0, length));
      return true;
    },
  };
  const options = { fd: openBoth(path), readable: true, writable: false, onread };
  const reports = new Socket(options);
  // Both ends are open here, so a read cannot fail before the end, which destroys the socket.
  reports.on('error', () => reports.destroy());
  return reports;
}

function parseReport(text: string): ShellReport {
  const [nonce = '', exitCode = '', backgroundPid = ''] = text.split(' ', 3);
  const workingDirectory = text.slice(nonce.length + exitCode.length + backgroundPid.length + 3);
  return { nonce, exitCode: Number(exitCode), backgroundPid: Number(backgroundPid), workingDirectory };
}

/** Most characters that are kept of the output of a shell that fails to start. */
const MAX_COMPLAINT = 300;
/** Receives the events of a shell. Replaced when the shell passes from the pool to a session. */
export interface ShellListener {
  onReport(report: ShellReport): void;
  onTerminalData(chunk: Buffer): void;
  onExit(exit: TerminalExit): void;
  /** The allow-list of the sandbox has refused a connection. */
  readonly onRefused: (refusal: Refusal) => void;
}

/** Returns the FIFOs that a shell's directory needs before the shell starts. */
export function shellFifos(directory: string): string[] {
  return [join(directory, 'cmd'), join(directory, 'ctl'), ...firstFifos(directory)];
}

/** One interactive shell on its own terminal, run by its driver: accepts requests and delivers reports. */
export class ShellProcess {
  readonly installed: InstalledShell;
  readonly directory: string;
  readonly tag: string;
  readonly group: ProcessGroup;
  readonly profile: SandboxProfile;
  /** What its sandbox protects: `protectionOf` of the launcher. */
  readonly protection: string;
  readonly network: SandboxNetwork | undefined;
  /** Whether the shell has its own PID namespace, in a sandbox or alone. */
  readonly isIsolated: boolean;
  readonly terminal: Terminal;
  readonly platform: Platform;
  readonly processes: Processes;
  /** See `SignalledShell`. */
  readonly stops = new Turns();
  /**
   * When the shell has reported the end of its last command, on the monotonic clock, in milliseconds. Infinity while it runs
   * one, and before the first.
   */
  idleSince = Infinity;
  /** Where the driver takes its requests from. */
  readonly requests: RequestPipe;
  /** The user of the shell, if it is not the daemon's. */
  readonly owner: FileOwner | undefined;
  /** Resolves when the driver waits for its first command; rejects when the shell ends before. */
  readonly ready: Promise<void>;
  readonly #driver: DriverPresence;
  readonly #reports: Socket | undefined;
  readonly #slots: PipePool;
  #listener: ShellListener | undefined;
  #root: ProcessRoot;
  /** Terminal output as long as there is no listener: the reason why a shell fails to start. */
  #startOutput = '';
  #isClosed = false;
  #settleReady!: (error?: Error) => void;

  constructor(options: ShellProcessOptions) {
    const { installed, directory, tag, group, profile, network } = options;
    this.installed = installed;
    this.profile = profile;
    this.protection = options.launcher.protectionOf(profile);
    this.network = network;
    this.isIsolated = options.launcher.isolates(options);
    this.directory = directory;
    this.tag = tag;
    this.group = group;
    this.platform = options.platform;
    this.processes = options.platform.processes;
    this.#driver = new DriverPresence(options.platform);
    this.owner = options.launcher.owner;
    this.#slots = new PipePool(directory, this.owner);
    const hasExited = () => this.terminal.hasExited;
    this.requests = new RequestPipe({ installed, directory, owner: this.owner, hasExited });
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = (error) => {
        if (error) reject(error);
        else resolve();
      };
    });
    // A caller that awaits `ready` receives the error; without one it must not become an unhandled rejection.
    this.ready.catch(() => undefined);
    try {
      this.requests.open();
      this.#reports = readReports(this.reportPath, (report) => {
        this.#takeReport(report);
      });
      this.#slots.open();
      this.terminal = this.#startTerminal(options);
      this.#root = plainRoot(this.terminal.pid);
    } catch (error) {
      // EMFILE: the descriptors that were opened are needed elsewhere.
      this.#closeDescriptors();
      throw error;
    }
  }

  /** Process id of the shell, in the daemon's namespace. */
  get pid(): number {
    return this.#root.main;
  }

  /** The processes that belong to the shell itself. */
  get root(): ProcessRoot {
    return this.#root;
  }

  /** Maps a path as the shell sees it to a path that the daemon can open. */
  see(path: string): string {
    return isSandboxed(this.#root) && !this.terminal.hasExited
      ? this.processes.pathInside(this.#root.main, path)
      : path;
  }

  /**
   * Whether the shell still holds one of its driver's FIFOs, as it does even while a command runs. A program that has
   * replaced the shell does not.
   */
  get hasDriver(): boolean {
    return this.#driver.isIn(this.pid, [this.reportPath, this.requests.path]);
  }

  /** Whether the shell is ready for a request, or is reading one: see `Shell.requestFd`. */
  get holdsRequests(): boolean {
    const { requestFd } = this.installed.shell;
    if (requestFd === undefined) return this.processes.holdsDescriptorOf(this.pid, this.requests.path);
    return this.processes.descriptorTarget(this.pid, requestFd) === this.requests.path;
  }

  /** Whether the shell may be about to start the rest of a pipeline, which an interrupt would miss. */
  get mayStartMore(): boolean {
    return this.installed.shell.losesInterruptOfHalfPipeline === true && !this.processes.isWaiting(this.pid);
  }

  /** Whether the FIFOs that commands need still exist. */
  get hasItsFiles(): boolean {
    return existsSync(this.requests.path);
  }

  /** Path of the FIFO that an active driver always holds open. */
  get reportPath(): string {
    return join(this.directory, 'ctl');
  }

  /** Sets the receiver of later events. */
  set listener(listener: ShellListener) {
    this.#listener = listener;
    if (this.network) this.network.onRefused = listener.onRefused;
  }

  /**
   * Returns a free slot immediately, or creates another one.
   * @param isMerged whether both streams are one pipe
   */
  takeSlot(isMerged = false): CommandPipes | Promise<CommandPipes> {
    return this.#slots.take(isMerged);
  }

  /** Returns a slot to the pool once no process holds its pipes any more. */
  returnSlot(slot: CommandPipes): void {
    if (this.#isClosed) return;
    this.#slots.give(slot);
  }

  /** Sends a command to the driver. Returns the nonce that identifies its report. */
  send(request: ShellRequest): string {
    const nonce = this.requests.send(request);
    this.idleSince = Infinity;
    return nonce;
  }

  /** Returns the tag of the processes of one command. */
  commandTag(number: number): string {
    return `${this.tag}.${commandNumber(number)}`;
  }

  /** Closes the terminal and every descriptor; ending the processes is up to the caller. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.terminal.close();
    this.#closeDescriptors();
  }

  #closeDescriptors(): void {
    this.#reports?.destroy();
    this.requests[Symbol.dispose]();
    this.#slots.close();
  }

  #startTerminal(options: ShellProcessOptions): Terminal {
    const { installed, launcher, profile } = options;
    const program = shellProgram(options, this.isIsolated);
    const onData = (chunk: Buffer) => {
      if (this.#listener) this.#listener.onTerminalData(chunk);
      else this.#startOutput = (this.#startOutput + chunk.toString('utf8')).slice(-MAX_COMPLAINT);
    };
    const onExit = (exit: TerminalExit) => {
      launcher.forget(terminal);
      this.#settleReady(endAtStart(installed.path, exit, this.#startOutput.trim()));
      this.#listener?.onExit(exit);
    };
    const terminal = new Terminal(program, onData, onExit);
    launcher.keepHidden(profile, terminal);
    this.platform.makeFirstVictim(terminal.pid);
    return terminal;
  }

  #becomeReady(): void {
    if (this.isIsolated) this.#root = sandboxRoot(this.terminal.pid, this.processes) ?? this.#root;
    const noted = this.#driver.note(this.pid);
    if (noted) void noted.then(() => this.#settleReady(), this.#settleReady);
    else this.#settleReady();
  }

  #takeReport(report: ShellReport): void {
    if (report.nonce === 'ready') this.#becomeReady();
    else if (report.nonce === 'idle') {
      this.terminal.write('\n');
      this.requests.repeatLast();
    } else this.#listener?.onReport(report);
  }
}

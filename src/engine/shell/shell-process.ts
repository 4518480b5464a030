import { existsSync, openSync, writeFileSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import { closeAll, drain, openBoth } from '../system/fifo.js';
import { randomBytes } from '../system/random.js';
import type { ProcessGroup } from '../limits/mechanism.js';
import { makeFirstVictim } from '../limits/oom-score.js';
import { isSandboxed, plainRoot, type ProcessRoot, sandboxRoot } from '../process/process-root.js';
import { bytesWrittenIn, holdsDescriptorOf, pathInside, TAG_VARIABLE } from '../process/process-table.js';
import type { Launcher } from '../sandbox/launcher.js';
import type { InstalledShell } from '../shells/list.js';
import { DRIVER_FILES } from '../shells/shell.js';
import { MARK_VARIABLE, markOf } from '../process/session-mark.js';
import type { ShellRequest } from './shell-request.js';
import { readSmallDescriptor } from '../system/small-file.js';
import { readReports, type ShellReport } from './shell-reports.js';
import { placeStdin } from '../output/stdin-pipe.js';
import { firstFifos, wasRead, type CommandPipes, pipesName, PipePool, writeText } from './pipe-pool.js';
import { Terminal, type TerminalExit } from './terminal.js';

const NONCE_BYTES = 16;
/** Stands in the place of the nonce, of 22 characters, where no report is awaited. */
const NO_NONCE = '0'.repeat(22);
/** How a driver says that it could not open its files: EX_OSERR of sysexits.h. */
const EX_OSERR = 71;
/** Most characters of what a shell says that does not come up. */
const MAX_COMPLAINT = 300;
/** Who is told what a shell does. Replaced when the shell passes from the pool to a session. */
export interface ShellListener {
  onReport(report: ShellReport): void;
  onTerminalData(chunk: Buffer): void;
  onExit(exit: TerminalExit): void;
}

/** What a shell is started with. */
export interface ShellProcessOptions {
  readonly installed: InstalledShell;
  /** Directory with the FIFOs `cmd`, `ctl` and those of the first slots. */
  readonly directory: string;
  readonly tag: string;
  /** What its processes will belong to. */
  readonly group: ProcessGroup;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
  readonly launcher: Launcher;
  readonly profile: SandboxProfile;
  /** Whether there is any limit on what it may use. */
  readonly isLimited: boolean;
}

/** FIFOs that a shell's directory needs before the shell starts. */
export function shellFifos(directory: string): string[] {
  return [join(directory, 'cmd'), join(directory, 'ctl'), ...firstFifos(directory)];
}

/** One interactive shell on a terminal of its own, run by its driver: takes requests, gives reports. */
export class ShellProcess {
  readonly installed: InstalledShell;
  readonly directory: string;
  readonly tag: string;
  readonly group: ProcessGroup;
  readonly profile: SandboxProfile;
  /** Whether it has process ids of its own, in a sandbox or a mere namespace. */
  readonly isIsolated: boolean;
  readonly terminal: Terminal;
  /** Resolves when the driver waits for its first command; rejects when the shell ends before. */
  readonly ready: Promise<void>;
  readonly #requests: number | undefined;
  readonly #reports: Socket | undefined;
  readonly #slots: PipePool;
  #listener: ShellListener | undefined;
  #root: ProcessRoot;
  /** Open file of what it has written; undefined until that is asked for. */
  #io: number | undefined;
  /** What the terminal has shown so far, while nobody listens: why a shell that does not come up says it does not. */
  #complaint = '';
  #isClosed = false;
  /** Whether this shell's readings show: not through a read-only mount, as in sandboxes, or with `noatime`. Undefined before the first. */
  #showsReadings: boolean | undefined;
  #settleReady!: (error?: Error) => void;

  constructor(options: ShellProcessOptions) {
    const { installed, directory, tag, group, profile } = options;
    this.installed = installed;
    this.profile = profile;
    this.isIsolated = options.launcher.isolates(options);
    this.directory = directory;
    this.tag = tag;
    this.group = group;
    this.#slots = new PipePool(directory);
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = (error) => {
        if (error) reject(error);
        else resolve();
      };
    });
    // Whoever waits for it gets the error; nobody has to.
    this.ready.catch(() => undefined);
    try {
      this.#requests = openBoth(join(directory, 'cmd'));
      this.#reports = readReports(this.reportPath, (report) => {
        this.#takeReport(report);
      });
      this.#slots.open();
      this.terminal = this.#startTerminal(options);
      this.#root = plainRoot(this.terminal.pid);
    } catch (error) {
      // Out of descriptors: the ones that were had are needed elsewhere.
      this.#closeDescriptors();
      throw error;
    }
  }

  /** Process id of the shell, as the daemon sees it. */
  get pid(): number {
    return this.#root.main;
  }

  /** The processes that belong to the shell itself. */
  get root(): ProcessRoot {
    return this.#root;
  }

  /**
   * Bytes that the shell, and the children it has waited for, have caused to be written to disks: 3 µs. Undefined when that
   * is not told.
   */
  get writtenBytes(): number | undefined {
    if (this.#isClosed) return undefined;
    try {
      this.#io ??= openSync(`/proc/${this.pid}/io`, 'r');
      return bytesWrittenIn(readSmallDescriptor(this.#io));
    } catch {
      // ENOENT, ESRCH: it has ended. EMFILE.
      return undefined;
    }
  }

  /** A path in the shell's eyes, as the daemon reaches it. */
  see(path: string): string {
    return isSandboxed(this.#root) && !this.terminal.hasExited ? pathInside(this.#root.main, path) : path;
  }

  /**
   * Whether the shell still holds its driver's FIFOs, or one of them, as it does even while a command runs. A program
   * that has replaced it does not.
   */
  get hasDriver(): boolean {
    return holdsDescriptorOf(this.pid, this.reportPath) || holdsDescriptorOf(this.pid, this.requestPath);
  }

  /** Whether the pipes that commands need are still where they were. */
  get hasItsFiles(): boolean {
    return existsSync(this.requestPath);
  }

  /** Path of the FIFO on which the driver waits for requests. */
  get requestPath(): string {
    return join(this.directory, 'cmd');
  }

  /** Path of the FIFO that a driver in charge always holds open. */
  get reportPath(): string {
    return join(this.directory, 'ctl');
  }

  /** Sets who is told from now on. */
  set listener(listener: ShellListener) {
    this.#listener = listener;
  }

  /** Gives a free slot at once, or makes one more. */
  takeSlot(): CommandPipes | Promise<CommandPipes> {
    return this.#slots.take();
  }

  /** Gives a slot back when nobody holds its pipes any more. */
  returnSlot(slot: CommandPipes): void {
    if (this.#isClosed) return;
    this.#showsReadings ??= wasRead(slot);
    this.#slots.give(slot);
  }

  /** Hands a command to the driver. Gives the nonce by which its report is known. */
  send(request: ShellRequest): string {
    const { slot, surroundings, stdin } = request;
    const path = join(this.directory, slot.name);
    let mode = stdin === undefined ? (request.isOnTerminal ? 't' : 'o') : request.isOnTerminal ? 'u' : 'i';
    if (stdin !== undefined) placeStdin(`${path}.in`, stdin);
    if (surroundings) {
      writeFileSync(`${path}.pre`, surroundings.before, { mode: 0o600 });
      writeFileSync(`${path}.post`, surroundings.after, { mode: 0o600 });
      mode = mode.toUpperCase();
    }
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    const { shell } = this.installed;
    const driverRequest = { mode, slot: slot.name, number: commandNumber(request.number), nonce };
    writeText(slot, shell.commandFile(request.text, driverRequest));
    this.#write(shell.request(driverRequest));
    return nonce;
  }

  /** Asks the shell to save what a new one would need, and to tidy its terminal, once it has nothing else to do. */
  askToSave(mustTidy: boolean): void {
    this.#ask(mustTidy ? 'r' : 's');
  }

  /** Asks the shell to end by itself, so that its EXIT trap runs. */
  askToExit(): void {
    this.#ask('q');
  }

  /** Tag of the processes of one command. */
  commandTag(number: number): string {
    return `${this.tag}.${commandNumber(number)}`;
  }

  /** Closes the terminal and every descriptor; the processes are the caller's to end. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.terminal.close();
    this.#closeDescriptors();
  }

  /**
   * Takes back a request of a shell that has ended.
   * @returns whether its command has certainly not begun, and can run elsewhere: the shell has not read the request; or
   *   no more than that, where it shows, for a process that is killed while it waits for input still takes what comes at that moment.
   */
  takeBackRequest(nonce: string, slot: CommandPipes): boolean {
    if (this.#isClosed || this.#requests === undefined) return false;
    let unread = '';
    drain(this.#requests, (chunk) => {
      unread += chunk.toString('latin1');
    });
    return unread.includes(nonce) || (this.#showsReadings === true && !wasRead(slot));
  }

  #closeDescriptors(): void {
    this.#reports?.destroy();
    closeAll([this.#requests, this.#io]);
    this.#slots.close();
  }

  #write(request: string): void {
    if (this.#requests !== undefined && !this.terminal.hasExited) writeSync(this.#requests, request);
  }

  #ask(mode: 's' | 'r' | 'q'): void {
    if (this.terminal.hasExited) return;
    const request = { mode, slot: pipesName(0), number: commandNumber(0), nonce: NO_NONCE };
    this.#write(this.installed.shell.request(request));
  }

  #startTerminal(options: ShellProcessOptions): Terminal {
    const { installed, directory, tag, cwd, env, cols, rows, launcher, profile, isLimited } = options;
    const invocation = installed.shell.session(directory, this.isIsolated);
    const command = [...(invocation.launcher ?? []), installed.path, ...invocation.args];
    const launch = { profile, isLimited, command, env, directory, ownFiles: DRIVER_FILES, cwd };
    const [file = installed.path, ...args] = launcher.wrap(launch);
    const signs = { [TAG_VARIABLE]: tag, [MARK_VARIABLE]: markOf(tag) };
    const program = { file, args, cwd, env: { ...env, ...invocation.env, ...signs }, cols, rows };
    const onData = (chunk: Buffer) => {
      if (this.#listener) this.#listener.onTerminalData(chunk);
      else this.#complaint = (this.#complaint + chunk.toString('utf8')).slice(-MAX_COMPLAINT);
    };
    const onExit = (exit: TerminalExit) => {
      this.#settleReady(endAtStart(installed.path, exit.exitCode, this.#complaint.trim()));
      this.#listener?.onExit(exit);
    };
    const terminal = new Terminal(program, onData, onExit);
    makeFirstVictim(terminal.pid);
    return terminal;
  }

  #comeUp(): void {
    if (this.isIsolated) this.#root = sandboxRoot(this.terminal.pid) ?? this.#root;
    this.#settleReady();
  }

  #takeReport(report: ShellReport): void {
    if (report.nonce === 'ready') this.#comeUp();
    else if (report.nonce === 'idle') this.terminal.write('\n');
    else this.#listener?.onReport(report);
  }
}

function endAtStart(path: string, exitCode: number, complaint: string): AdapterError {
  if (exitCode !== EX_OSERR) {
    const what = complaint === '' ? '' : `: ${complaint}`;
    return new AdapterError('SHELL_FAILED', `${path} ended with code ${exitCode} at its start${what}`);
  }
  const message = `${path} could not open its files: the limit of open files (ulimit -n) is too low`;
  return new AdapterError('RESOURCE_EXHAUSTED', message);
}

const commandNumber = (number: number): string => String(number % 1_000_000).padStart(6, '0');

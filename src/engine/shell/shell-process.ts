import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';

import type { Refusal } from '../../core/egress/refusal.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import { Turns } from '../system/turns.js';
import type { ProcessGroup } from '../limits/mechanism.js';
import type { Platform } from '../platform/contract/platform.js';
import type { Processes } from '../platform/contract/processes.js';
import { isSandboxed, plainRoot, type ProcessRoot, sandboxRoot } from '../process/process-root.js';
import type { SandboxNetwork } from '../sandbox/sandbox-networks.js';
import type { InstalledShell } from '../shells/list.js';
import { DriverPresence } from './driver-presence.js';
import { endAtStart, shellProgram, type ShellProcessOptions } from './shell-program.js';
import { commandNumber, RequestPipe } from './request-pipe.js';
import type { ShellRequest } from './shell-request.js';
import { readReports, type ShellReport } from './shell-reports.js';
import { firstFifos, type CommandPipes, PipePool } from './pipe-pool.js';
import { Terminal, type TerminalExit } from './terminal.js';
import type { FileOwner } from '../system/file-owner.js';

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
      this.#settleReady(endAtStart(installed.path, exit.exitCode, this.#startOutput.trim()));
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

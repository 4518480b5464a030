import { rmSync, writeFileSync, writeSync } from 'node:fs';

import type { Command } from '../command/command.js';
import type { EndReason } from '../command/outcome.js';
import type { LimitTarget } from '../command/resource-use.js';
import type { ProcessGroup } from '../limits/mechanism.js';
import { placeStdin, StdinPipe } from '../output/stdin-pipe.js';
import { type Platform, type ProcessEntry, type Processes, shownCommandLine } from '../platform/platform.js';
import {
  findSessionProcesses,
  NamespacePids,
  plainRoot,
  type ProcessRoot,
  sandboxPids,
  sandboxRoot,
  type SessionScope,
} from '../process/find-processes.js';
import type { Launcher } from '../sandbox/launcher.js';
import type { SandboxNetwork } from '../sandbox/sandbox-networks.js';
import type { InstalledShell } from '../shells/list.js';
import { needsFile, type OneShotRequest, requestText, textArguments, textInFile } from '../shells/one-shot.js';
import { type FileOwner, writeFileFor } from '../system/own-user.js';
import { readRegularFile } from '../system/local-files.js';
import type { PipeSet } from './pipe-sets.js';
import type { ProcessEnd, ProcessStarter, StartedProcess } from './process-starter.js';
import { type OneShotProgram, startMessage } from './start-message.js';

/** Most bytes that are read of what bubblewrap complains about: it says a line. */
const MAX_COMPLAINT_BYTES = 64 * 1024;

/** The files of a one-shot beside its pipes. Those of its command are removed at the command's end. */
export class OneShotFiles {
  readonly pipes: PipeSet;
  /** The user of the process, if it is not the daemon's. */
  readonly #owner: FileOwner | undefined;
  /** Files of the command. */
  readonly #ofCommand: string[] = [];

  constructor(pipes: PipeSet, owner: FileOwner | undefined) {
    this.pipes = pipes;
    this.#owner = owner;
  }

  /** Places standard input where the process can open it; returns the path. Undefined without input. */
  placeStdin(stdin: string | StdinPipe | undefined): string | undefined {
    if (stdin === undefined) return undefined;
    const path = this.#addStdin();
    placeStdin(path, stdin, this.#owner);
    return path;
  }

  /** The same for the starter, which opens the file for every program, so that it must not block on a pipe. */
  offerStdin(stdin: string | StdinPipe | undefined): string | undefined {
    if (!(stdin instanceof StdinPipe)) return this.placeStdin(stdin);
    const path = this.#addStdin();
    stdin.offerOpenAt(path);
    return path;
  }

  /** Writes the request that a waiting shell reads. */
  writeRequest(request: string): void {
    this.#write(requestFile(this.pipes), request);
  }

  /** Writes a text of a command that is too long for an argument; returns the path. */
  writeText(text: string): string {
    return this.#write(`${this.pipes.path}.text`, text);
  }

  /** Makes the file for error output of bubblewrap; returns its path. */
  makeComplaint(): string {
    const path = this.#complaintPath;
    writeFileSync(path, '', { mode: 0o600 });
    return path;
  }

  /** Error output of bubblewrap when the sandbox failed before the command started; empty otherwise. */
  get complaint(): Buffer {
    // Undefined: a command has removed the adapter's files.
    return readRegularFile(this.#complaintPath, MAX_COMPLAINT_BYTES) ?? Buffer.alloc(0);
  }

  /** Removes the files of the command; the pipes stay for the next. */
  remove(): void {
    for (const file of this.#ofCommand.splice(0)) rmSync(file, { force: true });
  }

  get #complaintPath(): string {
    return `${this.pipes.path}.bwrap`;
  }

  #write(path: string, text: string): string {
    this.#ofCommand.push(path);
    writeFileFor(this.#owner, path, text);
    return path;
  }

  #addStdin(): string {
    const path = `${this.pipes.path}.in`;
    this.#ofCommand.push(path);
    return path;
  }
}

/** Returns the file with the request of the shell on these pipes. */
export const requestFile = (pipes: PipeSet): string => `${pipes.path}.cmd`;

const EMPTY = Buffer.alloc(0);

/** What starts the processes of one-shots. */
interface OneShotParts {
  readonly starter: ProcessStarter;
  readonly launcher: Launcher;
  readonly platform: Platform;
}

/**
 * A process that leads its own session and process group, with its outputs on real pipes: Node's own are socket pairs,
 * on which `echo >/dev/stderr` fails.
 */
export class OneShotProcess {
  readonly tag: string;
  readonly group: ProcessGroup;
  readonly processes: Processes;
  /**
   * Whether the process has its own PID namespace, in a sandbox or alone: everything that it has started ends with it.
   */
  readonly isIsolated: boolean;
  /** How it was started: `wayOf` of the launcher. */
  readonly way: string;
  /** What its sandbox protects: `protectionOf` of the launcher. */
  readonly protection: string;
  readonly pipes: PipeSet;
  readonly network: SandboxNetwork | undefined;
  /** The command line of a shell, as its forked processes show it; undefined for any other program. */
  shellLine: string | undefined;
  /** Namespace pids, as reported to clients. */
  readonly numbers = new NamespacePids(() => this.root);
  readonly #process: StartedProcess;
  /** Its standard input, its request and what bubblewrap complains about. */
  readonly files: OneShotFiles;
  readonly #program: OneShotProgram;
  #sandboxRoot: ProcessRoot | undefined;

  constructor({ starter, launcher, platform }: OneShotParts, program: OneShotProgram, pipes: PipeSet) {
    const { tag, group } = program;
    this.#program = program;
    this.tag = tag;
    this.processes = platform.processes;
    this.group = group;
    this.isIsolated = launcher.isolates(program);
    this.way = launcher.wayOf(program);
    this.protection = launcher.protectionOf(program.profile);
    this.pipes = pipes;
    this.network = program.network;
    this.files = new OneShotFiles(pipes, launcher.owner);
    const message = startMessage(program, launcher, this.files);
    this.#process = starter.start({ joinFiles: group.joinFiles, leaveFiles: group.leaveFiles, ...message });
    launcher.keepHidden(program.profile, this);
    void this.#process.ended.then(() => {
      launcher.forget(this);
      program.network?.[Symbol.dispose]();
    });
    void this.#process.started.then(() => {
      if (program.stdin instanceof StdinPipe) program.stdin.noteOpened();
      if (this.pid === undefined) return;
      platform.makeFirstVictim(this.pid);
      void group.begin(this.pid, true);
    });
  }

  /** Undefined until the process runs, and when it could not be started. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** The processes around the command, as opposed to those that it has started; undefined when none of them runs. */
  get root(): ProcessRoot | undefined {
    const { pid } = this;
    if (pid === undefined || this.hasEnded) return undefined;
    if (this.isIsolated) this.#sandboxRoot ??= sandboxRoot(pid, this.processes);
    return this.#sandboxRoot ?? plainRoot(pid);
  }

  /**
   * Where the processes are searched. After the end of the session leader, its session (setsid(2)) keeps the leader's
   * number.
   */
  get scope(): SessionScope {
    const { root, pid, tag, group, processes } = this;
    return { tag, group, processes, root: root ?? (pid === undefined ? undefined : plainRoot(pid)) };
  }

  /** The program, unless it has ended, and everything that it has started. */
  findProcesses(): ProcessEntry[] {
    const { read, isAlive } = this.processes;
    const main = this.root && read(this.root.main);
    const others = findSessionProcesses(this.scope);
    return main && isAlive(main) ? [main, ...others] : others;
  }

  /**
   * Returns the root processes that have ended without being killed. Bubblewrap does not report how a program in the
   * sandbox has ended.
   */
  unharmedBy({ kind }: ProcessEnd): readonly number[] {
    const root = this.#sandboxRoot ?? (this.pid === undefined ? undefined : plainRoot(this.pid));
    if (!root) return [];
    const isHarmed = this.#sandboxRoot ? this.shellLine === undefined : kind === 'signalled';
    return isHarmed ? sandboxPids(root) : root.rootPids;
  }

  /** What bubblewrap has printed; empty without a sandbox. */
  get complaint(): Buffer {
    return this.isIsolated ? this.files.complaint : EMPTY;
  }

  /** Whether the process has ended, or could not be started. */
  get hasEnded(): boolean {
    return this.#process.hasEnded;
  }

  /** Resolves when the process runs, or could not be started. */
  get started(): Promise<void> {
    return this.#process.started;
  }

  /** Resolves when the process has ended; never rejects. */
  get ended(): Promise<ProcessEnd> {
    return this.#process.ended;
  }

  /** Sends a command to a waiting shell. */
  sendRequest(shell: InstalledShell, request: OneShotRequest): void {
    const text = needsFile(request.text) ? textInFile(shell, this.files.writeText(request.text)) : request.text;
    const args = this.#giveText(text) ?? [shell.path, ...textArguments(shell, text)];
    this.shellLine = shownCommandLine(args.join(' '));
    this.files.writeRequest(requestText({ ...request, text }));
    writeSync(this.pipes.requestFd, 'go\n');
  }

  /** Releases a prestarted shell that is not needed; it then exits. */
  dismiss(): void {
    if (!this.hasEnded) writeSync(this.pipes.requestFd, 'end\n');
  }

  /** Puts a text in the place of the one that the waiting shell would run; returns its arguments then. */
  #giveText(text: string): readonly string[] | undefined {
    const { file, args, textIndex } = this.#program;
    const { root } = this;
    if (textIndex === undefined || !root) return undefined;
    const isGiven = this.processes.replaceArgument(root.main, [file, ...args], textIndex + 1, text);
    return isGiven ? [file, ...args.with(textIndex, text)] : undefined;
  }
}

/** Called for a long-running one-shot. */
export type OnLongRunning = (watched: LimitTarget) => void;

/** Returns the limit target of a one-shot in flight: nothing outlives its command. */
export function oneShotLimitTarget(
  command: Command,
  process: OneShotProcess,
  cancel: (command: Command, reason: EndReason) => void,
): LimitTarget {
  let endedAt = Infinity;
  void process.ended.then(() => {
    endedAt = performance.now();
  });
  return {
    group: process.group,
    limits: command.spec.resourceLimits ?? {},
    get own() {
      return process.root?.rootPids ?? [];
    },
    get running() {
      return command.outcome ? undefined : command;
    },
    get idleSince() {
      return endedAt;
    },
    numbers: process.numbers,
    isEnding: process.processes.isEnding,
    cancel,
    hasRest: () => false,
    endRest: () => Promise.resolve(),
    endShell: () => undefined,
    endSession: () => undefined,
    noteBreach: () => undefined,
  };
}

/** Starts measuring the command in this process: earlier use does not count; applies the command's limits. */
export function startWithLimits(command: Command, process: OneShotProcess): void {
  const { group } = process;
  const { resourceLimits: limits = {} } = command.spec;
  // Not every mechanism can measure a process that is just being started, or has waited for its command; its use is next to 0.
  const cpuMs = (process.pid === undefined ? undefined : group.cpuMs()) ?? 0;
  command.meter.begin({ group, limits, atStart: { cpuMs, writtenBytes: 0 } });
  const setLimits = () => {
    group.setLimits(limits);
  };
  // Only once it runs: during the start the starter, with all its threads, is in the group too.
  if (process.pid === undefined) void process.started.then(setLimits);
  else setLimits();
}

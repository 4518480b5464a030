import { rmSync, writeFileSync, writeSync } from 'node:fs';

import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import type { ProcessGroup } from '../limits/mechanism.js';
import type { PipeSet } from './pipe-sets.js';
import { sandboxPids, plainRoot, type ProcessRoot, sandboxRoot } from '../process/process-root.js';
import { findSessionProcesses, type SessionScope } from '../process/find-processes.js';
import type { ProcessEnd, ProcessStarter, StartedProcess } from './process-starter.js';
import type { StartMessage } from './starter/messages.js';
import { type ProcessEntry, shownCommandLine, TAG_VARIABLE } from '../platform/contract/process-entry.js';
import type { Platform } from '../platform/contract/platform.js';
import type { Processes } from '../platform/contract/processes.js';
import { MARK_VARIABLE, markOf } from '../process/session-mark.js';
import { NamespacePids } from '../process/namespace-pids.js';
import type { Launcher } from '../sandbox/launcher.js';
import type { SandboxNetwork } from '../sandbox/sandbox-networks.js';
import { placeStdin, StdinPipe } from '../output/stdin-pipe.js';
import { readRegularFile } from '../system/regular-file.js';
import { type FileOwner, writeFileFor } from '../system/file-owner.js';

/** Most bytes that are read of what bubblewrap complains about: it says a line. */
const MAX_COMPLAINT_BYTES = 64 * 1024;

/** Options of a process without a session. */
export interface OneShotProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Tag of its processes, without the command number, which is always 0. */
  readonly tag: string;
  /**
   * Text for standard input, or a pipe that is fed while the process runs.
   * @default /dev/null
   */
  readonly stdin?: string | StdinPipe | undefined;
  readonly group: ProcessGroup;
  /** Whether the program waits on descriptor 3 for its request. */
  readonly takesRequest: boolean;
  readonly profile: SandboxProfile;
  /** Whether stderr is the pipe of stdout. */
  readonly isMerged?: boolean | undefined;
  /** Whether any resource limit applies to the process. */
  readonly isLimited: boolean;
  /** The network of its sandbox, if that has one of its own; it is given back at the end. */
  readonly network?: SandboxNetwork | undefined;
}

/** What starts the processes of one-shots. */
export interface OneShotParts {
  readonly starter: ProcessStarter;
  readonly launcher: Launcher;
  readonly platform: Platform;
}

/** Text that a prestarted shell evaluates. */
export type RequestText = string;

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
  readonly pipes: PipeSet;
  readonly network: SandboxNetwork | undefined;
  /** The command line of a shell, as its forked processes show it; undefined for any other program. */
  readonly shellLine: string | undefined;
  /** Namespace pids, as reported to clients. */
  readonly numbers = new NamespacePids(() => this.root);
  readonly #process: StartedProcess;
  /** The user of the process, if it is not the daemon's. */
  readonly #owner: FileOwner | undefined;
  /** Files of the command. */
  readonly #files: string[] = [];
  #sandboxRoot: ProcessRoot | undefined;

  constructor({ starter, launcher, platform }: OneShotParts, program: OneShotProgram, pipes: PipeSet) {
    const { file, args, tag, takesRequest, group } = program;
    this.tag = tag;
    this.processes = platform.processes;
    this.group = group;
    this.isIsolated = launcher.isolates(program);
    this.way = launcher.wayOf(program);
    this.pipes = pipes;
    this.network = program.network;
    this.#owner = launcher.owner;
    this.shellLine = takesRequest ? shownCommandLine([file, ...args].join(' ')) : undefined;
    const message = this.isIsolated ? this.#sandboxed(program, launcher) : this.#plainly(program, launcher);
    this.#process = starter.start({ ...message, joinFiles: group.joinFiles, leaveFiles: group.leaveFiles });
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

  /** Error output of bubblewrap when the sandbox failed before the command started; empty otherwise. */
  get complaint(): Buffer {
    // Undefined: a command has removed the adapter's files.
    return readRegularFile(complaintFile(this.pipes), MAX_COMPLAINT_BYTES) ?? Buffer.alloc(0);
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

  /** Places standard input where the process can open it; returns the path. Undefined without input. */
  placeStdin(stdin: string | StdinPipe | undefined): string | undefined {
    if (stdin === undefined) return undefined;
    const path = stdinPath(this.pipes);
    this.#files.push(path);
    placeStdin(path, stdin, this.#owner);
    return path;
  }

  /** Sends the request to a prestarted shell. */
  sendRequest(text: RequestText): void {
    const path = requestFile(this.pipes);
    this.#files.push(path);
    writeFileFor(this.#owner, path, text);
    writeSync(this.pipes.requestFd, 'go\n');
  }

  /** Releases a prestarted shell that is not needed; it then exits. */
  dismiss(): void {
    if (!this.hasEnded) writeSync(this.pipes.requestFd, 'end\n');
  }

  /** Removes the files of the command; the pipes stay for the next. */
  removeFiles(): void {
    for (const file of this.#files.splice(0)) rmSync(file, { force: true });
  }

  #plainly(program: OneShotProgram, launcher: Launcher): Omit<StartMessage, 'id' | 'joinFiles' | 'leaveFiles'> {
    const { file, args, cwd, env, tag, stdin, takesRequest, profile, isLimited } = program;
    const { directory, out } = this.pipes;
    const launch = { profile, isLimited, command: [file, ...args], env, directory, cwd };
    const [launcherFile = file, ...launcherArgs] = launcher.wrap(launch);
    return {
      file: launcherFile,
      args: launcherArgs,
      cwd: launcher.startDirectory(cwd),
      env: { ...env, ...markersOf(tag, takesRequest) },
      stdin: this.#openStdin(stdin) ?? null,
      stdout: out.path,
      stderr: this.#errorPath(program),
      request: takesRequest ? requestPipe(this.pipes) : null,
    };
  }

  #errorPath({ isMerged }: OneShotProgram): string {
    const { out, err } = this.pipes;
    return isMerged ? out.path : err.path;
  }

  /** The starter opens the file for every program, so it must not block on a pipe. */
  #openStdin(stdin: string | StdinPipe | undefined): string | undefined {
    if (!(stdin instanceof StdinPipe)) return this.placeStdin(stdin);
    const path = stdinPath(this.pipes);
    this.#files.push(path);
    stdin.offerOpenAt(path);
    return path;
  }

  /**
   * The pipes are opened inside the sandbox: bubblewrap itself, which ends shortly after its program, must not hold
   * them.
   */
  #sandboxed(program: OneShotProgram, launcher: Launcher): Omit<StartMessage, 'id' | 'joinFiles' | 'leaveFiles'> {
    const { file, args, cwd, env, tag, stdin, takesRequest, profile, isLimited, network } = program;
    const { directory, out } = this.pipes;
    const input = this.placeStdin(stdin) ?? '/dev/null';
    const descriptors = [input, out.path, this.#errorPath(program), ...(takesRequest ? [requestPipe(this.pipes)] : [])];
    const launch = { profile, isLimited, command: [file, ...args], env, directory, cwd, descriptors, network };
    const [launcherFile = file, ...launcherArgs] = launcher.wrap(launch);
    const stderr = complaintFile(this.pipes);
    writeFileSync(stderr, '', { mode: 0o600 });
    return {
      file: launcherFile,
      args: launcherArgs,
      cwd: '/',
      env: { ...env, ...markersOf(tag, takesRequest) },
      stdin: null,
      stdout: '/dev/null',
      stderr,
      request: null,
    };
  }
}

/** Variables that identify its processes. A shell sets the resource limit of the mark; other programs cannot. */
const markersOf = (tag: string, isShell: boolean): Record<string, string> => ({
  [TAG_VARIABLE]: `${tag}.0`,
  ...(isShell && { [MARK_VARIABLE]: markOf(tag) }),
});

const stdinPath = (pipes: PipeSet): string => `${pipes.path}.in`;
const requestPipe = (pipes: PipeSet): string => `${pipes.path}.req`;
const complaintFile = (pipes: PipeSet): string => `${pipes.path}.bwrap`;

/** Returns the file with the request of the shell on these pipes. */
export const requestFile = (pipes: PipeSet): string => `${pipes.path}.cmd`;

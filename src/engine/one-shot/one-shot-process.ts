import { readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';

import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import type { ProcessGroup } from '../limits/mechanism.js';
import { makeFirstVictim } from '../limits/oom-score.js';
import type { PipeSet } from './pipe-sets.js';
import { sandboxPids, plainRoot, type ProcessRoot, sandboxRoot } from '../process/process-root.js';
import { findSessionProcesses, type SessionScope } from '../process/process-tree.js';
import type { ProcessEnd, ProcessStarter, StartedProcess } from './process-starter.js';
import type { StartMessage } from './starter/messages.js';
import { isAlive, type ProcessEntry, readProcess, shownCommandLine, TAG_VARIABLE } from '../process/process-table.js';
import { MARK_VARIABLE, markOf } from '../process/session-mark.js';
import { NamespacePids } from '../process/namespace-pids.js';
import type { Launcher } from '../sandbox/launcher.js';
import { placeStdin, StdinPipe } from '../output/stdin-pipe.js';

/** What a process without a session is started with. */
export interface OneShotProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Marks its processes; without the part of the command, which is always 0. */
  readonly tag: string;
  /** Text for standard input, or a pipe that is fed while it runs; /dev/null without. */
  readonly stdin?: string | StdinPipe | undefined;
  readonly group: ProcessGroup;
  /** Whether it waits on descriptor 3 for its request. */
  readonly takesRequest: boolean;
  readonly profile: SandboxProfile;
  /** Whether there is any limit on what it may use. */
  readonly isLimited: boolean;
}

/** Text that a pre-started shell evaluates. */
export type RequestText = string;

/**
 * A process of its own session and process group, its outputs on real pipes: Node's own are socket pairs, on which
 * `echo >/dev/stderr` fails.
 */
export class OneShotProcess {
  readonly tag: string;
  readonly group: ProcessGroup;
  /** Whether it has process ids of its own, in a sandbox or a mere namespace: all that it has started ends with it. */
  readonly isIsolated: boolean;
  readonly pipes: PipeSet;
  /** The command line of a shell, as processes that it has forked show it; undefined for any other program. */
  readonly shellLine: string | undefined;
  /** What clients are told for process ids. */
  readonly numbers = new NamespacePids(() => this.root);
  readonly #process: StartedProcess;
  #sandboxRoot: ProcessRoot | undefined;

  constructor(starter: ProcessStarter, launcher: Launcher, program: OneShotProgram, pipes: PipeSet) {
    const { file, args, tag, takesRequest, group } = program;
    this.tag = tag;
    this.group = group;
    this.isIsolated = launcher.isolates(program);
    this.pipes = pipes;
    this.shellLine = takesRequest ? shownCommandLine([file, ...args].join(' ')) : undefined;
    const message = this.isIsolated ? this.#sandboxed(program, launcher) : this.#plainly(program);
    this.#process = starter.start({ ...message, joinFiles: group.joinFiles, leaveFiles: group.leaveFiles });
    void this.#process.started.then(() => {
      if (program.stdin instanceof StdinPipe) program.stdin.noteOpened();
      if (this.pid === undefined) return;
      makeFirstVictim(this.pid);
      void group.begin(this.pid, true);
    });
  }

  /** Undefined until it runs, and when it could not be started. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** The processes that are not what the command has started; undefined when none of them runs. */
  get root(): ProcessRoot | undefined {
    const { pid } = this;
    if (pid === undefined || this.hasEnded) return undefined;
    if (this.isIsolated) this.#sandboxRoot ??= sandboxRoot(pid);
    return this.#sandboxRoot ?? plainRoot(pid);
  }

  /** Where its processes are found. Once the first of them has ended, its session (setsid(2)) still has that one's number. */
  get scope(): SessionScope {
    const { root, pid, tag, group } = this;
    return { tag, group, root: root ?? (pid === undefined ? undefined : plainRoot(pid)) };
  }

  /** The program, unless it has ended, and everything that it has started. */
  findProcesses(): ProcessEntry[] {
    const main = this.root && readProcess(this.root.main);
    const others = findSessionProcesses(this.scope);
    return main && isAlive(main) ? [main, ...others] : others;
  }

  /** Of a sandbox: why it did not get as far as the command, as bubblewrap says. Empty when it did. */
  get complaint(): Buffer {
    try {
      return readFileSync(complaintFile(this.pipes));
    } catch {
      // ENOENT: a command has removed the adapter's files.
      return Buffer.alloc(0);
    }
  }

  /** Of its own processes those that have ended without being killed. What ended a program in a sandbox, bubblewrap does not tell. */
  unharmedBy({ kind }: ProcessEnd): readonly number[] {
    const root = this.#sandboxRoot ?? (this.pid === undefined ? undefined : plainRoot(this.pid));
    if (!root) return [];
    const isHarmed = this.#sandboxRoot ? this.shellLine === undefined : kind === 'signalled';
    return isHarmed ? sandboxPids(root) : root.rootPids;
  }

  get hasEnded(): boolean {
    return this.#process.hasEnded;
  }

  /** Resolves when it runs, or could not be started. */
  get started(): Promise<void> {
    return this.#process.started;
  }

  /** Resolves when it has ended; never rejects. */
  get ended(): Promise<ProcessEnd> {
    return this.#process.ended;
  }

  /** Puts standard input where the process can open it; gives the path. Undefined without any. */
  placeStdin(stdin: string | StdinPipe | undefined): string | undefined {
    if (stdin === undefined) return undefined;
    const path = stdinPath(this.pipes);
    placeStdin(path, stdin);
    return path;
  }

  /** Hands a pre-started shell what it waits for. */
  sendRequest(text: RequestText): void {
    writeFileSync(requestFile(this.pipes), text, { mode: 0o600 });
    writeSync(this.pipes.requestFd, 'go\n');
  }

  /** Lets a pre-started shell go that is not needed: it ends by itself. */
  dismiss(): void {
    if (!this.hasEnded) writeSync(this.pipes.requestFd, 'end\n');
  }

  /** Removes the files of the command; the pipes stay for the next. */
  removeFiles(): void {
    rmSync(stdinPath(this.pipes), { force: true });
  }

  #plainly({
    file,
    args,
    cwd,
    env,
    tag,
    stdin,
    takesRequest,
  }: OneShotProgram): Omit<StartMessage, 'id' | 'joinFiles' | 'leaveFiles'> {
    const { out, err } = this.pipes;
    return {
      file,
      args,
      cwd,
      env: { ...env, ...signsOf(tag, takesRequest) },
      stdin: this.#openStdin(stdin) ?? null,
      stdout: out.path,
      stderr: err.path,
      request: takesRequest ? requestPipe(this.pipes) : null,
    };
  }

  /** The starter opens it, for all programs: it must not wait for a pipe. */
  #openStdin(stdin: string | StdinPipe | undefined): string | undefined {
    if (!(stdin instanceof StdinPipe)) return this.placeStdin(stdin);
    const path = stdinPath(this.pipes);
    stdin.offerOpenAt(path);
    return path;
  }

  /** The pipes are opened inside: bubblewrap itself, which ends a moment after its program, must not hold them. */
  #sandboxed(program: OneShotProgram, launcher: Launcher): Omit<StartMessage, 'id' | 'joinFiles' | 'leaveFiles'> {
    const { file, args, cwd, env, tag, stdin, takesRequest, profile, isLimited } = program;
    const { directory, out, err } = this.pipes;
    const input = this.placeStdin(stdin) ?? '/dev/null';
    const descriptors = [input, out.path, err.path, ...(takesRequest ? [requestPipe(this.pipes)] : [])];
    const launch = { profile, isLimited, command: [file, ...args], env, directory, cwd, descriptors };
    const [launcherFile = file, ...launcherArgs] = launcher.wrap(launch);
    const stderr = complaintFile(this.pipes);
    writeFileSync(stderr, '', { mode: 0o600 });
    return {
      file: launcherFile,
      args: launcherArgs,
      cwd: '/',
      env: { ...env, ...signsOf(tag, takesRequest) },
      stdin: null,
      stdout: '/dev/null',
      stderr,
      request: null,
    };
  }
}

/** Variables by which its processes are known. A shell takes the mark over; nothing else could. */
const signsOf = (tag: string, isShell: boolean): Record<string, string> => ({
  [TAG_VARIABLE]: `${tag}.0`,
  ...(isShell && { [MARK_VARIABLE]: markOf(tag) }),
});

const stdinPath = (pipes: PipeSet): string => `${pipes.path}.in`;
const requestPipe = (pipes: PipeSet): string => `${pipes.path}.req`;
const complaintFile = (pipes: PipeSet): string => `${pipes.path}.bwrap`;

/** File that holds the request of the shell on these pipes. */
export const requestFile = (pipes: PipeSet): string => `${pipes.path}.cmd`;

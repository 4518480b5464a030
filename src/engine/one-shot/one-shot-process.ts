import { writeSync } from 'node:fs';

import type { ProcessGroup } from '../limits/mechanism.js';
import type { PipeSet } from './pipe-sets.js';
import { sandboxPids, plainRoot, type ProcessRoot, sandboxRoot } from '../process/process-root.js';
import { findSessionProcesses, type SessionScope } from '../process/find-processes.js';
import type { ProcessEnd, ProcessStarter, StartedProcess } from './process-starter.js';
import { type ProcessEntry, shownCommandLine } from '../platform/contract/process-entry.js';
import type { Platform } from '../platform/contract/platform.js';
import type { Processes } from '../platform/contract/processes.js';
import { NamespacePids } from '../process/namespace-pids.js';
import type { Launcher } from '../sandbox/launcher.js';
import type { SandboxNetwork } from '../sandbox/sandbox-networks.js';
import type { InstalledShell } from '../shells/list.js';
import { needsFile, type OneShotRequest, requestText, textArguments, textInFile } from '../shells/one-shot.js';
import { StdinPipe } from '../output/stdin-pipe.js';
import { OneShotFiles } from './files.js';
import { type OneShotProgram, startMessage } from './start-message.js';

const EMPTY = Buffer.alloc(0);

/** What starts the processes of one-shots. */
export interface OneShotParts {
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

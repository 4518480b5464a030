import { rmSync, writeFileSync, writeSync } from 'node:fs';

import type { ProcessGroup } from './limits/mechanism.js';
import { makeFirstVictim } from './limits/oom-score.js';
import type { PipeSet } from './pipe-sets.js';
import type { ProcessEnd, ProcessStarter, StartedProcess } from './process-starter.js';
import { shownCommandLine, TAG_VARIABLE } from './process-table.js';

/** What a process without a session is started with. */
export interface OneShotProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Marks its processes; without the part of the command, which is always 0. */
  readonly tag: string;
  /** Text for standard input; /dev/null without. */
  readonly stdin?: string | undefined;
  readonly group: ProcessGroup;
  /** Whether it waits on descriptor 3 for its request. */
  readonly takesRequest: boolean;
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
  readonly pipes: PipeSet;
  /** The command line of a shell, as processes that it has forked show it; undefined for any other program. */
  readonly shellLine: string | undefined;
  readonly #process: StartedProcess;

  constructor(starter: ProcessStarter, program: OneShotProgram, pipes: PipeSet) {
    const { file, args, cwd, env, tag, stdin, takesRequest, group } = program;
    this.tag = tag;
    this.group = group;
    this.pipes = pipes;
    this.shellLine = takesRequest ? shownCommandLine([file, ...args].join(' ')) : undefined;
    this.#process = starter.start({
      file,
      args,
      cwd,
      env: { ...env, [TAG_VARIABLE]: `${tag}.0` },
      stdin: stdin === undefined ? null : this.writeStdin(stdin),
      stdout: pipes.out.path,
      stderr: pipes.err.path,
      request: takesRequest ? `${pipes.path}.req` : null,
      entrances: group.entrances,
      exits: group.exits,
    });
    void this.#process.started.then(() => {
      if (this.pid === undefined) return;
      makeFirstVictim(this.pid);
      void group.begin(this.pid, true);
    });
  }

  /** Undefined until it runs, and when it could not be started. */
  get pid(): number | undefined {
    return this.#process.pid;
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

  /** Puts text for standard input into a file; gives its path. */
  writeStdin(text: string): string {
    const path = `${this.pipes.path}.in`;
    writeFileSync(path, text, { mode: 0o600 });
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
    rmSync(`${this.pipes.path}.in`, { force: true });
  }
}

/** File that holds the request of the shell on these pipes. */
export const requestFile = (pipes: PipeSet): string => `${pipes.path}.cmd`;

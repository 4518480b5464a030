import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** How a run has ended. */
export interface RunEnd {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** An agent at work on one task, in a process group of its own, as a shell would start it. */
export class AgentRun implements AsyncDisposable {
  /** Resolves when the agent itself has ended. Its output goes to files, which processes that stay cannot hold up. */
  readonly ended: Promise<RunEnd>;
  readonly #child: ChildProcess;

  constructor(
    [program, ...args]: readonly [string, ...string[]],
    task: string,
    options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly logs: string },
  ) {
    const outputs = [join(options.logs, 'stdout'), join(options.logs, 'stderr')] as const;
    const [stdout, stderr] = outputs.map((path) => openSync(path, 'w')) as [number, number];
    const { cwd, env } = options;
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', stdout, stderr] });
    this.#child = child;
    closeSync(stdout);
    closeSync(stderr);
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        const [stdout, stderr] = outputs.map((path) => readFileSync(path, 'utf8')) as [string, string];
        resolve({ code: signal ?? code ?? 0, stdout, stderr });
      });
    });
    child.stdin?.end(task);
  }

  /** Signals the agent and all that is in its process group, as a terminal does for Ctrl-C. */
  signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#child.pid!, signal);
    } catch (error) {
      // All of the group has ended.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGKILL');
    await this.ended;
  }
}

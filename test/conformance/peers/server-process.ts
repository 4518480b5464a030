import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Time that a server gets to end by itself once its standard input is closed or it has been asked to. */
const END_GRACE_MS = 3000;

/** A server of a peer, in a process group of its own: traps that signal their group reach nothing of ours. */
export class ServerProcess {
  readonly child: ChildProcessWithoutNullStreams;

  constructor(command: string, args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
    this.child = spawn(command, args, { ...options, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stderr.resume();
    // Written to after its end: the request then has no answer, which is the failure to be told.
    this.child.stdin.on('error', () => undefined);
  }

  /** Ends it as its clients do, by the end of its input, then by SIGTERM, and by SIGKILL when it stays. */
  async end(): Promise<void> {
    if (this.#hasEnded()) return;
    this.child.stdin.end();
    for (const signal of [undefined, 'SIGTERM', 'SIGKILL'] as const) {
      if (signal !== undefined) this.child.kill(signal);
      await Promise.race([once(this.child, 'exit'), delay(END_GRACE_MS)]);
      if (this.#hasEnded()) return;
    }
  }

  /** A method: the answer changes between two calls. */
  #hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }
}

const delay = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });

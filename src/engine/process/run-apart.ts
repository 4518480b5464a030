import { spawn } from 'node:child_process';

import { sendSignal } from '../system/signals.js';

/** Default timeout of an auxiliary program, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Largest output that is accepted, in characters for each stream: /proc/keys is the longest. */
const MAX_OUTPUT = 256 * 1024;

/** End of an auxiliary program. */
export interface AuxiliaryEnd {
  readonly stdout: string;
  readonly stderr: string;
  /** Null for a program that a signal has ended. */
  readonly exitCode: number | null;
}

export interface AuxiliaryOptions {
  /** Text for standard input. @default nothing */
  readonly input?: string | undefined;
  /** In milliseconds. @default 10000 */
  readonly timeoutMs?: number | undefined;
  /** For messages. @default the first word of the command */
  readonly name?: string;
  /** @default the root directory */
  readonly cwd?: string;
  /** @default no variables */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs an auxiliary program to its end, in a session of its own (setsid(2)): a process of another user must not have the daemon's
 * terminal, into which it could type (TIOCSTI). At the timeout its process group is killed.
 * @throws Error when it cannot be started, does not end in time, or prints without end
 */
export function runApart(
  [file = '', ...args]: readonly string[],
  { input = '', timeoutMs = TIMEOUT_MS, cwd = '/', env = {}, name = file }: AuxiliaryOptions = {},
): Promise<AuxiliaryEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, detached: true });
    child.on('error', reject);
    // It could not be started, which `error` reports. After EMFILE there are no streams either, whatever the types say.
    if (child.pid === undefined) return;
    const said = { stdout: '', stderr: '' };
    const fail = (error: Error) => {
      clearTimeout(timer);
      if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
      // What it has started may keep the pipes open: they are not waited for.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      reject(error);
    };
    const timer = setTimeout(() => {
      fail(new Error(`${name} did not come to an end within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        said[stream] += text;
        if (said[stream].length > MAX_OUTPUT) fail(new Error(`${name} has printed without an end`));
      });
    }
    child.on('close', (exitCode) => {
      clearTimeout(timer);
      resolve({ ...said, exitCode });
    });
    // EPIPE: the program has ended without reading, which its exit code explains.
    child.stdin.on('error', () => undefined).end(input);
  });
}

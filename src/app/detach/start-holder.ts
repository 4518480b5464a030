import { type ChildProcess, spawn } from 'node:child_process';

import { z } from 'zod';

/** Time for a holder to start, in milliseconds: a busy machine needs less. */
const START_MS = 30_000;
/** Longest output of a holder that is kept for an error message, in characters. */
const MAX_OUTPUT = 4000;
/** Variables by which a service manager talks to the daemon alone. */
const OF_THE_SERVICE = ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID', 'LISTEN_FDS', 'LISTEN_PID'];

/** What a holder sends to the process that has started it, once it listens. */
const holderReady = z.object({ ready: z.literal(true) });

/** How a holder is started. */
export interface HolderCommand {
  /** Node.js's own arguments, the program, and its arguments. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Starts a holder, which outlives this process, and waits until it listens.
 * @param more its further arguments
 * @throws Error with what it has printed when it does not start
 */
export async function startHolder({ args, cwd, env }: HolderCommand, more: readonly string[]): Promise<ChildProcess> {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !OF_THE_SERVICE.includes(name)));
  const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const;
  const child = spawn(process.execPath, [...args, ...more], { cwd, env: own, detached: true, stdio: [...stdio] });
  let output = '';
  const take = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-MAX_OUTPUT);
  };
  child.stderr?.on('data', take);
  try {
    await readiness(child);
  } catch (error) {
    child.kill('SIGKILL');
    const said = output === '' ? '' : `; it said: ${output.trim()}`;
    throw new Error(`the process that holds sessions could not be started: ${(error as Error).message}${said}`);
  } finally {
    if (child.connected) child.disconnect();
    // What it prints from here on is in its log.
    child.stderr?.destroy();
    child.unref();
  }
  return child;
}

/** Resolves when the holder listens; rejects when it ends first, or takes too long. */
function readiness(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`it has not been ready within ${START_MS / 1000} s`));
    }, START_MS);
    const settle = (act: () => void) => () => {
      clearTimeout(timer);
      act();
    };
    child.once('error', (error) => {
      settle(() => {
        reject(error);
      })();
    });
    child.once('close', (code, signal) => {
      settle(() => {
        reject(new Error(`it has ended with ${code ?? signal ?? 'nothing'}`));
      })();
    });
    child.on('message', (message) => {
      if (holderReady.safeParse(message).success) settle(resolve)();
    });
  });
}

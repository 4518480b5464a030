import { execFile, spawnSync } from 'node:child_process';

/** Path of ps(1) on Linux, macOS and the BSDs. */
const PS = '/bin/ps';
const MAX_LIST_BYTES = 64 * 1024 * 1024;
/** Dates in the locale C and in UTC; other text as it is. */
const ENVIRONMENT = { TZ: 'UTC0', LC_TIME: 'C', LC_CTYPE: 'C.UTF-8' };
const OPTIONS = { env: ENVIRONMENT, encoding: 'utf8', maxBuffer: MAX_LIST_BYTES } as const;

/** What ps(1) has printed, and its own pid. */
export interface Listing {
  readonly text: string;
  readonly pid: number | undefined;
}

/** Error of a failed run of ps(1), with the errno: exhaustion has its own error code. */
const notListed = (cause: Error): Error =>
  Object.assign(new Error(`processes cannot be listed: ${cause.message}`, { cause }), {
    code: (cause as NodeJS.ErrnoException).code,
  });

/**
 * Runs ps(1), which blocks.
 * @throws Error when it cannot be run
 */
export function runPs(args: readonly string[]): Listing {
  const { error, stdout, stderr, status, pid } = spawnSync(PS, args, { ...OPTIONS, stdio: ['ignore', 'pipe', 'pipe'] });
  if (error) throw notListed(error);
  if (status !== 0 && stdout === '' && stderr !== '') throw new Error(`processes cannot be listed: ${stderr.trim()}`);
  return { text: stdout, pid };
}

/** Runs ps(1) without blocking; rejects when it cannot be run. */
export function runPsAside(args: readonly string[]): Promise<Listing> {
  return new Promise((resolve, reject) => {
    const child = execFile(PS, args, OPTIONS, (error, text) => {
      // It ends with 1 where none of the processes is left.
      if (error && error.code !== 1) reject(notListed(error));
      else resolve({ text, pid: child.pid });
    });
  });
}

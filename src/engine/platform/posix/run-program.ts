import { execFile, type ExecFileException } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where programs such as lsof(8) are, on Linux, macOS and the BSDs. */
export const SYSTEM_PATH = '/usr/bin:/bin:/usr/sbin:/sbin';
/** Most time for a program, in milliseconds: lsof(8) may wait for a network file system. */
const TIMEOUT_MS = 10_000;
const MAX_LIST_BYTES = 16 * 1024 * 1024;

/**
 * Runs a program of the system; returns what it has printed, also when it ends with 1: lsof(8) does when a process has
 * ended, or nothing was found.
 * @throws Error with the code ENOENT when it is not installed, and for other failures
 */
export async function runProgram(program: string, args: readonly string[]): Promise<string> {
  const options = { env: { PATH: SYSTEM_PATH, LC_ALL: 'C' }, timeout: TIMEOUT_MS, maxBuffer: MAX_LIST_BYTES };
  try {
    return (await run(program, args, options)).stdout;
  } catch (error) {
    const { code, stdout = '' } = error as ExecFileException;
    if (code === 1) return stdout;
    throw error;
  }
}

/** Whether an error of `runProgram` says that the program is not installed. */
export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

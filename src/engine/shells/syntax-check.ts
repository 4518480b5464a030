import { runApart } from '../process/run-apart.js';
import type { InstalledShell } from './list.js';

/**
 * Timeout of a syntax check, in milliseconds; parsing takes a few milliseconds, and a check that times out counts as
 * passed.
 */
const TIMEOUT_MS = 2000;
/** Longest text that fits into one argument on Linux (MAX_ARG_STRLEN is 128 KiB), in bytes. */
const MAX_TEXT_BYTES = 100 * 1024;

/** Starts programs as another user. */
interface OtherUser {
  wrap(command: readonly string[], cwd: string): readonly string[];
}

/**
 * Whether a shell rejects a text for its syntax. The text is parsed and not executed. False in case of doubt: the text
 * is too long, or the shell cannot be started.
 * @param launch starts the shell as another user
 */
export async function refusesSyntax(
  { shell, path }: InstalledShell,
  text: string,
  launch?: OtherUser,
): Promise<boolean> {
  if (text.includes('\0') || Buffer.byteLength(text) > MAX_TEXT_BYTES) return false;
  const command = [path, ...shell.parseOnly(text)];
  try {
    // No start-up file is named: the environment is empty.
    const { exitCode } = await runApart(launch?.wrap(command, '/') ?? command, { timeoutMs: TIMEOUT_MS });
    // Null where it was killed.
    return exitCode !== null && exitCode > 0;
  } catch {
    // ENOENT: the shell was removed. It did not end in time, or complained without end.
    return false;
  }
}

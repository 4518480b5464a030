import { execFile } from 'node:child_process';

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
export function refusesSyntax({ shell, path }: InstalledShell, text: string, launch?: OtherUser): Promise<boolean> {
  if (text.includes('\0') || Buffer.byteLength(text) > MAX_TEXT_BYTES) return Promise.resolve(false);
  const command = [path, ...shell.parseOnly(text)];
  const [file = path, ...args] = launch?.wrap(command, '/') ?? command;
  return new Promise((resolve) => {
    // No start-up file is named: the environment is empty.
    const child = execFile(file, args, { env: {}, cwd: '/', timeout: TIMEOUT_MS }, (error) => {
      // A code is a string where the shell was not started, and null where it was killed.
      resolve(typeof error?.code === 'number' && error.code > 0);
    });
    child.stdin?.end();
  });
}

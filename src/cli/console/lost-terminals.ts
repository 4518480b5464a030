import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Standard file descriptors that were terminals at the start of the program. */
const terminals = [0, 1, 2].filter((fd) => isatty(fd));

/**
 * Replaces terminals that have hung up since, for example because the user has logged out while the daemon runs:
 * Node.js restores terminal settings at exit, and crashes when that fails. Call it last.
 */
export function releaseLostTerminals(): void {
  for (const fd of terminals.filter((terminal) => !isatty(terminal))) {
    closeSync(fd);
    // Reuses the file descriptor that was just closed.
    openSync('/dev/null', 'r+');
  }
}
